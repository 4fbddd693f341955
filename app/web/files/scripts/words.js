// What the page says of statuses, decisions and the end of a search.

import { counted, scoreText, seconds, withUnit } from "./numbers.js";
import { mustHold } from "./plans/stability.js";
import { hasEnded, isRunning } from "./state.js";

export const EARLIER = "Previous answer, for other values or rules:";

export const STATUS = {
  normal: { sign: "●", word: "normal" },
  low: { sign: "▼", word: "low" },
  high: { sign: "▲", word: "high" },
  not_allowed: { sign: "✕", word: "not allowed" },
  unknown: { sign: "○", word: "no known range" },
};

const WHY_NOT = {
  normal: "",
  no_range: "stays as it is",
  missing: "and stays missing: the ranges do not say what it could become",
  derived: "follows from other values",
  at_target: "already at its target",
  immutable: "locked",
  direction: "would have to move the other way",
  max_step: "would have to move too far",
};

// What a sentence calls a feature. If two sound the same, the name follows in brackets.
export function spoken(model) {
  const words = model.features.map(({ name, title, short }) => [name, short ?? title ?? name]);
  const times = new Map();
  for (const [, word] of words) times.set(word, (times.get(word) ?? 0) + 1);
  const byName = new Map(
    words.map(([name, word]) => [name, times.get(word) > 1 && word !== name ? `${word} (${name})` : word]),
  );
  return (name) => byName.get(name) ?? name;
}

export function titles(model) {
  const byName = new Map(model.features.map((feature) => [feature.name, feature.title ?? feature.name]));
  return (name) => byName.get(name) ?? name;
}

// A whole number between 0 and 1.
export function isYesOrNo({ type, bounds }) {
  return type === "integer" && bounds?.low === 0 && bounds?.high === 1;
}

// Beside a yes or a no, a title that ends in "1 is yes" would confuse.
export function titleOf(feature) {
  return isYesOrNo(feature) && feature.short ? capital(feature.short) : (feature.title ?? feature.name);
}

// A value as the form shows it.
export function valueWords(value, feature) {
  if (isYesOrNo(feature) && (value === 0 || value === 1)) return value ? "yes" : "no";
  return withUnit(value, feature.unit);
}

export function whyNot(finding) {
  if (finding.value === null && ["direction", "max_step"].includes(finding.why_not))
    return "no direction or step limit applies to a missing value";
  return WHY_NOT[finding.why_not] ?? "";
}

// What the people of the model's field call a person, a decision and a range.
export function fieldWords(model) {
  return { person: "person", decision: "decision", range: "normal range", ...model?.words };
}

export function rangeWord(model) {
  const { range } = fieldWords(model);
  return range === "normal range" ? "normal" : range;
}

export function capital(text) {
  return `${text[0].toUpperCase()}${text.slice(1)}`;
}

// A range in words: "normal 35 to 53 g/L", or what the model's field calls it.
export function rangeWords({ low, high, allowed }, unit, word = "normal") {
  if (allowed?.length) return `${word}: ${allowed.join(", ")}`;
  if (low !== null && low !== undefined && high !== null && high !== undefined)
    return low === high ? `${word} ${withUnit(low, unit)}` : `${word} ${low} to ${withUnit(high, unit)}`;
  if (high !== null && high !== undefined) return `${word} up to ${withUnit(high, unit)}`;
  if (low !== null && low !== undefined) return `${word} from ${withUnit(low, unit)}`;
  return "no known range";
}

export function conditionWords(when) {
  return Object.entries(when ?? {})
    .map(([name, wanted]) => {
      if (typeof wanted !== "object" || wanted === null) return `${name} ${wanted}`;
      if (wanted.high === null) return `${name} from ${wanted.low}`;
      return wanted.low === null ? `${name} up to ${wanted.high}` : `${name} ${wanted.low} to ${wanted.high}`;
    })
    .join(", ");
}

// Where the score must lie: {low, high, words}; low and high may be null.
export function goalOf(target, { classes, givesShares }) {
  // As compared: the model's own type may not hold all digits that were asked for.
  const ends = target.compared_as;
  if (!target.classes) return { low: ends.low, high: ends.high, words: `it must be ${intervalWords(ends)}` };
  const wanted = target.classes.join(" or ");
  if (ends.threshold !== null)
    return { low: ends.threshold, high: null, words: `${wanted} needs a score of at least ${ends.threshold}` };
  // Only of two shares of a whole is it known where the one overtakes the other.
  const low = classes.length === 2 && givesShares ? 0.5 : null;
  if (classes.length === 2) {
    const other = classes.find((one) => !target.classes.includes(one));
    return {
      low,
      high: null,
      isHalf: true,
      words: `${wanted} must be ${low === null ? "scored higher" : "more likely"} than ${other}`,
    };
  }
  return { low, high: null, words: `${wanted} must be the most likely class` };
}

// "the model says healthy"; of a regression, "the result is at most 130".
export function saysWords({ classes, compared_as: ends }) {
  return classes ? `the model says ${classes.join(" or ")}` : `the result is ${intervalWords(ends)}`;
}

