// What makes a plan the same in two answers: the features that it changes, and how many steps each goes.

export function planKey({ changes }) {
  return JSON.stringify(changes.map(({ feature, step, steps }) => (steps > 1 ? `${feature}: ${step}` : feature)));
}
