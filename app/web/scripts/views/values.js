// The form: every feature of the model.

import { h } from "../elements.js";
import { featureRow } from "./feature-row.js";

export function showValues(section, store, actions, openRule) {
  const list = h("ol", { class: "features" });
  const legend = h(
    "p",
    { class: "legend" },
    "▼ low, ● normal, ▲ high, ○ no known range; the band is the normal range, ◇ the target.",
  );
  section.append(legend, list);
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
      state.model,
      state.instance,
      state.texts,
      state.start,
      state.flaws,
      state.question,
      state.answer.problem,
    ],
    (model, instance, texts, start, flaws, question, problem) => {
      const findings = new Map((start?.features ?? []).map((finding) => [finding.name, finding]));
      for (const { show, feature } of rows) {
        const { name } = feature;
        const finding = findings.get(name);
        show({
          value: instance[name],
          text: texts[name]?.text,
          flawText: texts[name]?.flaw ?? flaws[name] ?? refusal(problem, name),
          finding: finding && !texts[name] ? asOf(finding, instance[name]) : undefined,
          locked: (question.constraints.immutable ?? []).includes(name),
          way: question.constraints.directions?.[name],
          source: sourceOf(feature),
        });
      }
    },
  );
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
  return problem?.errors.find(({ field }) => field === `instance.${name}`)?.message;
}

function sourceOf(feature) {
  return [...new Set(feature.ranges.map((range) => range.source).filter(Boolean))].join("; ");
}
