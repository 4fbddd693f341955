// JSON lines from a stream. Long answers are taken in small portions, so that the page can be used meanwhile.

const PORTION_MS = 12;

export async function readLines(stream, onLine) {
  const reader = stream.pipeThrough(new TextDecoderStream()).getReader();
  let rest = "";
  let began = performance.now();
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    const lines = (rest + value).split("\n");
    rest = lines.pop();
    for (const line of lines) {
      if (line) onLine(JSON.parse(line));
      if (performance.now() - began > PORTION_MS) {
        await nextTurn();
        began = performance.now();
      }
    }
  }
  if (rest.trim()) onLine(JSON.parse(rest));
}

function nextTurn() {
  return new Promise((resolve) => setTimeout(resolve));
}
