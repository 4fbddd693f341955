// The plans as they are listed: those that pass the filter, in the order that was chosen.

import { passesIn } from "./filtering.js";
import { own } from "../own.js";
import { stabilityKey } from "./stability.js";
import { roomInside } from "../words.js";

// What comes first; where that is the same, the order of the service.
export const SORTS = {
  size: ["Fewest changes first", (plan) => plan.changes.length],
  score: ["Best score first", (plan, goal) => -roomInside(plan.prediction.score, goal)],
  stability: ["Most stable first", stabilityKey],
  cost: ["Lowest cost first", (plan) => plan.cost],
};

export function ordered(plans, view, model, goal) {
  const [, key] = own(SORTS, view.sort) ?? SORTS.size;
  const keyed = plans.filter(passesIn(view, model)).map((plan) => [key(plan, goal), plan]);
  keyed.sort(([one, a], [other, b]) => one - other || a.rank - b.rank);
  return keyed.map(([, plan]) => plan);
}
