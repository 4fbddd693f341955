// Where rules leave no plan: what comes closest without breaking any of them.

import { h } from "../elements.js";
import { hasEnded } from "../state.js";
import { goalOf, roomInside } from "../words.js";
import { planSentence } from "./ways-out.js";

export function showWithinRules(place, store) {
  store.watch(
    (state) => [state.shown, state.subsets, state.answer],
    (shown, subsets, answer) => {
      const isAnswered = hasEnded(answer.phase) && shown.request === answer.request;
      const isWanted = isAnswered && shown.summary?.no_recourse?.reason === "constraints";
      const isTold = subsets?.request === shown.request && !subsets.problem;
      const goal = isWanted && isTold ? goalOf(subsets.target, store.get().model) : null;
      const best = goal && closestAllowed(subsets.subsets, goal);
      place.hidden = !best;
      place.replaceChildren(...(best ? told(best, shown.start, goal) : []));
    },
  );
}

function closestAllowed(subsets, goal) {
  const room = ({ score }) => (score === null ? -Infinity : roomInside(score, goal));
  return subsets
    .filter(({ allowed }) => allowed)
    .sort((one, other) => room(other) - room(one))
    .at(0);
}

function told({ features, score }, start, goal) {
  const findings = new Map(start.features.map((finding) => [finding.name, finding]));
  const changes = features.map((name) => changeOf(findings.get(name)));
  return [
    h("h3", {}, "What comes closest within the rules"),
    h("p", {}, `${planSentence({ changes, prediction: { score } }, goal)} But ${goal.words}.`),
  ];
}

function changeOf({ name, title, value, target, unit }) {
  const isNumber = typeof value === "number" && typeof target === "number";
  const direction = isNumber ? (target > value ? "increase" : "decrease") : null;
  return { feature: name, title, from: value, to: target, unit, direction };
}
