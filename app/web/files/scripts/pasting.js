// What somebody pastes: a request in JSON, an instance in JSON, or a row of a CSV file with or without its header.

import { parseNumber } from "./numbers.js";
import { requestFlaw } from "./request.js";

// {request} with what was understood and {remark}, or {flaw} with what to do about it. `known` are names of the context.
export function readPasted(text, model, known) {
  // Not tabs: behind the last of them may stand a value that is missing.
  const trimmed = text.replace(/^[\r\n ]+|[\r\n ]+$/g, "");
  if (!trimmed.trim()) return { flaw: "There is nothing to read yet." };
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
    return { flaw: "Paste one object: a request, or the values by feature." };
  const request = value.instance === undefined ? { instance: value } : value;
  const flaw = requestFlaw(request);
  if (flaw) return { flaw };
  const names = model.features.map((feature) => feature.name);
  const unknown = Object.keys(request.instance).filter((name) => !names.includes(name));
  if (unknown.length)
    return { flaw: `Not a feature of this model: ${unknown.join(", ")}. Known are ${names.join(", ")}.` };
  return { request, remark: count > 1 ? `${count} in the list: the first was taken.` : "" };
}

function readCsv(text, model, known) {
  const rows = cellsOf(text);
  if (!rows.length) return { flaw: "There is no value in it." };
  const hasHeader = rows[0].some((cell) => nameOf(cell, model, known) !== null);
  const names = hasHeader
    ? rows[0].map((cell) => nameOf(cell, model, known))
    : model.features.map((feature) => feature.name);
  const values = hasHeader ? rows[1] : rows[0];
  if (!values) return { flaw: "There is a header, but no row of values below it." };
  if (values.length !== names.length) {
    return {
      flaw: `The row has ${values.length} values, and ${names.length} were expected: ${names.filter(Boolean).join(", ")}.`,
    };
  }
  const request = { instance: {}, context: {} };
  for (const [index, name] of names.entries()) {
    if (name === null || values[index].trim() === "") continue;
    const feature = model.features.find((one) => one.name === name);
    const read = readCell(values[index].trim(), feature);
    if (read.flaw) return { flaw: `${name}: ${read.flaw}.` };
    (feature ? request.instance : request.context)[name] = read.value;
  }
  const count = rows.length - (hasHeader ? 1 : 0);
  const ignored = hasHeader ? rows[0].filter((_, index) => names[index] === null) : [];
  const remarks = [count > 1 && `${count} rows: the first was taken.`, ignored.length && `Not used: ${ignored.join(", ")}.`];
  return { request, remark: remarks.filter(Boolean).join(" ") };
}

function readCell(cell, feature) {
  if (feature?.type === "category") {
    const value = feature.categories.find((category) => String(category) === cell);
    return value === undefined ? { flaw: `must be one of ${feature.categories.join(", ")}` } : { value };
  }
  const read = parseNumber(/^[+-]?\d+,\d+$/.test(cell) ? cell.replace(",", ".") : cell, feature?.type === "integer");
  return read.flaw && !feature ? { value: cell } : read;
}

function nameOf(cell, model, known) {
  const wanted = cell.trim().toLowerCase();
  const feature = model.features.find((one) => [one.name, one.title].some((name) => name?.toLowerCase() === wanted));
  return feature?.name ?? known.find((name) => name.toLowerCase() === wanted) ?? null;
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
