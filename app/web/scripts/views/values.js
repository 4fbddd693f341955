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
          // What was found of another value says nothing of this one.
          finding: finding && same(finding.value, instance[name]) ? finding : undefined,
          locked: (question.constraints.immutable ?? []).includes(name),
          way: question.constraints.directions?.[name],
          source: sourceOf(feature),
        });
      }
    },
  );
}

function same(told, held) {
  return told === held || (told === null && (held === undefined || held === null));
}

function refusal(problem, name) {
  return problem?.errors.find(({ field }) => field === `instance.${name}`)?.message;
}

function sourceOf(feature) {
  return [...new Set(feature.ranges.map((range) => range.source).filter(Boolean))].join("; ");
}
