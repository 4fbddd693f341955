// One plan: what changes, from what to what and how little would do, what the model would say then, and whether it holds.

import { button, h, sign, unseen } from "../../elements.js";
import { counted, scoreText, withUnit } from "../../numbers.js";
import { marksOf } from "../../plans/stability.js";
import { arrowOf, marginWords } from "../../words.js";
import { scoreBar } from "../decision.js";
import { rangeBar } from "../person/range-bar.js";

const COST = "Cost: the weights of its changes together; a change without a weight weighs 1.";
const HARD = "Hard to do: plans without it come first";
const IMPOSSIBLE = "Look for plans without it";

// `told` is what is known of the plan besides itself: {name, goal, kept, showsCost, enough, names, findings, word}.
export function planCard(plan, told, { keep, refuse, makeHard, tryOut }) {
  const { name, goal, kept, showsCost, enough = {}, names, findings, word } = told;
  const { label, score, favourable } = plan.prediction;
  const cost = showsCost ? `, cost ${plan.cost}` : "";
  const named = (words, onPress, properties) => {
    const one = button(words, onPress, properties);
    one.append(unseen(` plan ${name}`));
    return one;
  };
  return h(
    "li",
    { class: `plan${kept ? " kept" : ""}`, "data-rank": plan.rank },
    h(
      "div",
      { class: "plan-head" },
      h("h3", {}, `Plan ${name}`),
      h("span", { class: "size", title: showsCost && COST }, `${counted(plan.changes.length, "change")}${cost}`),
      named(kept ? "Kept" : "Keep", () => keep(plan, name), { class: "keep", "aria-pressed": String(kept) }),
    ),
    h(
      "ul",
      { class: "changes" },
      plan.changes.map((change) => changeLine(change, change.enough ?? enough[change.feature], findings.get(change.feature), word)),
      (plan.consequences ?? []).map((one) => h("li", { class: "change other" }, sign("↳"), ...valuesOf(one))),
    ),
    h(
      "div",
      { class: "plan-score" },
      scoreBar(score, goal, favourable, `score after: ${scoreText(score, goal)}`),
      h("span", {}, label === null ? "" : `${label} `, h("strong", {}, scoreText(score, goal)), marginWords(score, goal)),
    ),
    h("p", { class: "marks" }, marksOf(plan, names).map(mark)),
    h(
      "div",
      { class: "plan-actions" },
      named("What if…", () => tryOut(plan, name)),
      named("Hard", () => makeHard(plan), { title: HARD }),
      named("Not possible", () => refuse(plan), { title: IMPOSSIBLE }),
    ),
  );
}

function mark({ sign: shape, words, holds }) {
  return h("span", { class: holds ? "holds" : "fails" }, sign(shape), words);
}

// What follows from the changes: it is not for the person to do.
function valuesOf({ feature, title, from, to, unit }) {
  const values = h("span", { class: "values" }, `${from ?? "missing"} `, sign("→"), unseen("follows to"), ` ${withUnit(to, unit)}`);
  return [h("span", { class: "what", title: title ?? feature }, title ?? feature), values];
}

function changeLine(change, enough, finding, word) {
  const way = { increase: "up", decrease: "down" }[change.direction];
  const step = change.steps > 1 ? ` (step ${change.step} of ${change.steps})` : "";
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
      ` ${withUnit(change.to, change.unit)}${step}`,
    ),
    typeof change.from === "number" && typeof change.to === "number" && way && onItsBar(change, enough, finding, word),
  );
}

// Where the value stands, where the plan leads, and how little would do.
function onItsBar({ from, to, unit }, enough, finding, word) {
  const bar = rangeBar({ ...finding, value: from, target: to }, word, enough);
  return h("span", { class: "on-bar" }, bar, enough !== undefined && h("span", { class: "enough" }, `${withUnit(enough, unit)} is enough`));
}
