// A list that draws only the plans in view. A short one is drawn whole; a long one has its own scroll bar, so that
// what comes behind it stays within reach. There the height of a card follows from its changes.

import { h } from "../../elements.js";

const ALWAYS_DRAWN = 12;
// Drawn above and below what is seen, in heights of the list.
const MARGIN = 0.75;
const MOST_PRINTED = 100;

export function createCardWindow(list, draw) {
  const [top, bottom] = [room(), room()];
  const drawn = new Map();
  let plans = [];
  let current = { whose: null, label: "" };
  let measured = null;
  let layout = null;
  let printing = false;
  let frame = 0;
  list.append(top, bottom);

  const isLong = () => plans.length > ALWAYS_DRAWN && !printing;

  // Positions of the cards from and to which is drawn.
  function seen() {
    if (printing) return [0, Math.min(plans.length, MOST_PRINTED)];
    return isLong() ? layout.seen(list.scrollTop, list.clientHeight) : [0, plans.length];
  }

  function render() {
    const [from, to] = seen();
    const hadFocus = list.contains(document.activeElement);
    place(plans.slice(from, to), from);
    top.style.height = `${isLong() ? layout.topOf(from) : 0}px`;
    bottom.style.height = `${isLong() ? layout.height - layout.topOf(to) : 0}px`;
    // A card that is scrolled away takes the focus with it: the list keeps it.
    if (hadFocus && !list.contains(document.activeElement)) list.focus({ preventScroll: true });
  }

  function place(wanted, first) {
    const ranks = new Set(wanted.map((plan) => plan.rank));
    for (const rank of [...drawn.keys()]) if (!ranks.has(rank)) remove(rank);
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

  function remove(rank) {
    drawn.get(rank).remove();
    drawn.delete(rank);
  }

  // Cards that are there are drawn anew where they stand: nothing moves, and the focus stays.
  function redraw() {
    for (const plan of plans) {
      const old = drawn.get(plan.rank);
      if (!old) continue;
      const hadFocus = old.contains(document.activeElement);
      const card = draw(plan);
      old.replaceWith(card);
      drawn.set(plan.rank, card);
      if (hadFocus) card.querySelector("button.keep").focus({ preventScroll: true });
    }
  }

  function update() {
    list.classList.toggle("long", isLong());
    list.tabIndex = isLong() ? 0 : -1;
    if (isLong()) {
      measured ??= measure(list, draw(plans[0]));
      layout = layoutOf(plans, measured);
      // Before it is asked what is seen: an empty list has no height.
      if (!drawn.size) bottom.style.height = `${layout.height}px`;
    }
    render();
  }

  list.addEventListener("scroll", () => {
    frame ||= requestAnimationFrame(() => {
      frame = 0;
      if (isLong()) render();
    });
  });
  addEventListener("resize", () => {
    measured = null;
    update();
  });

  return {
    // `whose` tells which answer the plans belong to, `label` whether cards that are drawn are still right.
    show(some, { whose, label }) {
      plans = some;
      if (whose !== current.whose) {
        for (const rank of [...drawn.keys()]) remove(rank);
        list.scrollTop = 0;
      } else if (label !== current.label) redraw();
      current = { whose, label };
      update();
    },
    has: (rank) => plans.some((plan) => plan.rank === rank),
    reveal(rank) {
      const index = plans.findIndex((plan) => plan.rank === rank);
      if (index < 0) return;
      if (isLong()) {
        list.scrollTop = layout.topOf(index);
        render();
      }
      const card = drawn.get(rank);
      card.scrollIntoView({ block: "nearest" });
      card.querySelector("button.keep").focus({ preventScroll: true });
    },
    // Before and after printing. On paper comes what fits there, seen or not; how many that is is returned.
    printed(now) {
      printing = now;
      update();
      return Math.min(plans.length, MOST_PRINTED);
    },
  };
}

function room() {
  return h("li", { class: "room", role: "presentation", "aria-hidden": "true" });
}

// What a card takes: measured, since text may be larger here than anybody thought.
function measure(list, probe) {
  const style = getComputedStyle(list);
  const columns = Math.max(1, style.gridTemplateColumns.split(" ").length);
  const lines = probe.querySelectorAll(".change").length;
  probe.classList.add("probe");
  list.append(probe);
  const line = probe.querySelector(".change").getBoundingClientRect().height;
  const base = probe.getBoundingClientRect().height - line * lines;
  probe.remove();
  return { columns, line, base, gap: Number.parseFloat(style.rowGap) || 0 };
}

// Where each row of cards begins; rows are as high as their longest card.
function layoutOf(plans, { columns, line, base, gap }) {
  const tops = [0];
  for (let place = 0; place < plans.length; place += columns) {
    const row = plans.slice(place, place + columns);
    const most = Math.max(...row.map(({ changes }) => changes.length));
    tops.push(tops.at(-1) + base + line * most + gap);
  }
  const rowAt = (offset) => {
    let [low, high] = [0, tops.length - 1];
    while (low < high) {
      const middle = (low + high + 1) >> 1;
      if (tops[middle] <= offset) low = middle;
      else high = middle - 1;
    }
    return low;
  };
  return {
    height: tops.at(-1),
    topOf: (index) => tops[Math.min(Math.ceil(index / columns), tops.length - 1)],
    seen(offset, height) {
      const [first, last] = [rowAt(offset - MARGIN * height), rowAt(offset + (1 + MARGIN) * height) + 1];
      return [first * columns, Math.min(last * columns, plans.length)];
    },
  };
}
