// An answer in a sentence or two. Each says only what the answer proves: a plan proves itself, but that no other plan
// exists is known only of a complete answer, or up to the size that the answer is complete for.

import { either, groupsOf, groupWords } from "./grouping.js";
import { listed } from "../person/items.js";
import { counted, withUnit } from "../numbers.js";
import { mustHold } from "./stability.js";
import { hasEnded } from "../state.js";
import { capital, isYesOrNo, saysWords, spoken, valueWords } from "../words.js";

// More groups than that are no sentence any more.
const MOST_TOLD = 3;

const VERBS = { increase: "raises", decrease: "lowers" };

// The sentences of an answer that has ended; none before. `enough` gives the value at which a plan's change would do.
export function storyOf(answer, model, enough = () => undefined) {
  const { start, summary, plans, phase } = answer;
  if (!start) return [];
  const says = saysWords(start.target);
  const value = leastWords(model, enough);
  if (!hasEnded(phase)) return soFar(answer, says, spoken(model), value);
  if (start.prediction.favourable && !plans.length) return [`Nothing has to change: ${says} as it is.`];
  if (!plans.length) return nothingFound(answer);
  const names = spoken(model);
  const isComplete = Boolean(summary?.complete);
  return [
    ...shortest(answer, says, names, value),
    ...(isComplete ? others(answer, names) : []),
    ...undoing(answer, names),
    ...(isComplete ? idle(answer, names) : []),
  ];
}

// While the search goes on: what will stay true whatever comes.
function soFar(answer, says, names, value) {
  const { plans, progress } = answer;
  const upTo = progress?.complete_up_to ?? 0;
  const least = plans.reduce((size, { changes }) => Math.min(size, changes.length), Infinity);
  return upTo >= Math.max(least - 1, 1) && plans.length ? shortest(answer, says, names, value) : [];
}

// All plans of several changes in a few words, if that is possible: what it takes where no single value is enough.
function inWords(plans, names) {
  const larger = plans.filter(({ changes }) => changes.length > 1);
  const groups = larger.length ? groupsOf(larger, MOST_TOLD + 1) : [];
  const isShort = groups.length > 0 && groups.length <= MOST_TOLD && groups.every(({ any }) => !Array.isArray(any));
  return isShort ? groups.map((group) => groupWords(group, names)).join("; or ") : null;
}

// What else would do, or what no plan does without.
function others(answer, names) {
  const { plans } = answer;
  const words = inWords(plans, names);
  if (words === null) return shared(plans, names);
  const single = plans.filter(({ changes }) => changes.length === 1).map(({ changes: [{ feature }] }) => names(feature));
  return single.length ? [limited(`Without ${either(single)} ${mustHold(answer.start) ? "a plan that holds" : "it"} takes ${words}.`, answer)] : [];
}

// Without the rules, less might be enough.
function limited(sentence, { start }) {
  return start.rules?.length ? `Within the rules, ${uncapital(sentence)}` : sentence;
}

function nothingFound({ start, summary }) {
  if (summary?.outcome !== "no_recourse") return [];
  if (summary.no_recourse.reason === "constraints") return ["There are plans, but each one breaks a rule."];
  const does = mustHold(start) ? "holds" : "changes the decision";
  if (!start.features.some(({ movable }) => movable)) return [`No value can move, so nothing here ${does}.`];
  const isByRanges = summary.no_recourse.reason === "ranges";
  return [isByRanges ? `No combination of values brought into range ${does}.` : `No permitted plan ${does}.`];
}

