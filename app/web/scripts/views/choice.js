// Which model, which ranges, whose values.

import { byId, fillSelect, h, newId } from "../elements.js";
import { parseNumber } from "../numbers.js";
import { contextFields } from "../request.js";

// What a service searches for where nothing is said, unless it was set up otherwise; and what may be asked for.
const DEADLINE_MS = 10_000;
const DEADLINES_MS = [2_000, 10_000, 30_000, 60_000];

export function showModelChoice(place, store, choose) {
  const id = newId("model");
  const select = h("select", { id, onchange: () => choose(select.value) });
  place.append(h("label", { for: id }, "Model"), select);
  store.watch(
    (state) => [state.models, state.model],
    (models, model) => {
      fillSelect(
        select,
        models.map(({ name, title }) => [name, title || name]),
        model?.name ?? "",
      );
    },
  );
}

export function showStart(section, store, actions, openPaste) {
  const examples = h("div", { class: "examples", role: "group", "aria-label": "Example people" });
  const own = h(
    "div",
    { class: "own" },
    h("button", { type: "button", onclick: openPaste }, "Paste JSON or CSV…"),
    h("button", { type: "button", onclick: actions.clear }, "Clear"),
  );
  const context = h("div", { class: "context" });
  section.append(
    h("p", { class: "lead", id: "start-lead" }, "Start from an example, paste your own, or fill in the values below."),
    examples,
    own,
    context,
    options(store, actions),
  );

  store.watch(
    (state) => [state.examples, state.example],
    (list, current) => {
      examples.replaceChildren(
        ...list.map(({ name }) =>
          h(
            "button",
            {
              type: "button",
              "aria-pressed": String(name === current),
              onclick: () => actions.takeExample(name),
            },
            name.replaceAll("-", " "),
          ),
        ),
      );
    },
  );
  let shown = [];
  store.watch(
    (state) => [state.model, state.registry],
    (model, registry) => {
      const fields = model ? Object.entries(contextFields(model, registry)) : [];
      shown = fields.map(([name, field]) => contextField(name, field, actions));
      context.replaceChildren(...shown.map(({ element }) => element));
      for (const { show } of shown) show(store.get().context);
    },
  );
  store.watch(
    (state) => [state.context],
    (values) => shown.forEach(({ show }) => show(values)),
  );
}

function contextField(name, field, actions) {
  const id = newId("context");
  const input = field.number ? contextNumber(id, name, actions) : contextSelect(id, name, field, actions);
  const show = ({ [name]: value }) => {
    if (document.activeElement !== input)
      input.value = field.number ? (value ?? "") : String(field.values.indexOf(value));
  };
  return { element: h("div", { class: "field" }, h("label", { for: id }, name), input), show };
}

function contextNumber(id, name, actions) {
  return h("input", {
    id,
    type: "text",
    inputmode: "decimal",
    autocomplete: "off",
    oninput: (event) => {
      const { value, flaw } = parseNumber(event.target.value);
      event.target.setAttribute("aria-invalid", String(Boolean(flaw) && event.target.value.trim() !== ""));
      actions.setContext(name, value);
    },
  });
}

function contextSelect(id, name, field, actions) {
  return h(
    "select",
    { id, onchange: (event) => actions.setContext(name, field.values[event.target.value]) },
    h("option", { value: "-1" }, "not said"),
    field.values.map((value, index) => h("option", { value: String(index) }, String(value))),
  );
}

// What is rarely changed, out of the way until it is wanted.
function options(store, actions) {
  const registry = h("select", { id: newId("registry"), onchange: () => changeRegistry(registry, store, actions) });
  const threshold = h("input", {
    id: newId("threshold"),
    type: "text",
    inputmode: "decimal",
    autocomplete: "off",
    oninput: () => changeThreshold(threshold, store, actions),
  });
  const deadline = h("select", {
    id: newId("deadline"),
    onchange: () => changeDeadline(Number(deadline.value), store, actions),
  });
  const thresholdField = field("Threshold", threshold);
  store.watch(
    (state) => [state.model, state.question],
    (model, question) => {
      if (!model) return;
      const current = question.registry === undefined ? model.normal_ranges : question.registry;
      fillSelect(registry, [...model.registries.map((name) => [name, name]), ["", "none"]], current ?? "");
      thresholdField.hidden = !model.target.classes;
      threshold.placeholder = model.target.threshold ?? "class must win";
      if (document.activeElement !== threshold) threshold.value = question.target?.threshold ?? "";
      const chosen = question.limits?.deadline_ms ?? DEADLINE_MS;
      const offered = [...new Set([...DEADLINES_MS, chosen])].sort((one, other) => one - other);
      fillSelect(
        deadline,
        offered.map((time) => [String(time), `${time / 1000} s`]),
        String(chosen),
      );
    },
  );
  return h(
    "details",
    { class: "options" },
    h("summary", {}, "Ranges, threshold, time"),
    h(
      "div",
      { class: "context" },
      field("Normal ranges", registry),
      thresholdField,
      field("Search for at most", deadline),
    ),
  );
}

function changeRegistry(select, store, actions) {
  const chosen = select.value || null;
  actions.changeRegistry(chosen === store.get().model.normal_ranges ? undefined : chosen);
}

function field(text, input) {
  return h("div", { class: "field" }, h("label", { for: input.id }, text), input);
}

function changeThreshold(input, store, actions) {
  const empty = input.value.trim() === "";
  const { value, flaw } = parseNumber(input.value);
  input.setAttribute("aria-invalid", String(Boolean(flaw) && !empty));
  if (flaw && !empty) return;
  const { threshold: _, ...others } = store.get().question.target ?? {};
  const target = empty ? others : { ...others, threshold: value };
  actions.changeQuestion({ target: Object.keys(target).length ? target : undefined }, { typing: true });
}

function changeDeadline(milliseconds, store, actions) {
  actions.changeQuestion({ limits: { ...store.get().question.limits, deadline_ms: milliseconds } });
}

export function notice(text) {
  const place = byId("notice");
  place.textContent = text;
  place.hidden = !text;
}
