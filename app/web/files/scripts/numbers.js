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

// Begins with a comma that may be a point, or stand between thousands.
export const AMBIGUOUS = /^[+-]?[1-9]\d{0,2},\d{3}(?![\d,.])/;

// A value as it stands on a report: with its unit, in percent, with commas between thousands. What could mean two things
// is asked about, never guessed.
export function parseValue(text, { unit, ucum, type }) {
  const trimmed = text.trim();
  const whole = type === "integer";
  if (/^[<>≤≥]/.test(trimmed)) {
    const end = trimmed.replace(/^[<>≤≥=\s]+/, "");
    return { flaw: `is a limit, not a value: write the number to use${end && `, such as ${end}`}` };
  }
  const isPercent = trimmed.endsWith("%");
  const bare = withoutUnit(isPercent ? trimmed.slice(0, -1).trim() : trimmed, unit, ucum);
  const [, other] = OTHER_UNIT.exec(bare) ?? [];
  if (other) return { flaw: unit && unit !== "1" ? `must be in ${unit}, not ${other}` : `must be a number alone, without ${other}` };
  const { value, flaw } = parseNumber(grouped(bare), whole);
  const [unclear] = AMBIGUOUS.exec(bare) ?? [];
  if (flaw && unclear) return { flaw: `can mean two things: write ${unclear.replace(",", "")} or ${unclear.replace(",", ".")}` };
  if (flaw || !isPercent || unit === "%") return flaw ? { flaw } : { value };
  return unit === "1" ? { value: Number((value / 100).toPrecision(15)) } : { flaw: "is not a percentage: leave out the %" };
}

// What stands behind a number.
const OTHER_UNIT = /^[+-]?[\d.,]+(?:e[+-]?\d+)?\s*(?!e[+-]?\d)([a-zµμ°/[(].*)$/i;

// A unit that begins with a digit, such as 1, could be the end of the number.
function withoutUnit(text, unit, ucum) {
  const plain = (written) => written.toLowerCase().replace(/[µμ]/g, "u");
  // Of enzymes, U and IU are one unit; UCUM's code tells them from the hormones, whose IU it writes as [IU].
  const known = [unit ?? "", /^k?U\/L$/.test(ucum ?? "") ? ucum.replace("U", "IU") : ""].map(plain);
  const stands = (one) => plain(text).endsWith(one) && !/[a-z]/.test(plain(text).at(-one.length - 1) ?? "");
  const end = known.find((one) => /^\D/.test(one) && stands(one));
  return end ? text.slice(0, -end.length).trim() : text;
}

// Commas between thousands, where a point behind them or another comma shows what they are.
function grouped(text) {
  return /^[+-]?[1-9]\d{0,2}((,\d{3})+\.\d+|(,\d{3}){2,})$/.test(text) ? text.replaceAll(",", "") : text;
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
  if (!unit || unit === "1" || value === null) return text;
  return unit === "%" ? `${text}%` : `${text} ${unit}`;
}

export function seconds(milliseconds) {
  return milliseconds < 1000 ? `${Math.round(milliseconds)} ms` : `${(milliseconds / 1000).toFixed(1)} s`;
}

export function counted(count, one, many = `${one}s`) {
  return `${count.toLocaleString("en")} ${count === 1 ? one : many}`;
}
