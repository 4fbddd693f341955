// What the page says of statuses, decisions and the end of a search.

import { counted, scoreText, seconds, withUnit } from "./numbers.js";
import { hasEnded, isRunning } from "./state.js";

export const EARLIER = "Earlier answer, for other values:";

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
  missing: "and stays so unless if_missing says what it would become",
  at_target: "is at its target already",
  immutable: "is locked",
  direction: "would have to go the other way",
  max_step: "would have to move too far",
};

export function titles(model) {
  const byName = new Map(model.features.map((feature) => [feature.name, feature.title ?? feature.name]));
  return (name) => byName.get(name) ?? name;
}

export function whyNot(finding) {
  if (finding.value === null && ["direction", "max_step"].includes(finding.why_not))
    return "has no way or step that a rule could allow";
  return WHY_NOT[finding.why_not] ?? "";
}

// The normal range in words: "normal 35 to 53 g/L".
export function rangeWords({ low, high, allowed }, unit) {
  if (allowed?.length) return `normal: ${allowed.join(", ")}`;
  if (low !== null && low !== undefined && high !== null && high !== undefined)
    return low === high ? `normal ${withUnit(low, unit)}` : `normal ${low} to ${withUnit(high, unit)}`;
  if (high !== null && high !== undefined) return `normal up to ${withUnit(high, unit)}`;
  if (low !== null && low !== undefined) return `normal from ${withUnit(low, unit)}`;
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
  if (!target.classes) return { low: ends.low, high: ends.high, words: `must be ${intervalWords(ends)}` };
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
      words: `${wanted} must be ${low === null ? "scored higher" : "more likely"} than ${other}`,
    };
  }
  return { low, high: null, words: `${wanted} must be the most likely class` };
}

// How far inside the goal a score lies: what is best has most room.
export function roomInside(score, { low, high }) {
  if (low === null && high === null) return score;
  return Math.min(low === null ? Infinity : score - low, high === null ? Infinity : high - score);
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
  if (phase === "stopped") return `Stopped by you. ${certainty(upTo, plans)}`;
  if (phase === "cut") return `The answer broke off. ${certainty(upTo, plans)}`;
  if (!summary) return upTo > 0 ? certainty(upTo, plans) : "Searching.";
  if (summary.outcome === "already_favourable") return "Nothing has to change.";
  if (!summary.complete) return `${endWords(summary, plans)} ${certainty(upTo, plans)}`;
  return plans.length
    ? "Complete and exact: there are no other minimal plans."
    : "Complete and exact: every combination that is allowed was tried.";
}

function certainty(upTo, plans) {
  if (upTo <= 0) return plans.length ? "More plans may exist." : "Plans may exist.";
  const size = counted(upTo, "change");
  return plans.length ? `Every plan of at most ${size} is here.` : `There is no plan of at most ${size}.`;
}

function endWords({ stopped_by: stoppedBy }, plans) {
  switch (stoppedBy) {
    case "deadline":
      return "The time was over.";
    case "max_counterfactuals":
      return `Enough after ${counted(plans.length, "plan")}.`;
    case "max_model_rows":
      return "The budget of model rows was spent.";
    case "shutdown":
      return "The service was stopped.";
    case null:
      return plans.length
        ? "These are all the plans, if one more change never hurts: the search assumed that."
        : "The search ended, but it assumed that one more change never hurts.";
    default:
      return "The search ended early.";
  }
}

export function costWords(answer) {
  if (!answer.summary) return seconds(answer.elapsed ?? 0);
  return `${seconds(answer.summary.elapsed_ms.total)}, ${counted(answer.summary.model_rows, "combination")} scored`;
}

// How an answer stands, in a few words.
export function headlineWords({ phase, plans, summary, problem }) {
  if (phase === "empty") return "Plans appear here as soon as there is somebody to ask about.";
  if (phase === "incomplete") return "Some values have to be filled in or mended first.";
  if (phase === "refused") return refusalWords(problem);
  if (summary?.outcome === "already_favourable") return "The decision is favourable as it stands.";
  if (summary?.outcome === "no_recourse") return "No plan turns the decision.";
  if (!plans.length) return isRunning(phase) ? "Searching…" : "No plan was found.";
  return `${counted(plans.length, "plan")}${isRunning(phase) ? " so far" : ""}`;
}

function refusalWords({ status, isPassing }) {
  if (status === 0) return "The service could not be asked.";
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
