// The form: every feature of the model.

import { h } from "../elements.js";
import { own } from "../own.js";
import { hasRange } from "../request.js";
import { standing } from "../standing.js";
import { featureRow } from "./feature-row.js";

const LEGEND = "▼ low, ● normal, ▲ high, ✕ not allowed, ○ no known range. Band: the normal range. ◇ target.";

export function showValues(section, store, actions, openRule) {
  const list = h("ol", { class: "features" });
  section.append(h("p", { class: "legend" }, LEGEND), list);
  let rows = [];

  store.watch(
    (state) => [state.model],
    (model) => {
      rows = model ? model.features.map((feature) => featureRow(feature, actions, openRule)) : [];
      list.replaceChildren(...rows.map(({ row }) => row));
    },
  );

  store.watch(
    (state) => [
      ...[state.model, state.instance, state.texts, state.flaws],
      ...[state.start, state.question, state.registry, state.answer.problem],
    ],
    () => {
      const state = store.get();
      const findings = new Map((state.start?.features ?? []).map((finding) => [finding.name, finding]));
      for (const { show, feature } of rows) show(rowState(feature, findings.get(feature.name), state));
    },
  );
}

function rowState(feature, finding, state) {
  const { model, instance, texts, flaws, question, registry, answer } = state;
  const { name } = feature;
  const [value, written] = [own(instance, name), own(texts, name)];
  const always = standing(model, registry);
  return {
    value,
    text: written?.text,
    flawText: written?.flaw ?? own(flaws, name) ?? refusal(answer.problem, name),
    finding: finding && !written ? asOf(finding, value) : undefined,
    source: [...new Set(feature.ranges.map((range) => range.source).filter(Boolean))].join("; "),
    ranged: hasRange(name, state),
    locked: (question.constraints.immutable ?? []).includes(name),
    way: own(question.constraints.directions, name),
    lockedBy: always.find(({ constraints }) => (constraints.immutable ?? []).includes(name))?.by,
    alwaysWay: always.map(({ constraints }) => own(constraints.directions, name)).find(Boolean),
  };
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

function refusal(problem, name) {
  return problem?.fields.find(({ field }) => field === `instance.${name}`)?.message;
}
