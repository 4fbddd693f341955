// What somebody pastes: a request in JSON, an instance in JSON, or a row of a CSV file with or without its header.

import { AMBIGUOUS, counted, parseNumber, parseValue } from "../numbers.js";
import { requestFlaw } from "./request.js";

// {request} with what was understood and {remark}, or {flaw} with what to do about it. `known` are the fields of the context.
export function readPasted(text, model, known) {
  // Not tabs: behind the last of them may stand a value that is missing.
  const trimmed = text.replace(/^[\r\n ]+|[\r\n ]+$/g, "");
  if (!trimmed.trim()) return { flaw: "Paste something first." };
  return trimmed.startsWith("{") || trimmed.startsWith("[") ? readJson(trimmed, model) : readCsv(trimmed, model, known);
}

function readJson(text, model) {
  let value;
  try {
    value = JSON.parse(text);
  } catch (error) {
    return { flaw: `This is not valid JSON: ${error.message}.` };
  }
  const count = Array.isArray(value) ? value.length : 1;
  if (Array.isArray(value)) [value] = value;
  if (typeof value !== "object" || value === null)
    return { flaw: "Paste one object: a request, or values by name." };
  const request = value.instance === undefined ? { instance: value } : value;
  const flaw = requestFlaw(request);
  if (flaw) return { flaw };
  const names = model.features.map((feature) => feature.name);
  const unknown = Object.keys(request.instance).filter((name) => !names.includes(name));
  if (unknown.length)
    return { flaw: `This model does not know ${unknown.join(", ")}. It knows ${names.join(", ")}.` };
  return { request, remark: count > 1 ? `The list has ${count} entries; the page took the first.` : "" };
}

// Lines of a name and a value each, as they stand on a report: "ALT 88 U/L".
function readColumn(text, model, known) {
  const lines = text.split(/\r?\n/).filter((line) => line.trim());
  const read = lines.map((line) => nameAndValue(line, model, known));
  if (lines.length < 2 || read.filter(Boolean).length < Math.max(2, lines.length / 2)) return null;
  const request = { instance: {}, context: {} };
  const isNumber = (name) => model.features.find((one) => one.name === name)?.type !== "category";
  const values = read.filter(Boolean).map(([name, cell]) => [name, cell, isNumber(name) ? withoutReference(cell) : cell]);
  const twice = repeated(values.map(([name]) => name));
  if (twice) return { flaw: twice };
  for (const [name, , value] of values) {
    const flaw = put(request, name, value, model, known);
    if (flaw) return { flaw };
  }
  const ignored = lines.filter((_, index) => !read[index]).map((line) => line.trim());
  const isBare = values.every(([, cell, value]) => cell === value);
  const remarks = [ignored.length && `Not used: ${ignored.join("; ")}.`, !isBare && "Ranges and marks of the report were not used."];
  return { request, remark: remarks.filter(Boolean).join(" ") };
}

// Which of two values is meant, nobody can tell.
function repeated(names) {
  const name = names.find((one, place) => one !== null && names.indexOf(one) !== place);
  return name && `${name} is there twice: leave the value that you want.`;
}

// A report has ranges and marks behind its values: "45 U/L 10-35 H" is 45 U/L. A lone L behind a number could be litres.
const MARK = String.raw`\s+(?:\*+|HH?|LL?|\((?:HH?|LL?)\)|high|low|normal)`;
const RANGE = String.raw`\s+(?:[[(]\s*)?(?:[\d.,]+\s*(?:[-–]|to)\s*|[<>≤≥]=?\s*)[\d.,]+(?:\s*[\])])?`;
const BEHIND = [
  new RegExp(String.raw`^([<>≤≥]?[+-]?[\d.,]+(?:\s.*)?)${RANGE}(?:${MARK})?$`),
  new RegExp(String.raw`^([+-]?[\d.,]+(?:\s+\S*[a-zA-Zµμ%°]\S*)+)${MARK}$`),
  new RegExp(String.raw`^([+-]?[\d.,]+)(?!\s+L$)${MARK}$`),
];

function withoutReference(cell) {
  return BEHIND.reduce((text, pattern) => text.replace(pattern, "$1"), cell);
}

// The longest beginning of the line that is a name.
function nameAndValue(line, model, known) {
  const words = line.trim().split(/[\t;:=]+|\s+/).filter(Boolean);
  for (let count = words.length - 1; count > 0; count -= 1) {
    const name = nameOf(words.slice(0, count).join(" "), model, known);
    if (name !== null) return [name, words.slice(count).join(" ")];
  }
  return null;
}

