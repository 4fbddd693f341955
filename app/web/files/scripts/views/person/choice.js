// Which model, which ranges, whose values.

import { button, field, fillSelect, h, mark } from "../../elements.js";
import { parseNumber } from "../../numbers.js";
import { own } from "../../own.js";
import { contextFields, contextFlawsOf, registryOf } from "../../person/request.js";
import { capital, fieldWords } from "../../words.js";
import { isTargetFixed, mayDoWithoutRegistry } from "../../person/standing.js";

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
  const examples = h("div", { class: "examples", role: "group", "aria-label": "Examples" });
  const context = h("div", { class: "context" });
  const unused = h("p", { class: "help" });
  const title = section.querySelector("h2");
  store.watch(
    (state) => [state.model],
    (model) => {
      title.textContent = capital(fieldWords(model).person);
    },
  );
  const clear = button("Clear", actions.clear);
  const back = button("Bring back the values", () => {
    clear.focus();
    actions.bringBack();
  });
  store.watch(
    (state) => [state.before],
    (before) => {
      back.hidden = !before;
    },
  );
  section.append(
    examples,
    h("div", { class: "own" }, button("Paste values…", openPaste), clear, back),
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
      unused.textContent = names.length ? `No range here depends on ${names.join(", ")}.` : "";
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
    fillSelect(select, [["-1", "not given"], ...choices], String(offered.indexOf(value)));
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
  const holding = h("select", { onchange: () => changeRobustness(store, actions, HOLDING[holding.value]) });
  const other = h("select", { onchange: () => changeRobustness(store, actions, other.value ? { models: [other.value] } : { models: undefined }) });
  const rangesField = field("Normal ranges", registry);
  const fields = [
    rangesField,
    field("Threshold", threshold),
    field("Search for at most", deadline),
    field("Plans to list", holding),
    field("Also check with", other),
  ];
  const details = h(
    "details",
    { class: "options" },
    h("summary", {}, "Ranges, threshold, time limit, plans that hold"),
    h("div", { class: "context" }, fields),
  );
  store.watch(
    (state) => [state.model, state.question, state.thresholdText, state.answer.problem, state.registry],
    (model, question, written, problem) => {
      if (!model) return;
      rangesField.querySelector("label").textContent = `${capital(fieldWords(model).range)}s`;
      showHolding([holding, other], fields.slice(3), store.get());
      const asked = registryOf(model, question) ?? "";
      // What is asked for is shown, also where it is going to be refused.
      const registries = new Set([...model.registries, ...(mayDoWithoutRegistry(model) ? [""] : []), asked]);
      const choices = [...registries].map((name) => [name, name || "none"]);
      fillSelect(registry, choices, asked);
      fields[1].hidden = !model.target.classes || isTargetFixed(model);
      threshold.placeholder = model.target.threshold ?? "most likely class";
      if (document.activeElement !== threshold) threshold.value = written?.text ?? question.target?.threshold ?? "";
      const refused = problem?.fields.find(({ field }) => field === "target.threshold")?.message;
      mark(threshold, written?.flaw ?? refused);
      // What needs correcting is in sight.
      if (written || refused) details.open = true;
      const chosen = question.limits?.deadline_ms;
      const offered = [...new Set([...DEADLINES_MS, chosen ?? DEADLINES_MS[0]])].sort((one, other) => one - other);
      const times = offered.map((time) => [String(time), `${time / 1000} s`]);
      fillSelect(deadline, [["0", "the service's default"], ...times], String(chosen ?? 0));
    },
  );
  return details;
}

// What plans have to hold against; each replaces what stood there of the same kind.
const HOLDING = {
  all: { require: undefined, more: undefined },
  noise: { require: 0.95, more: undefined },
  more: { require: undefined, more: "require" },
};

function holdingOf(robustness) {
  if (robustness?.more === "require") return "more";
  return robustness?.require ? "noise" : "all";
}

function changeRobustness(store, actions, changes) {
  const said = Object.entries({ ...store.get().question.robustness, ...changes }).filter(([, value]) => value !== undefined);
  actions.changeQuestion({ robustness: said.length ? Object.fromEntries(said) : undefined });
}

function showHolding([holding, other], fields, { model, models, question, registry }) {
  const isNoisy = Object.values(registry?.features ?? model.features).some(({ noise }) => noise);
  const chosen = holdingOf(question.robustness);
  const kinds = [["all", "all plans"], ...(isNoisy || chosen === "noise" ? [["noise", "only plans that hold in 95 of 100 repeated measurements"]] : [])];
  fillSelect(holding, [...kinds, ["more", "only plans that no further improvement undoes"]], chosen);
  const base = (name) => name.split("@")[0];
  const versions = models.filter(({ name }) => base(name) === base(model.name) && name !== model.name);
  const asked = question.robustness?.models?.[0] ?? "";
  fields[1].hidden = !versions.length && !asked;
  fillSelect(other, [["", "no other version"], ...versions.map(({ name }) => [name, name])], asked);
}

function changeDeadline(milliseconds, store, actions) {
  const { deadline_ms: _, ...others } = store.get().question.limits ?? {};
  const limits = milliseconds ? { ...others, deadline_ms: milliseconds } : others;
  actions.changeQuestion({ limits: Object.keys(limits).length ? limits : undefined });
}
