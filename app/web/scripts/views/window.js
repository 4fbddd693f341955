// A list of which only what is seen is drawn. It scrolls with the page; the height of a card follows from its changes.

import { h } from "../elements.js";

// Drawn above and below what is seen, in heights of the window.
const MARGIN = 0.75;
const MOST_PRINTED = 100;
// So few are drawn in any case: whoever searches in the page, or has it read, finds all of them.
const ALWAYS_DRAWN = 60;

export function createWindow(list, draw) {
  const top = h("li", { class: "room", role: "presentation", "aria-hidden": "true" });
  const bottom = h("li", { class: "room", role: "presentation", "aria-hidden": "true" });
  const drawn = new Map();
  let plans = [];
  let version = "";
  let owner = null;
  let sizes = null;
  let printing = false;
  list.append(top, bottom);

  // What a card takes: measured, since text may be larger here than anybody thought.
  function measure() {
    const columns = Math.max(1, getComputedStyle(list).gridTemplateColumns.split(" ").length);
    if (sizes?.columns === columns && sizes.width === list.clientWidth) return;
    const probe = draw(plans[0]);
    probe.classList.add("probe");
    list.append(probe);
    const line = probe.querySelector(".change").getBoundingClientRect().height;
    const base = probe.getBoundingClientRect().height - line * plans[0].changes.length;
    const gap = Number.parseFloat(getComputedStyle(list).rowGap) || 0;
    probe.remove();
    sizes = { columns, width: list.clientWidth, line, base, gap };
  }

  // Where each row of cards begins; rows are as high as their longest card.
  function rowTops() {
    const tops = [0];
    for (let place = 0; place < plans.length; place += sizes.columns) {
      let most = 0;
      for (let one = place; one < Math.min(place + sizes.columns, plans.length); one += 1)
        most = Math.max(most, plans[one].changes.length);
      tops.push(tops.at(-1) + sizes.base + sizes.line * most + sizes.gap);
    }
    return tops;
  }

  let tops = [0];
  let range = [-1, -1];

  function seen() {
    if (printing) return [0, Math.ceil(Math.min(plans.length, MOST_PRINTED) / sizes.columns)];
    if (plans.length <= ALWAYS_DRAWN) return [0, tops.length - 1];
    const height = window.innerHeight;
    const begin = -list.getBoundingClientRect().top;
    const first = Math.max(rowAt(begin - MARGIN * height), 0);
    return [first, Math.min(rowAt(begin + (1 + MARGIN) * height) + 1, tops.length - 1)];
  }

  function rowAt(offset) {
    let [low, high] = [0, tops.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (tops[middle] <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  }

  function render(force = false) {
    if (!plans.length) {
      clear();
      return;
    }
    measure();
    const [from, to] = seen();
    if (!force && from === range[0] && to === range[1]) return;
    range = [from, to];
    top.style.height = `${tops[from]}px`;
    bottom.style.height = `${Math.max(tops.at(-1) - tops[to], 0)}px`;
    const wanted = plans.slice(from * sizes.columns, to * sizes.columns);
    const hadFocus = list.contains(document.activeElement);
    place(wanted, from * sizes.columns);
    // A card that is scrolled away takes the focus with it: the list keeps it.
    if (hadFocus && !list.contains(document.activeElement)) list.focus({ preventScroll: true });
  }

  function place(wanted, first) {
    const ranks = new Set(wanted.map((plan) => plan.rank));
    for (const [rank, card] of drawn) {
      if (ranks.has(rank)) continue;
      card.remove();
      drawn.delete(rank);
    }
    let before = top;
    wanted.forEach((plan, index) => {
      const card = drawn.get(plan.rank) ?? draw(plan);
      drawn.set(plan.rank, card);
      card.setAttribute("aria-posinset", String(first + index + 1));
      card.setAttribute("aria-setsize", String(plans.length));
      if (before.nextSibling !== card) before.after(card);
      before = card;
    });
  }

  function clear() {
    for (const card of drawn.values()) card.remove();
    drawn.clear();
    range = [-1, -1];
    top.style.height = bottom.style.height = "0";
  }

  let frame = 0;
  const later = () => {
    frame ||= requestAnimationFrame(() => {
      frame = 0;
      render();
    });
  };
  addEventListener("scroll", later, { passive: true });
  addEventListener("resize", () => {
    sizes = null;
    update();
  });

  function update() {
    if (plans.length) {
      measure();
      tops = rowTops();
    }
    render(true);
  }

  return {
    // `label` tells whether cards that are drawn are still right, `whose` which answer they belong to.
    show(list_, label, whose) {
      const focus = focused(list);
      if (label !== version || whose !== owner) clear();
      [plans, version, owner] = [list_, label, whose];
      update();
      focus?.();
    },
    reveal(matches) {
      const index = plans.findIndex(matches);
      if (index < 0) return;
      const row = Math.floor(index / sizes.columns);
      scrollTo({ top: scrollY + list.getBoundingClientRect().top + tops[row] - 80, behavior: "auto" });
      render();
      drawn.get(plans[index].rank)?.querySelector("button").focus({ preventScroll: true });
    },
    // Before printing: what fits on paper is drawn, seen or not. How many are left out is returned.
    printed(now) {
      printing = now;
      update();
      return Math.max(plans.length - MOST_PRINTED, 0);
    },
  };
}

// Where a card is drawn anew, whoever stood on its button stands on the new one.
function focused(list) {
  const rank = document.activeElement?.closest?.(".plan")?.dataset.rank;
  if (rank === undefined || !list.contains(document.activeElement)) return null;
  return () => list.querySelector(`[data-rank="${rank}"] button`)?.focus({ preventScroll: true });
}
