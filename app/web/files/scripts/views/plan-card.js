// One plan: what changes, from what to what, and what the model would say then.

import { button, h, sign, unseen } from "../elements.js";
import { counted, scoreText, withUnit } from "../numbers.js";
import { arrowOf } from "../words.js";
import { scoreBar } from "./decision.js";

// What makes a plan the same in two answers: the features that it changes.
export function planKey(plan) {
  return JSON.stringify(plan.changes.map(({ feature }) => feature));
}

const COST = "Cost: the weights of its changes together; a change without a weight weighs 1.";

export function planCard(plan, { goal, pinned, showsCost, togglePin }) {
  const { label, score, favourable } = plan.prediction;
  const cost = showsCost ? `, cost ${plan.cost}` : "";
  const pressed = { class: "pin", "aria-pressed": String(pinned) };
  const pin = button(pinned ? "Pinned" : "Pin", () => togglePin(planKey(plan)), pressed);
  pin.append(unseen(` plan ${plan.rank} to compare`));
  return h(
    "li",
    { class: `plan${pinned ? " pinned" : ""}`, "data-rank": plan.rank },
    h(
      "div",
      { class: "plan-head" },
      h("h3", {}, `Plan ${plan.rank}`),
      h("span", { class: "size", title: showsCost && COST }, `${counted(plan.changes.length, "change")}${cost}`),
      pin,
    ),
    h("ul", { class: "changes" }, plan.changes.map(changeLine)),
    h(
      "div",
      { class: "plan-score" },
      scoreBar(score, goal, favourable, `score after: ${scoreText(score, goal)}`),
      h("span", {}, label === null ? "" : `${label} `, h("strong", {}, scoreText(score, goal))),
    ),
  );
}

function changeLine(change) {
  const way = { increase: "up", decrease: "down" }[change.direction];
  return h(
    "li",
    { class: `change ${change.direction ?? "other"}` },
    sign(arrowOf(change)),
    h("span", { class: "what", title: change.title ?? change.feature }, change.title ?? change.feature),
    h(
      "span",
      { class: "values" },
      `${change.from ?? "missing"} `,
      sign("→"),
      unseen(way ? `${way} to` : "to"),
      ` ${withUnit(change.to, change.unit)}`,
    ),
  );
}
