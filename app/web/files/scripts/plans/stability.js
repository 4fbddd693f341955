// Whether a plan holds: when values are measured again, for other models, and if more improves than planned.

import { listed } from "../person/items.js";

// {sign, words, holds} for each thing that an answer tells of a plan; none where it tells nothing.
export function marksOf({ stability }, names) {
  if (!stability) return [];
  return [...measured(stability), ...others(stability), ...furtherMarks(stability, names)];
}

// Plans that were not looked at come last.
export function stabilityKey({ stability }) {
  return -(stability?.share ?? -1);
}

// Whether the answer lists only plans that hold; others may change the decision all the same.
export function mustHold(start) {
  const asked = start?.robustness;
  return Boolean(asked) && (asked.require !== null || asked.more === "require");
}

function measured({ share, draws, certified }) {
  if (typeof share !== "number") return [];
  const count = Math.round(share * draws);
  const holds = share >= 0.95;
  return [{ sign: holds ? "✓" : "~", holds, words: `holds in ${count} of ${draws} repeated measurements${proved(certified, count === draws)}` }];
}

// A share of all says less than a proof does, and may hide a measurement that breaks the plan.
function proved(certified, inAll) {
  if (certified) return ", and is proved for every error up to three standard deviations";
  return certified === false && inAll ? ", but not for every error up to three standard deviations" : "";
}

function others({ models }) {
  return models.map(({ name, label, favourable }) =>
    favourable
      ? { sign: "✓", holds: true, words: `${name} also says ${label ?? "so"}` }
      : { sign: "✕", holds: false, words: `not for ${name}${label === null ? "" : `, which says ${label}`}` },
  );
}

function furtherMarks({ more }, names) {
  if (!more || more.holds) return [];
  const verb = more.breaks_with.length > 1 ? "improve" : "improves";
  return [{ sign: "✕", holds: false, words: `undone if ${listed(more.breaks_with.map(names))} ${verb} too` }];
}
