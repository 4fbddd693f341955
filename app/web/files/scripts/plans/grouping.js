// Plans by what they share: "all of these, and any two of those". Each group is counted out from the plans that are
// there; whether there are others is for the answer to say.

import { listed } from "../person/items.js";
import { counted } from "../numbers.js";

const MOST_GROUPS = 12;
const MOST_NAMED = 6;

// [{wanted, core, pool, any, count}]: `core` stands in every plan of the group; `any` is how many of `pool` come with
// it, or [least, most] if not every choice of so many is a plan. `wanted` is the filter that lists the group.
export function groupsOf(plans, most = MOST_GROUPS) {
  if (!plans.length) return [];
  const sets = plans.map(({ changes }) => changes.map(({ feature }) => feature));
  // Plans of the same features that go different steps: then counting shows nothing.
  const isCounted = new Set(sets.map((set) => set.join("\n"))).size === sets.length;
  const groups = [described(sets, {}, isCounted)];
  while (groups.length < most) {
    const place = largestMixed(groups);
    if (place < 0) break;
    groups.splice(place, 1, ...split(groups[place], isCounted));
  }
  return groups.map(({ sets, ...group }) => ({ ...group, count: sets.length }));
}

function described(sets, wanted, isCounted) {
  const counts = new Map();
  for (const set of sets) for (const name of set) counts.set(name, (counts.get(name) ?? 0) + 1);
  const core = [...counts.keys()].filter((name) => counts.get(name) === sets.length);
  const pool = [...counts.keys()].filter((name) => counts.get(name) < sets.length);
  pool.sort((one, other) => counts.get(other) - counts.get(one));
  const [least, larger] = sets.reduce(([low, high], { length }) => [Math.min(low, length), Math.max(high, length)], [Infinity, 0]);
  const isEvery = isCounted && least === larger && sets.length === choices(pool.length, least - core.length);
  return { sets, wanted, core, pool, any: isEvery ? least - core.length : [least - core.length, larger - core.length] };
}

function largestMixed(groups) {
  let [place, size] = [-1, 0];
  for (const [index, { any, pool, sets }] of groups.entries())
    if (Array.isArray(any) && pool.length && sets.length > size) [place, size] = [index, sets.length];
  return place;
}

// By what stands in most of them.
function split({ sets, wanted, pool: [first] }, isCounted) {
  const [have, lack] = [sets.filter((set) => set.includes(first)), sets.filter((set) => !set.includes(first))];
  return [described(have, { ...wanted, [first]: "with" }, isCounted), described(lack, { ...wanted, [first]: "without" }, isCounted)];
}

function choices(of, count) {
  let number = 1;
  for (let step = 1; step <= count; step += 1) number = (number * (of - count + step)) / step;
  return Math.round(number);
}

// "AST and one of albumin or total bilirubin"; "any 5 of 19 values".
export function groupWords({ core, pool, any }, names) {
  const named = core.map(names);
  if (!pool.length) return listed(named);
  const rest = `${amountWords(any)} of ${pool.length > MOST_NAMED ? counted(pool.length, "value") : either(pool.map(names))}`;
  if (!named.length) return `any ${rest}`;
  return `${listed(named)}${named.length > 1 ? "," : ""} and ${rest}`;
}

function amountWords(any) {
  if (!Array.isArray(any)) return any === 1 ? "one" : String(any);
  const [least, most] = any;
  return least === most ? String(least) : `${least} to ${most}`;
}

export function either(words) {
  return words.length < 2 ? words.join("") : `${words.slice(0, -1).join(", ")} or ${words.at(-1)}`;
}
