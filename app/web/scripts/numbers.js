// Numbers as people write and read them.

export function parseNumber(text, whole = false) {
  const trimmed = text.trim();
  if (!/^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i.test(trimmed)) {
    const hint = /^[+-]?\d+,\d+$/.test(trimmed) ? `write ${trimmed.replace(",", ".")}` : "write a number such as 31.5";
    return { flaw: hint };
  }
  const value = Number(trimmed);
  if (!Number.isFinite(value)) return { flaw: "is too large" };
  if (whole && !Number.isInteger(value)) return { flaw: "write a whole number" };
  return { value };
}

// A score with three decimals, or as many as it takes not to look as if it stood on the other side of the threshold.
export function scoreText(score, threshold = null) {
  if (score === null) return "no score";
  if (threshold === null || score === threshold) return tidy(score.toFixed(3), score);
  for (let digits = 3; digits < 9; digits += 1) {
    const text = score.toFixed(digits);
    if (Math.sign(Number(text) - threshold) === Math.sign(score - threshold)) return tidy(text, score);
  }
  return String(score);
}

function tidy(text, score) {
  return Math.abs(score) >= 1000 ? String(Number(score.toPrecision(6))) : text;
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
