// Which model, which ranges, whose values.

import { button, field, fillSelect, h, mark } from "../elements.js";
import { parseNumber } from "../numbers.js";
import { own } from "../own.js";
import { contextFields, contextFlawsOf, registryOf } from "../request.js";
import { isTargetFixed, mayDoWithoutRegistry } from "../standing.js";

const DEADLINES_MS = [2_000, 10_000, 30_000, 60_000];

export function showModelChoice(place, store, choose) {
  const select = h("select", { onchange: () => choose(select.value) });
  place.append(field("Model", select));
  store.watch(
    (state) => [state.models, state.model],
    (models, model) => {
      const choices = models.map(({ name, title }) => [name, title || name]);
      fillSelect(select, choices, model?.name ?? "");
    },
  );
}

export function showStart(section, store, actions, openPaste) {
  const examples = h("div", { class: "examples", role: "group", "aria-label": "Example people" });
  const context = h("div", { class: "context" });
  const unused = h("p", { class: "help" });
  section.append(
    h("p", { class: "lead" }, "Start from an example, paste your own, or fill in the values below."),
    examples,
    h("div", { class: "own" }, button("Paste JSON or CSV…", openPaste), button("Clear", actions.clear)),
    context,
    unused,
    options(store, actions),
  );
  showExamples(examples, store, actions);
  showContext(context, store, actions);
  store.watch(
    (state) => [state.start],
    (start) => {
      const names = start?.unused_context ?? [];
      unused.textContent = names.length ? `No range here asks for ${names.join(", ")}.` : "";
    },
  );
}

function showExamples(place, store, actions) {
  store.watch(
    (state) => [state.examples],
    (list) => {
      const offer = ({ name }) =>
        button(name.replaceAll("-", " "), () => actions.takeExample(name), { "data-name": name });
      place.replaceChildren(...list.map(offer));
    },
  );
  // Those of the model before would lead nowhere any more.
  store.watch(
    (state) => [state.isLoading],
    (isLoading) => {
      place.inert = isLoading;
    },
  );
  store.watch(
    (state) => [state.examples, state.example],
    (_, current) => {
      for (const one of place.children) one.setAttribute("aria-pressed", String(one.dataset.name === current));
    },
  );
}

function showContext(place, store, actions) {
  let shown = [];
  store.watch(
    (state) => [state.model, state.registry],
    (model, registry) => {
      const fields = model ? [...contextFields(model, registry)] : [];
      shown = fields.map(([name, kind]) =>
        kind.number ? contextNumber(name, actions) : contextSelect(name, kind, actions),
      );
      place.replaceChildren(...shown.map(({ element }) => element));
    },
  );
  store.watch(
    (state) => [state.model, state.registry, state.question, state.context, state.contextTexts, state.answer.problem],
    (model, registry, question, context, _, problem) => {
      const flaws = model ? contextFlawsOf(store.get()) : {};
      const refused = (name) => problem?.fields.find(({ field }) => field === `context.${name}`)?.message;
      for (const { name, show } of shown) show(own(context, name), own(flaws, name) ?? refused(name));
    },
  );
}

function contextNumber(name, actions) {
  const input = h("input", {
    type: "text",
    inputmode: "decimal",
    autocomplete: "off",
    oninput: () => {
      const { value, flaw } = input.value.trim() === "" ? {} : parseNumber(input.value);
      actions.setContext(name, value, flaw);
    },
  });
  const element = field(name, input);
  const show = (value, flaw) => {
    if (document.activeElement !== input && !flaw) input.value = value ?? "";
    mark(input, flaw);
  };
  return { name, element, show };
}

function contextSelect(name, { values }, actions) {
  let offered = values;
  const select = h("select", { onchange: () => actions.setContext(name, offered[select.value]) });
  const show = (value, flaw) => {
    // What was pasted may be none of those that a range asks for: it is shown, and said to be wrong.
    offered = value === undefined || values.includes(value) ? values : [...values, value];
    const choices = offered.map((one, index) => [String(index), String(one)]);
    fillSelect(select, [["-1", "not said"], ...choices], String(offered.indexOf(value)));
    mark(select, flaw);
  };
  return { name, element: field(name, select), show };
}

// What is rarely changed, out of the way until it is wanted.
function options(store, actions) {
  const registry = h("select", { onchange: () => actions.changeRegistry(registry.value || null) });
  const threshold = h("input", {
    type: "text",
    inputmode: "decimal",
    autocomplete: "off",
    oninput: () => actions.setThreshold(threshold.value),
  });
  const deadline = h("select", { onchange: () => changeDeadline(Number(deadline.value), store, actions) });
  const fields = [
    field("Normal ranges", registry),
    field("Threshold", threshold),
    field("Search for at most", deadline),
  ];
  const details = h(
    "details",
    { class: "options" },
    h("summary", {}, "Ranges, threshold, time"),
    h("div", { class: "context" }, fields),
  );
  store.watch(
    (state) => [state.model, state.question, state.thresholdText, state.answer.problem],
    (model, question, written, problem) => {
      if (!model) return;
      const asked = registryOf(model, question) ?? "";
      // What is asked for is shown, also where it is going to be refused.
      const registries = new Set([...model.registries, ...(mayDoWithoutRegistry(model) ? [""] : []), asked]);
      const choices = [...registries].map((name) => [name, name || "none"]);
      fillSelect(registry, choices, asked);
      fields[1].hidden = !model.target.classes || isTargetFixed(model);
      threshold.placeholder = model.target.threshold ?? "class must win";
      if (document.activeElement !== threshold) threshold.value = written?.text ?? question.target?.threshold ?? "";
      const refused = problem?.fields.find(({ field }) => field === "target.threshold")?.message;
      mark(threshold, written?.flaw ?? refused);
      // What has to be mended is to be seen.
      if (written || refused) details.open = true;
      const chosen = question.limits?.deadline_ms;
      const offered = [...new Set([...DEADLINES_MS, chosen ?? DEADLINES_MS[0]])].sort((one, other) => one - other);
      const times = offered.map((time) => [String(time), `${time / 1000} s`]);
      fillSelect(deadline, [["0", "as the service is set up"], ...times], String(chosen ?? 0));
    },
  );
  return details;
}

function changeDeadline(milliseconds, store, actions) {
  const { deadline_ms: _, ...others } = store.get().question.limits ?? {};
  const limits = milliseconds ? { ...others, deadline_ms: milliseconds } : others;
  actions.changeQuestion({ limits: Object.keys(limits).length ? limits : undefined });
}
