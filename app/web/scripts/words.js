// What the page says of statuses, decisions and the end of a search.

import { counted, scoreText, seconds, withUnit } from "./numbers.js";

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
  missing: "is missing, and stays so",
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
  if (!target.classes) return { low: target.low, high: target.high, words: `must be ${intervalWords(target)}` };
  const wanted = target.classes.join(" or ");
  if (target.threshold !== null)
    return { low: target.threshold, high: null, words: `${wanted} needs a score of at least ${target.threshold}` };
  const others = classes.filter((one) => !target.classes.includes(one));
  // Only of two shares of a whole is it known where the one overtakes the other.
  if (classes.length === 2 && givesShares)
    return { low: 0.5, high: null, words: `${wanted} must be more likely than ${others[0]}` };
  return { low: null, high: null, words: `${wanted} must score higher than ${others.join(" and ")}` };
}

function intervalWords({ low, high }) {
  if (low === null) return `at most ${high}`;
  return high === null ? `at least ${low}` : `from ${low} to ${high}`;
}

export function changeWords(change) {
  const way = { increase: "raise", decrease: "lower" }[change.direction] ?? "change";
  return `${way} ${change.title ?? change.feature} from ${change.from} to ${withUnit(change.to, change.unit)}`;
}

export const ARROWS = { increase: "↑", decrease: "↓" };

// How far an answer is complete, in one or two sentences.
export function completenessWords(answer) {
  const { phase, summary, progress, plans } = answer;
  const upTo = summary?.complete_up_to ?? progress?.complete_up_to ?? 0;
  const certain = upTo > 0 ? `Every plan of at most ${counted(upTo, "change")} is here.` : "";
  if (phase === "stopped") return `Stopped by you. ${certain || "More plans may exist."}`;
  if (phase === "cut") return `The answer broke off. ${certain || "More plans may exist."}`;
  if (!summary) return upTo > 0 ? `Every plan of at most ${counted(upTo, "change")} is here so far.` : "Searching.";
  if (summary.outcome === "already_favourable") return "Nothing has to change.";
  if (summary.complete && summary.guarantee === "exact") {
    return plans.length
      ? "Complete and exact: there are no other minimal plans."
      : "Complete and exact: every combination was tried.";
  }
  if (summary.complete) return `Complete if the model is monotone; for any model up to ${counted(upTo, "change")}.`;
  const why =
    {
      deadline: "The time was over.",
      max_counterfactuals: `Enough after ${counted(plans.length, "plan")}.`,
      max_model_rows: "The budget of model rows was spent.",
      shutdown: "The service was stopped.",
    }[summary.stopped_by] ?? "The search ended early.";
  return `${why} ${certain || "More plans may exist."}`;
}

export function costWords(answer) {
  if (!answer.summary) return seconds(answer.elapsed ?? 0);
  return `${seconds(answer.summary.elapsed_ms.total)}, ${counted(answer.summary.model_rows, "combination")} scored`;
}

// For those who listen: the whole state in a sentence or two.
export function announcement(answer, start, goal) {
  if (answer.phase === "refused") return `The question was refused. ${answer.problem.message}`;
  if (!start || !["done", "stopped", "cut"].includes(answer.phase)) return "";
  const { label, score, favourable } = start.prediction;
  const decision = `${label ?? "Value"} ${scoreText(score, goal.low)}, ${favourable ? "favourable" : "not favourable"}.`;
  if (favourable) return `${decision} Nothing has to change.`;
  if (answer.summary?.outcome === "no_recourse") return `${decision} No plan turns it.`;
  return `${decision} ${counted(answer.plans.length, "plan")}. ${completenessWords(answer)}`;
}
