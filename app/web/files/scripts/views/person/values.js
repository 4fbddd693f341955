// The form: every feature of the model.

import { button, h } from "../../elements.js";
import { own } from "../../own.js";
import { hasRange, registryOf } from "../../person/request.js";
import { standing } from "../../person/standing.js";
import { fieldWords, rangeWord } from "../../words.js";
import { featureRow } from "./feature-row.js";

const LEGEND = "▼ low, ● normal, ▲ high, ✕ not allowed, ○ no known range. ◇ target. ≫ off the scale. Green band:";

// Of more values than that only the abnormal ones are shown at first.
const MOST_UNFOLDED = 15;

export function showValues(section, store, actions, openRule, tryOut) {
  const list = h("ol", { class: "features" });
  const abnormal = button("", () => actions.changeView({ onlyAbnormal: !isFolded(store.get()) }), { class: "fold" });
  const whatIf = button("What if…", tryOut, { class: "fold", hidden: true });
  const sources = h("ul");
  const cited = h("details", { class: "sources", hidden: true }, h("summary", {}, "Sources of these ranges"), sources);
  const legend = h("p", { class: "legend" });
  section.append(h("div", { class: "row" }, legend, abnormal, whatIf), list, cited);
  let rows = [];

  store.watch(
    (state) => [state.model],
    (model) => {
      rows = model ? model.features.map((feature) => featureRow(feature, rangeWord(model), actions, openRule)) : [];
      list.replaceChildren(...rows.map(({ row }) => row));
      legend.textContent = `${LEGEND} ${fieldWords(model).range}.`;
    },
  );

  store.watch(
    (state) => [
      ...[state.model, state.instance, state.texts, state.flaws],
      ...[state.start, state.question, state.registry, state.answer.problem, state.context],
    ],
    () => {
      const state = store.get();
      const findings = new Map((state.start?.features ?? []).map((finding) => [finding.name, finding]));
      for (const { show, feature } of rows) show(rowState(feature, findings.get(feature.name), state));
      const said = citations(state, findings);
      cited.hidden = !said.length;
      sources.replaceChildren(...said.map((words) => h("li", {}, words)));
    },
  );

  store.watch(
    (state) => [state.model, state.start, state.view.onlyAbnormal, state.flaws, state.texts, state.answer.problem, state.answer.phase],
    () => {
      const state = store.get();
      const folded = isFolded(state);
      const hidden = rows.filter(({ row }) => isDull(row));
      // Values cannot be tried while some are missing or wrong.
      whatIf.hidden = !state.start || !state.answer.request;
      abnormal.hidden = !state.start || !hidden.length;
      abnormal.textContent = folded ? `Show all ${rows.length} values` : "Show abnormal values only";
      for (const { row } of rows) row.hidden = folded && hidden.some((one) => one.row === row);
    },
  );
}

// A long form folds once there is an answer. If you unfold it, it stays open.
function isFolded({ model, start, view }) {
  if (!start || !model) return false;
  return view.onlyAbnormal ?? model.features.length > MOST_UNFOLDED;
}

// What is normal, has no flaw and is not being written.
function isDull(row) {
  return row.dataset.status === "normal" && !row.querySelector('[aria-invalid="true"]') && !row.contains(document.activeElement);
}

// Each source once, with the values whose ranges it gives.
function citations(state, findings) {
  const bySource = new Map();
  for (const { name } of state.model?.features ?? []) {
    const source = sourceOf(name, findings.get(name), state);
    if (source) bySource.set(source, [...(bySource.get(source) ?? []), name]);
  }
  return [...bySource].map(([source, names]) => `${names.join(", ")}: ${source}`);
}

function rowState(feature, finding, state) {
  const { model, instance, texts, flaws, question, registry, answer } = state;
  const { name } = feature;
  const [value, written] = [own(instance, name), own(texts, name)];
  const always = standing(model, registry);
  const isLocked = (question.constraints.immutable ?? []).includes(name);
  return {
    value,
    text: written?.text,
    flawText: written?.flaw ?? own(flaws, name) ?? refusal(answer.problem, name),
    finding: finding && !written ? withoutGoal(asOf(finding, value), isLocked) : undefined,
    source: sourceOf(name, finding, state),
    doubt: doubtOf(feature, value),
    expected: expectedRange(rangesOf(name, state), state),
    ranged: hasRange(name, state),
    locked: isLocked,
    way: own(question.constraints.directions, name),
    lockedBy: always.find(({ constraints }) => (constraints.immutable ?? []).includes(name))?.by,
    alwaysWay: always.map(({ constraints }) => own(constraints.directions, name)).find(Boolean),
  };
}

// Who says so: of the range that was chosen for this person, else of all that could be. It is the registry that is asked
// that is cited, whichever the model names itself.
function sourceOf(name, finding, { model, registry, question }) {
  const ranges = rangesOf(name, { model, registry, question });
  const when = JSON.stringify(finding?.when ?? null);
  const chosen = ranges.filter((range) => JSON.stringify(range.when) === when);
  return [...new Set((chosen.length ? chosen : ranges).map(({ source }) => source).filter(Boolean))].join("; ");
}

function rangesOf(name, { model, registry, question }) {
  const asked = registryOf(model, question);
  if (asked === null) return [];
  const isOwn = asked === model.normal_ranges;
  const known = asked === registry?.name ? own(registry.features, name) : isOwn && model.features.find((one) => one.name === name);
  return known?.ranges ?? [];
}

// The first range whose conditions all hold, as far as they are known; else the last, which holds for everyone.
function expectedRange(ranges, { context, instance }) {
  const fits = ([name, wanted]) => {
    const value = own(context, name) ?? own(instance, name);
    if (typeof wanted !== "object" || wanted === null) return value === wanted;
    return typeof value === "number" && value >= (wanted.low ?? -Infinity) && value <= (wanted.high ?? Infinity);
  };
  return ranges.find(({ when }) => Object.entries(when ?? {}).every(fits)) ?? ranges.at(-1);
}

// A value that hardly anybody has: asked about, and sent all the same.
function doubtOf({ bounds, unit }, value) {
  if (!bounds || typeof value !== "number") return null;
  const { low, high } = bounds;
  if ((low === null || value >= low) && (high === null || value <= high)) return null;
  const plausible = low === null ? `up to ${high}` : high === null ? `from ${low}` : `${low} to ${high}`;
  return `is outside of what is plausible, ${plausible}${unit && unit !== "1" ? ` ${unit}` : ""}. Check it.`;
}

// A value that was changed since is shown on the range that was told, until the service has said what holds now.
function asOf(finding, value = null) {
  if (finding.value === value) return finding;
  if (typeof value !== "number" || typeof finding.value !== "number") return undefined;
  const { low, high } = finding;
  const known = low !== null || high !== null;
  const within = low !== null && value < low ? "low" : high !== null && value > high ? "high" : "normal";
  return { ...finding, value, status: known ? within : "unknown" };
}

// What cannot move has no target.
function withoutGoal(finding, isLocked) {
  return finding && (isLocked || !finding.movable) ? { ...finding, target: null } : finding;
}

function refusal(problem, name) {
  return problem?.fields.find(({ field }) => field === `instance.${name}`)?.message;
}