// How far inside the goal a score lies: what is best has most room.
export function roomInside(score, { low, high }) {
  if (low === null && high === null) return score;
  return Math.min(low === null ? Infinity : score - low, high === null ? Infinity : high - score);
}

// How much room a score has: ", 0.164 above the threshold", or above the half where the likelier of two classes wins.
export function marginWords(score, goal) {
  if (goal.low === null && goal.high === null) return "";
  const room = scoreText(roomInside(score, goal));
  return goal.high === null ? `, ${room} above ${goal.isHalf ? goal.low : "the threshold"}` : `, ${room} inside`;
}

function intervalWords({ low, high }) {
  if (low === null) return `at most ${high}`;
  return high === null ? `at least ${low}` : `from ${low} to ${high}`;
}

// Up, down, another category, or something where nothing was.
export function arrowOf({ direction, from }) {
  return { increase: "↑", decrease: "↓" }[direction] ?? (from === null ? "+" : "↔");
}

// A range of a request's own: what is normal, what a missing value would become, or both.
export function ownRangeWords(name, range) {
  const { if_missing: become, ...rest } = range;
  const normal = Object.keys(rest).length || become === undefined ? [`${name} is ${rangeWords(rest)}`] : [];
  if (become) normal.push(`a missing ${name} would become ${become.value ?? "its target"}`);
  if (become === null) normal.push(`a missing ${name} stays missing`);
  return `${normal.join("; ")}, by the request`;
}

// How far an answer is complete, in one or two sentences.
export function completenessWords(answer) {
  const { phase, summary, plans } = answer;
  const upTo = summary?.complete_up_to ?? answer.progress?.complete_up_to ?? 0;
  if (phase === "stopped") return `You stopped the search. ${certainty(upTo, plans)}`;
  if (phase === "cut") return `The connection was lost. ${certainty(upTo, plans)}`;
  if (!summary) return upTo > 0 ? certainty(upTo, plans) : "Searching.";
  if (summary.outcome === "already_favourable") return "Nothing has to change.";
  if (!summary.complete) return `${endWords(summary, plans)} ${certainty(upTo, plans)}`;
  return plans.length
    ? `Complete: there are no other minimal plans${mustHold(answer.start) ? " that hold" : ""}.`
    : "Complete: every permitted combination was tried.";
}

function certainty(upTo, plans) {
  if (upTo <= 0) return plans.length ? "More plans may exist." : "Plans may exist.";
  const size = counted(upTo, "change");
  const isThere = plans.some(({ changes }) => changes.length <= upTo);
  if (isThere) return `Every plan with up to ${size} is listed.`;
  return `No plan has ${size}${upTo > 1 ? " or fewer" : ""}.`;
}

function endWords({ stopped_by: stoppedBy }, plans) {
  switch (stoppedBy) {
    case "deadline":
      return "Time ran out.";
    case "max_counterfactuals":
      return `The search stopped after ${counted(plans.length, "plan")}, the most that were asked for.`;
    case "max_model_rows":
      return "The search reached its limit of combinations.";
    case "shutdown":
      return "The service shut down.";
    case null:
      return plans.length
        ? "These are all the plans, provided that one more change never hurts: the search assumed so."
        : "The search found none, but it assumed that one more change never hurts.";
    default:
      return "The search ended early.";
  }
}

export function costWords(answer) {
  if (!answer.summary) return seconds(answer.elapsed ?? 0);
  return `${seconds(answer.summary.elapsed_ms.total)}, ${counted(answer.summary.model_rows, "combination")} scored`;
}

// How an answer stands, in a few words.
export function headlineWords({ phase, plans, start, summary, problem }) {
  if (phase === "empty") return "Plans appear here once there are values to ask about.";
  if (phase === "incomplete") return "Some values are missing or need correcting.";
  if (phase === "refused") return refusalWords(problem);
  if (summary?.outcome === "already_favourable") return "Nothing has to change.";
  if (summary?.outcome === "no_recourse") return mustHold(start) ? "No plan holds." : "No plan changes the decision.";
  if (!plans.length) return isRunning(phase) ? "Searching…" : "No plan was found.";
  return `${counted(plans.length, "plan")}${isRunning(phase) ? " so far" : ""}`;
}

function refusalWords({ status, isPassing }) {
  if (status === 0) return "The service cannot be reached.";
  if (status === 401) return "A key is needed.";
  if (isPassing) return "The service is busy.";
  return status < 500 ? "The question was not accepted." : "The service failed.";
}

// For those who listen: the whole state in a sentence or two.
export function announcement(answer, start, goal) {
  if (answer.phase === "refused") return `${headlineWords(answer)} ${answer.problem.message}`;
  if (!start || !hasEnded(answer.phase)) return "";
  const { label, score, favourable } = start.prediction;
  const decision = `${label ?? "Value"} ${scoreText(score, goal)}, ${favourable ? "favourable" : "not favourable"}.`;
  return `${decision} ${headlineWords(answer)}. ${favourable ? "" : completenessWords(answer)}`.replaceAll("..", ".");
}
