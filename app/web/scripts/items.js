// The constraints of a request, item by item. An item goes by its path, as in the service's answers: immutable[0],
// directions.ALT, max_changes.

const LISTS = ["immutable", "required", "causal", "correlated", "exclusive", "formulas"];
const TABLES = ["directions", "max_step"];

export function itemPaths(constraints) {
  const paths = [];
  for (const kind of [
    "immutable",
    "directions",
    "max_step",
    "causal",
    "correlated",
    "exclusive",
    "required",
    "max_changes",
    "formulas",
  ]) {
    const value = constraints[kind];
    if (value === undefined || value === null) continue;
    if (LISTS.includes(kind)) value.forEach((_, index) => paths.push(`${kind}[${index}]`));
    else if (TABLES.includes(kind)) Object.keys(value).forEach((name) => paths.push(`${kind}.${name}`));
    else paths.push(kind);
  }
  return paths;
}

// [kind, index or name] of a path.
function partsOf(path) {
  const inList = path.match(/^(\w+)\[(\d+)\]$/);
  if (inList) return [inList[1], Number(inList[2])];
  const dot = path.indexOf(".");
  return dot < 0 ? [path, null] : [path.slice(0, dot), path.slice(dot + 1)];
}

export function withoutItems(constraints, paths) {
  const dropped = new Set(paths);
  const left = {};
  for (const [kind, value] of Object.entries(constraints)) {
    if (value === null || dropped.has(kind)) continue;
    if (LISTS.includes(kind)) left[kind] = value.filter((_, index) => !dropped.has(`${kind}[${index}]`));
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
  const { [name]: _, ...others } = constraints[kind] ?? {};
  return withoutEmpty({ ...constraints, [kind]: value === null ? others : { ...others, [name]: value } });
}

export function withoutEmpty(constraints) {
  return Object.fromEntries(
    Object.entries(constraints).filter(([, value]) => {
      if (value === null || value === undefined) return false;
      return typeof value !== "object" || Object.keys(value).length > 0;
    }),
  );
}

// What an item says, in words. `titled` gives the title of a feature.
export function itemWords(constraints, path, titled) {
  const [kind, place] = partsOf(path);
  const value = place === null ? constraints[kind] : constraints[kind]?.[place];
  if (value === undefined) return path;
  switch (kind) {
    case "immutable":
      return `${titled(value)} cannot change`;
    case "required":
      return `${titled(value)} must be normal afterwards`;
    case "directions":
      return `${titled(place)} may only go ${value === "increase" ? "up" : "down"}`;
    case "max_step":
      return `${titled(place)} may move by at most ${value}`;
    case "causal":
      return `${titled(value.cause)} brings ${listed(value.effects.map(titled))} with it`;
    case "correlated":
      return `${listed(value.map(titled))} move together`;
    case "exclusive":
      return `at most one of ${listed(value.map(titled))} changes`;
    case "max_changes":
      return `at most ${value} ${value === 1 ? "change" : "changes"}`;
    default:
      return `formula: ${value}`;
  }
}

// What a button that gives an item up says.
export function dropWords(constraints, path, titled) {
  const [kind, place] = partsOf(path);
  const value = place === null ? constraints[kind] : constraints[kind]?.[place];
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
