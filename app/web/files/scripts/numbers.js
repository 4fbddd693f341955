// Numbers as people write and read them.

export function parseNumber(text, whole = false, example = "31.5") {
  const trimmed = text.trim();
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(trimmed)) {
    const hint = /^[+-]?\d+,\d+$/.test(trimmed) ? `write ${trimmed.replace(",", ".")}` : `write a number such as ${example}`;
    return { flaw: hint };
  }
  const value = Number(trimmed);
  if (!Number.isFinite(value)) return { flaw: "is too large" };
  if (whole && !Number.isInteger(value)) return { flaw: "write a whole number" };
  return { value };
}

// A score with three decimals, or as many as it takes not to look as if it stood on the other side of an end of the goal.
export function scoreText(score, { low = null, high = null } = {}) {
  if (score === null) return "no score";
  const ends = [low, high].filter((end) => end !== null);
  for (let digits = 3; digits < 12; digits += 1) {
    const text = rounded(score, digits);
    if (ends.every((end) => Math.sign(Number(text) - end) === Math.sign(score - end))) return beyondNought(score, text);
  }
  return String(score);
}

// A small score is not nought.
function beyondNought(score, text) {
  if (score === 0 || Number(text) !== 0) return text;
  const least = `${text.replace("-", "").slice(0, -1)}1`;
  return score > 0 ? `< ${least}` : `> -${least}`;
}

function rounded(score, digits) {
  return Math.abs(score) < 1000 ? score.toFixed(digits) : String(Number(score.toPrecision(digits + 3)));
}

export function withUnit(value, unit) {
  const text = value === null ? "missing" : String(value);
  return !unit || unit === "1" || value === null ? text : `${text} ${unit}`;
}

export function seconds(milliseconds) {
  return milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}

export function counted(count, one, many = `${one}s`) {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}