// How many changes it takes, and which one would do by itself.
function shortest(answer, says, names, value) {
  const { start, plans, summary, progress } = answer;
  const least = plans.reduce((size, { changes }) => Math.min(size, changes.length), Infinity);
  if (least === 1) return alone(answer, says, names, value);
  // A plan that does not hold may change the decision too.
  const holding = mustHold(start);
  const upTo = summary?.complete_up_to ?? progress?.complete_up_to ?? 0;
  const only = `One plan only${holding ? " that holds" : ""}, of ${counted(least, "change")}: `;
  if (plans.length === 1 && summary?.complete) return [limited(`${only}${uncapital(plans[0].sentence)}`, answer)];
  const words = summary?.complete ? inWords(plans, names) : null;
  const none = `No single value is enough${holding ? " for a plan that holds" : ""}: it takes `;
  if (words !== null) return [limited(`${none}${words}.`, answer)];
  return upTo >= least - 1 ? [limited(`${none}at least ${counted(least, "change")}.`, answer)] : [];
}

function alone(answer, says, names, value) {
  const { start, plans, summary } = answer;
  const single = plans.filter(({ changes }) => changes.length === 1);
  if (single.length > 1) return [`Any one of these is enough: ${either(single.map((plan) => `${names(plan.changes[0].feature)} ${value(plan)}`))}.`];
  const [plan] = single;
  const name = capital(names(plan.changes[0].feature));
  const isAll = plans.length === 1 && summary?.complete && !mustHold(start) && !start.rules?.length;
  const does = isAll ? "explains this" : "is enough";
  return [`${name} alone ${does}: ${value(plan)} ${says}.`];
}

// The least that is known to do, else the target. The model was asked about either.
function leastWords({ features }, enough) {
  return (plan) => {
    const [{ feature, to, unit }] = plan.changes;
    const value = enough(plan, feature) ?? to;
    const known = features.find(({ name }) => name === feature);
    if (typeof value === "string" || isYesOrNo(known)) return `with “${valueWords(value, known)}”`;
    return `at ${withUnit(value, unit)}`;
  };
}

// What no plan does without.
function shared(plans, names) {
  if (plans.length < 2) return [];
  const [first, ...others] = plans.map(({ changes }) => new Map(changes.map((change) => [change.feature, change])));
  const inAll = [...first.values()].filter(({ feature }) => others.every((one) => one.has(feature)));
  if (!inAll.length) return [];
  const done = inAll.map(({ feature, direction }) => `${VERBS[direction] ?? "changes"} ${names(feature)}`);
  return [`Every plan ${listed(done)}.`];
}

// Further improvement that turns the decision back.
function undoing({ plans }, names) {
  const told = plans.filter(({ stability }) => typeof stability?.more?.holds === "boolean");
  const undone = told.filter(({ stability }) => !stability.more.holds);
  if (!undone.length) return [];
  const sets = [...new Set(undone.map(({ stability }) => listed(stability.more.breaks_with.map(names))))];
  const which = told.length === plans.length && undone.length === told.length ? "every plan" : partly(undone, plans);
  if (sets.length > 1) return [`Improving more than planned undoes ${which}.`];
  return [`Improving ${sets[0]} as well undoes ${plans.length === 1 ? "it" : which}.`];
}

function partly(undone, plans) {
  return `${undone.length} of ${counted(plans.length, "plan")}`;
}

// Abnormal values that could move, that no plan needs, and that undo none.
function idle({ start, plans }, names) {
  const used = new Set(plans.flatMap(({ changes }) => changes.map(({ feature }) => feature)));
  const undo = new Set(plans.flatMap(({ stability }) => stability?.more?.breaks_with ?? []));
  const unneeded = start.features.filter(({ name, movable }) => movable && !used.has(name) && !undo.has(name));
  if (!unneeded.length) return [];
  const words = unneeded.length === 1 ? `is ${howAbnormal(unneeded[0])}, but no plan needs it` : "are abnormal, but no plan needs them";
  return [`${capital(listed(unneeded.map(({ name }) => names(name))))} ${words}.`];
}

function howAbnormal({ status }) {
  return ["low", "high"].includes(status) ? status : "outside its range";
}

function uncapital(text) {
  return `${text[0].toLowerCase()}${text.slice(1)}`;
}
