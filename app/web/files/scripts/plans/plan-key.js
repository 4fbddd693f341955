// What makes a plan the same in two answers: the features that it changes, and how many steps each goes.

export function planKey({ changes }) {
  return JSON.stringify(changes.map(({ feature, step, steps }) => (steps > 1 ? `${feature}: ${step}` : feature)));
}

// The kept plans, as an answer has them; of one that it does not list, as it was when it was kept.
export function keptAmong(plans, kept) {
  const listed = new Map(plans.map((plan) => [planKey(plan), plan]));
  return kept.map(({ key, name, plan }) => ({ name, plan: listed.get(key) ?? plan, isListed: listed.has(key) }));
}
