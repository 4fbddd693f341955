// The constraints of a request, item by item. An item goes by its path, as in the service's answers: immutable[0],
// directions.ALT, max_changes.

import { own, without } from "../own.js";

const isText = (value) => typeof value === "string";
const isTexts = (value) => Array.isArray(value) && value.every(isText);
const isTable = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
const isEffect = (value) => isText(value) || (isTable(value) && isText(value.feature));
// The feature of an effect: one that is normal afterwards, or one that moves along.
const nameOf = (effect) => effect.feature ?? effect;

// In the order in which they are listed; how an item of each must look.
const LISTS = {
  immutable: isText,
  causal: (value) => isTable(value) && isText(value.cause) && Array.isArray(value.effects) && value.effects.every(isEffect),
  correlated: isTexts,
  exclusive: isTexts,
  required: isText,
  formulas: isText,
  relations: isText,
};
const TABLES = ["directions", "max_step"];
const KINDS = [
  ...["immutable", "directions", "max_step", "causal", "correlated"],
  ...["exclusive", "required", "max_changes", "formulas", "relations"],
];

// What is wrong with the form of constraints that came from elsewhere; null if nothing is.
export function flawOf(constraints) {
  if (!isTable(constraints)) return "“constraints” must be an object.";
  for (const [kind, value] of Object.entries(constraints)) {
    if (!KINDS.includes(kind)) return `“constraints.${kind}” is not known; there are ${KINDS.join(", ")}.`;
    if (value === null) continue;
    if (TABLES.includes(kind) && !isTable(value)) return `“constraints.${kind}” must be an object by feature.`;
    if (own(LISTS, kind) && !(Array.isArray(value) && value.every(LISTS[kind])))
      return `“constraints.${kind}” is not a list of the right form; see the documentation of constraints.`;
  }
  return null;
}

export function itemPaths(constraints) {
  return KINDS.flatMap((kind) => {
    const value = constraints[kind];
    if (value === undefined || value === null) return [];
    if (own(LISTS, kind)) return value.map((_, index) => `${kind}[${index}]`);
    return TABLES.includes(kind) ? Object.keys(value).map((name) => `${kind}.${name}`) : [kind];
  });
}

// [kind, index or name, what stands there] of a path; the last is undefined where there is nothing.
function itemAt(constraints, path) {
  const inList = path.match(/^(\w+)\[(\d+)\]$/);
  if (inList) return [inList[1], Number(inList[2]), constraints[inList[1]]?.[inList[2]]];
  const dot = path.indexOf(".");
  if (dot < 0) return [path, null, constraints[path]];
  const [kind, name] = [path.slice(0, dot), path.slice(dot + 1)];
  return [kind, name, own(constraints[kind], name)];
}

export function withoutItems(constraints, paths) {
  const dropped = new Set(paths);
  const left = {};
  for (const [kind, value] of Object.entries(constraints)) {
    if (value === null || dropped.has(kind)) continue;
    if (own(LISTS, kind)) left[kind] = value.filter((_, index) => !dropped.has(`${kind}[${index}]`));
    else if (TABLES.includes(kind))
      left[kind] = Object.fromEntries(Object.entries(value).filter(([name]) => !dropped.has(`${kind}.${name}`)));
    else left[kind] = value;
  }
  return withoutEmpty(left);
}

export function withItem(constraints, kind, value) {
  return { ...constraints, [kind]: [...(constraints[kind] ?? []), value] };
}

export function withEntry(constraints, kind, name, value) {
  const others = without(constraints[kind] ?? {}, name);
  return withoutEmpty({ ...constraints, [kind]: value === null ? others : { ...others, [name]: value } });
}

export function withoutEmpty(fields) {
  return Object.fromEntries(
    Object.entries(fields).filter(([, value]) => {
      if (value === null || value === undefined) return false;
      return typeof value !== "object" || Object.keys(value).length > 0;
    }),
  );
}

// What an item says, in words. `titled` gives the title of a feature.
export function itemWords(constraints, path, titled) {
  const [kind, place, value] = itemAt(constraints, path);
  if (value === undefined) return path;
  switch (kind) {
    case "immutable":
      return `${titled(value)} cannot change`;
    case "required":
      return `${titled(value)} must end up in its range`;
    case "directions":
      return `${titled(place)} may only go ${value === "increase" ? "up" : "down"}`;
    case "max_step":
      return `${titled(place)} may move by at most ${value}`;
    case "causal":
      return `changing ${titled(value.cause)} also changes ${listed(value.effects.map((effect) => titled(nameOf(effect))))}`;
    case "correlated":
      return `${listed(value.map(titled))} change together or not at all`;
    case "exclusive":
      return `at most one of ${listed(value.map(titled))} changes`;
    case "max_changes":
      return `at most ${value} ${value === 1 ? "change" : "changes"}`;
    case "relations":
      return `always ${value}`;
    default:
      return `formula: ${value}`;
  }
}

// The features without a range for which an item has no effect; none where it has one.
export function idlersOf(constraints, path, hasRange) {
  const [kind, place, value] = itemAt(constraints, path);
  const without = (names) => names.filter((name) => !hasRange(name));
  switch (kind) {
    case "immutable":
    case "required":
      return without([value]);
    case "directions":
    case "max_step":
      return without([place]);
    case "causal":
      if (!hasRange(value.cause)) return [value.cause];
      if (value.effects.some((effect) => isTable(effect) || hasRange(effect))) return [];
      return value.effects;
    case "correlated":
    case "exclusive":
      return value.filter(hasRange).length < 2 ? without(value) : [];
    default:
      return [];
  }
}

// What a button that gives an item up says.
export function dropWords(constraints, path, titled) {
  const [kind, place, value] = itemAt(constraints, path);
  switch (value === undefined ? null : kind) {
    case "immutable":
      return `Unlock ${titled(value)}`;
    case "directions":
      return `Let ${titled(place)} go either way`;
    case "max_step":
      return `Let ${titled(place)} move further`;
    case "max_changes":
      return "Allow any number of changes";
    default:
      return `Drop “${itemWords(constraints, path, titled)}”`;
  }
}

export function listed(words) {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} and ${words.at(-1)}`;
}
