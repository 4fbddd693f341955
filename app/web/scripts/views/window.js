// A list of which only what is seen is drawn. A short one is drawn whole; a long one scrolls by itself, so that what comes
// behind it stays within reach. The height of a card follows from its changes.

import { h } from "../elements.js";

const ALWAYS_DRAWN = 60;
// Drawn above and below what is seen, in heights of the list.
const MARGIN = 0.75;
const MOST_PRINTED = 100;

export function createWindow(list, draw) {
  const top = room();
  const bottom = room();
  const drawn = new Map();
  let plans = [];
  let version = "";
  let owner = null;
  let sizes = null;
  let tops = [0];
  let range = [-1, -1];
  let printing = false;
  let frame = 0;
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
    const found = [0];
    for (let place = 0; place < plans.length; place += sizes.columns) {
      const row = plans.slice(place, place + sizes.columns);
      const most = Math.max(...row.map(({ changes }) => changes.length));
      found.push(found.at(-1) + sizes.base + sizes.line * most + sizes.gap);
    }
    return found;
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

  function seen() {
    if (printing) return [0, Math.ceil(Math.min(plans.length, MOST_PRINTED) / sizes.columns)];
    if (plans.length <= ALWAYS_DRAWN) return [0, tops.length - 1];
    const height = list.clientHeight;
    const first = rowAt(list.scrollTop - MARGIN * height);
    return [first, Math.min(rowAt(list.scrollTop + (1 + MARGIN) * height) + 1, tops.length - 1)];
  }

  function render(force = false) {
    const [from, to] = seen();
    if (!force && from === range[0] && to === range[1]) return;
    range = [from, to];
    top.style.height = `${printing ? 0 : tops[from]}px`;
    bottom.style.height = `${printing ? 0 : Math.max(tops.at(-1) - tops[to], 0)}px`;
    const hadFocus = list.contains(document.activeElement);
    place(plans.slice(from * sizes.columns, to * sizes.columns), from * sizes.columns);
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

  function update() {
    const long = plans.length > ALWAYS_DRAWN && !printing;
    list.classList.toggle("long", long);
    list.tabIndex = long ? 0 : -1;
    if (!plans.length) {
      clear();
      return;
    }
    measure();
    tops = rowTops();
    render(true);
  }

  list.addEventListener("scroll", () => {
    frame ||= requestAnimationFrame(() => {
      frame = 0;
      if (plans.length) render();
    });
  });
  addEventListener("resize", () => {
    sizes = null;
    update();
  });

  return {
    // `label` tells whether cards that are drawn are still right, `whose` which answer they belong to.
    show(some, label, whose) {
      const focus = focused(list);
      if (label !== version || whose !== owner) clear();
      if (whose !== owner) list.scrollTop = 0;
      [plans, version, owner] = [some, label, whose];
      update();
      focus?.();
    },
    reveal(matches) {
      const index = plans.findIndex(matches);
      if (index < 0) return;
      list.scrollTop = tops[Math.floor(index / sizes.columns)];
      render();
      const card = drawn.get(plans[index].rank);
      card.scrollIntoView({ block: "nearest" });
      card.querySelector("button").focus({ preventScroll: true });
    },
    // Before printing: what fits on paper is drawn, seen or not. How many are left out is returned.
    printed(now) {
      printing = now;
      update();
      return Math.max(plans.length - MOST_PRINTED, 0);
    },
  };
}

function room() {
  return h("li", { class: "room", role: "presentation", "aria-hidden": "true" });
}

// Where a card is drawn anew, whoever stood on its button stands on the new one.
function focused(list) {
  const rank = document.activeElement?.closest?.(".plan")?.dataset.rank;
  if (rank === undefined || !list.contains(document.activeElement)) return null;
  return () => list.querySelector(`[data-rank="${rank}"] button`)?.focus({ preventScroll: true });
}
