// Which plans are listed: by what changes in them, by words, or by a circle of the picture.

import { listed } from "../person/items.js";
import { counted, scoreText } from "../numbers.js";

// `wanted` is {feature: "with" or "without"}, `band` {size, low, high} of a number of changes and a score.
export const NO_FILTER = Object.freeze({ wanted: {}, search: "", band: null });

export function isFiltered({ wanted, search, band }) {
  return Object.keys(wanted).length > 0 || search.trim() !== "" || band !== null;
}

// Whether a plan passes.
export function passesIn({ wanted, search, band }, { features }) {
  const entries = Object.entries(wanted);
  const texts = new Map(features.map(({ name, title, short }) => [name, [name, title, short].join(" ").toLowerCase()]));
  const sought = search.toLowerCase().split(/[\s,]+/).filter(Boolean);
  const holds = ({ changes }, word) => changes.some(({ feature }) => texts.get(feature)?.includes(word));
  return (plan) =>
    entries.every(([name, how]) => plan.changes.some(({ feature }) => feature === name) === (how === "with")) &&
    sought.every((word) => holds(plan, word)) &&
    (band === null || isIn(plan, band));
}

function isIn({ changes, prediction: { score } }, { size, low, high }) {
  return changes.length === size && score >= low && score <= high;
}

// What a filter asks for: ["with AST", "that change “alb”"].
export function filterParts({ wanted, search, band }, names) {
  const parts = Object.entries(wanted).map(([name, how]) => `${how} ${names(name)}`);
  if (search.trim()) parts.push(`that change “${search.trim()}”`);
  if (band) parts.push(`of ${counted(band.size, "change")} with a score from ${scoreText(band.low)} to ${scoreText(band.high)}`);
  return parts;
}

// Which of the plans are listed, and why not the others.
export function filterWords(some, all, view, names) {
  return `${some.length.toLocaleString("en")} of ${counted(all.length, "plan")} shown: only those ${listed(filterParts(view, names))}`;
}
