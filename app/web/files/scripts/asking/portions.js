// Long answers are taken in small portions, so that the page can be used meanwhile.

const PORTION_MS = 12;

export async function inPortions(lines, take) {
  let began = performance.now();
  for await (const line of lines) {
    take(line);
    if (performance.now() - began > PORTION_MS) {
      await nextTurn();
      began = performance.now();
    }
  }
}

function nextTurn() {
  return new Promise((resolve) => setTimeout(resolve));
}
