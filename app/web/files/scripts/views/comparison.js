// Two pinned plans, side by side.

import { button, h } from "../elements.js";
import { scoreText, withUnit } from "../numbers.js";
import { arrowOf, goalOf } from "../words.js";
import { planKey } from "./plan-card.js";

export function showComparison(place, store, actions) {
  store.watch(
    (state) => [state.shown.request, state.shown.phase, state.view.pinned],
    (request, phase, pinned) => {
      const { model, shown } = store.get();
      const plans = pinned.map((key) => shown.plans.find((plan) => planKey(plan) === key)).filter(Boolean);
      place.hidden = plans.length === 0;
      if (plans.length === 1)
        place.replaceChildren(
          h("p", { class: "help" }, `Plan ${plans[0].rank} is pinned. Pin another to compare the two.`),
        );
      else if (plans.length === 2)
        place.replaceChildren(
          h("h3", {}, "Compared"),
          table(plans, shown, goalOf(shown.start.target, model)),
          button("Unpin both", () => {
            actions.changeView({ pinned: [] });
            place.closest("section").focus({ preventScroll: true });
          }),
        );
    },
  );
}

function table(plans, { start }, goal) {
  const changes = plans.map((plan) => new Map(plan.changes.map((change) => [change.feature, change])));
  const inBoth = (name) => changes.every((one) => one.has(name));
  const touched = start.features.filter(({ name }) => changes.some((one) => one.has(name)));
  // What sets them apart first.
  touched.sort((one, other) => inBoth(one.name) - inBoth(other.name));
  const head = ["Feature", "Now", ...plans.map(({ rank }) => `Plan ${rank}`)].map((text) =>
    h("th", { scope: "col" }, text),
  );
  const features = touched.map(({ name, title, value, unit }) =>
    row(title ?? name, [h("td", {}, withUnit(value, unit)), ...changes.map((one) => cell(one.get(name)))]),
  );
  const sizes = plans.map((plan) => plan.changes.length);
  const scores = [start, ...plans].map(({ prediction }) => scoreText(prediction.score, goal));
  const sums = [row("Changes", ["–", ...sizes].map(sum)), row("Score", scores.map(sum))];
  const table = h("table", {}, h("thead", {}, h("tr", {}, head)), h("tbody", {}, features, sums));
  return h("div", { class: "scrolled", tabindex: "0", role: "region", "aria-label": "Two plans compared" }, table);
}

function row(title, cells) {
  return h("tr", {}, h("th", { scope: "row" }, title), cells);
}

function sum(value) {
  return h("td", { class: "sum" }, String(value));
}

function cell(change) {
  if (!change) return h("td", { class: "same" }, "as it is");
  return h("td", { class: "moved" }, `${arrowOf(change)} ${withUnit(change.to, change.unit)}`);
}