// What is wrong with a value; null, and it is put where it belongs, if nothing is.
function put(request, name, cell, model, known) {
  const feature = model.features.find((one) => one.name === name);
  const read = feature ? readCell(cell, feature) : { value: contextValue(cell, known.get(name)) };
  if (read.flaw) return `${name}: ${/^(write|must)/.test(read.flaw) ? "" : `“${cell}” `}${read.flaw}.`;
  (feature ? request.instance : request.context)[name] = read.value;
  return null;
}

// `F` is female where only one of the values that a range knows begins so; an age may be in years.
function contextValue(cell, { values }) {
  const fitting = values.filter((value) => typeof value === "string" && value.toLowerCase().startsWith(cell.toLowerCase()));
  if (fitting.length === 1) return fitting[0];
  const bare = cell.replace(/\s*(?:years?|yrs?|y\/?o|y)\.?(?: old)?$/i, "");
  const { value, flaw } = parseNumber(/^[+-]?\d+,\d+$/.test(bare) ? bare.replace(",", ".") : bare);
  return flaw ? cell : value;
}

function readCsv(text, model, known) {
  const column = readColumn(text, model, known);
  if (column) return column;
  const rows = cellsOf(text);
  if (!rows.length) return { flaw: "There is no value in it." };
  const hasHeader = rows[0].some((cell) => nameOf(cell, model, known) !== null);
  const names = hasHeader
    ? rows[0].map((cell) => nameOf(cell, model, known))
    : model.features.map((feature) => feature.name);
  const values = hasHeader ? rows[1] : rows[0];
  if (!values) return { flaw: "There is a header, but no row of values below it." };
  if (values.length !== names.length)
    return { flaw: `The row has ${counted(values.length, "value")}, and ${names.length} were expected: ${names.filter(Boolean).join(", ")}.` };
  const twice = repeated(names);
  if (twice) return { flaw: twice };
  const request = { instance: {}, context: {} };
  for (const [index, name] of names.entries()) {
    if (name === null || values[index].trim() === "") continue;
    const flaw = put(request, name, values[index].trim(), model, known);
    if (flaw) return { flaw };
  }
  const count = rows.length - (hasHeader ? 1 : 0);
  const ignored = hasHeader ? rows[0].filter((_, index) => names[index] === null) : [];
  const remarks = [count > 1 && `There are ${count} rows; the page took the first.`, ignored.length && `Not used: ${ignored.join(", ")}.`];
  return { request, remark: remarks.filter(Boolean).join(" ") };
}

function readCell(cell, feature) {
  if (feature.type === "category") {
    const value = feature.categories.find((category) => String(category) === cell);
    return value === undefined ? { flaw: `must be one of ${feature.categories.join(", ")}` } : { value };
  }
  const hasDecimalComma = /^[+-]?\d+,\d+(?![\d,.])/.test(cell) && !AMBIGUOUS.test(cell);
  return parseValue(hasDecimalComma ? cell.replace(",", ".") : cell, feature);
}

function nameOf(cell, model, known) {
  const wanted = cell.trim().toLowerCase();
  const feature = model.features.find((one) =>
    [one.name, one.title, one.short].some((name) => name?.toLowerCase() === wanted),
  );
  return feature?.name ?? [...known.keys()].find((name) => name.toLowerCase() === wanted) ?? null;
}

// Rows of cells. Commas separate them only where there is no tab and no semicolon: beside those they stand in numbers.
function cellsOf(text) {
  const first = text.split("\n", 1)[0];
  const separator = ["\t", ";"].find((one) => first.includes(one)) ?? ",";
  const rows = [[""]];
  let quoted = false;
  for (let place = 0; place < text.length; place += 1) {
    const letter = text[place];
    const row = rows.at(-1);
    if (letter === '"' && quoted && text[place + 1] === '"') {
      row[row.length - 1] += '"';
      place += 1;
    } else if (letter === '"') quoted = !quoted;
    else if (!quoted && letter === separator) row.push("");
    else if (!quoted && letter === "\n") rows.push([""]);
    else if (letter !== "\r") row[row.length - 1] += letter;
  }
  return rows.filter((row) => row.some((cell) => cell.trim()));
}
