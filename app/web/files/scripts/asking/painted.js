// Marks on the browser's own clock when something was first seen, for measurements.

export function markPainted(what) {
  const name = `flipset:${what}`;
  // Behind the frame in which it is painted.
  requestAnimationFrame(() => setTimeout(() => performance.getEntriesByName(name).length || performance.mark(name)));
}
