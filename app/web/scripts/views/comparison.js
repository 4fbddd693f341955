// Two pinned plans, side by side.

import { h } from "../elements.js";
import { scoreText, withUnit } from "../numbers.js";
import { ARROWS, goalOf } from "../words.js";
import { planKey } from "./plan-card.js";

export function showComparison(place, store, actions) {
  store.watch(
    (state) => [state.shown.request, state.shown.summary, state.view.pinned],
    (request, summary, pinned) => {
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
          h("button", { type: "button", onclick: () => actions.changeView({ pinned: [] }) }, "Unpin both"),
        );
    },
  );
}

function table(plans, { start }, goal) {
  const changes = plans.map((plan) => new Map(plan.changes.map((change) => [change.feature, change])));
  const touched = start.features.filter(({ name }) => changes.some((one) => one.has(name)));
  // What sets them apart first.
  touched.sort(
    (one, other) => changes.every((some) => some.has(one.name)) - changes.every((some) => some.has(other.name)),
  );
  return h(
    "div",
    { class: "scrolled", tabindex: "0", role: "region", "aria-label": "Two plans compared" },
    h(
      "table",
      {},
      h(
        "thead",
        {},
        h(
          "tr",
          {},
          ["Feature", "Now", ...plans.map(({ rank }) => `Plan ${rank}`)].map((text) => h("th", { scope: "col" }, text)),
        ),
      ),
      h(
        "tbody",
        {},
        touched.map((finding) =>
          h(
            "tr",
            {},
            h("th", { scope: "row" }, finding.title ?? finding.name),
            h("td", {}, withUnit(finding.value, finding.unit)),
            changes.map((one) => cell(one.get(finding.name))),
          ),
        ),
        h(
          "tr",
          { class: "sum" },
          h("th", { scope: "row" }, "Changes"),
          h("td", {}, "–"),
          plans.map((plan) => h("td", {}, String(plan.changes.length))),
        ),
        h(
          "tr",
          { class: "sum" },
          h("th", { scope: "row" }, "Score"),
          h("td", {}, scoreText(start.prediction.score, goal.low)),
          plans.map((plan) => h("td", {}, scoreText(plan.prediction.score, goal.low))),
        ),
      ),
    ),
  );
}

function cell(change) {
  if (!change) return h("td", { class: "same" }, "as it is");
  return h("td", { class: "moved" }, `${ARROWS[change.direction] ?? "↔"} ${withUnit(change.to, change.unit)}`);
}
