// Formulas over the features. A mistake is underlined where it is, in a copy of the text that lies behind the field.

import { button, h, newId } from "../../elements.js";

export function showFormulas(place, store, actions) {
  const id = newId("formula");
  const list = h("div", { class: "formula-list" });
  const add = button("Another formula", () => {
    append("");
    fields.at(-1).input.focus();
  });
  place.append(
    h("p", { class: "formula-title", id }, "Formulas"),
    h(
      "p",
      { class: "help" },
      "A name stands for “this feature changes”. For example: ",
      h("code", { class: "sample" }),
    ),
    list,
    add,
  );
  let fields = [];

  function append(text) {
    const field = formulaField(fields.length, () =>
      actions.setFormulas(fields.map(({ input }) => input.value).filter((one) => one.trim())),
    );
    field.input.value = text;
    fit(field.input);
    fields.push(field);
    list.append(field.element);
  }

  store.watch(
    (state) => [state.model, state.question.constraints.formulas],
    (model, formulas = []) => {
      if (!model) return;
      const names = model.features.map(({ name }) => (/^\w+$/.test(name) ? name : JSON.stringify(name)));
      place.querySelector(".sample").textContent =
        names.length > 2 ? `${names[0]} -> not (${names[1]} or ${names[2]})` : `not ${names[0]}`;
      const written = fields.map(({ input }) => input.value).filter((one) => one.trim());
      if (fields.length && written.join("\n") === formulas.join("\n")) return;
      fields = [];
      list.replaceChildren();
      for (const formula of formulas.length ? formulas : [""]) append(formula);
    },
  );

  store.watch(
    (state) => [state.answer.problem, state.question.constraints.formulas],
    (problem) => {
      // The service counts those that are written.
      const written = fields.filter(({ input }) => input.value.trim());
      for (const field of fields) field.show(null);
      for (const error of problem?.fields ?? []) {
        const index = error.field.match(/^constraints\.formulas\[(\d+)\]/)?.[1];
        if (index !== undefined && problem.kind === "invalid-request") written[index]?.show(error);
      }
    },
  );
}

function formulaField(index, onInput) {
  const flawId = newId("formula-flaw");
  const behind = h("div", { class: "behind", "aria-hidden": "true" });
  const flaw = h("p", { class: "flaw", id: flawId });
  const input = h("textarea", {
    rows: "1",
    spellcheck: "false",
    autocomplete: "off",
    autocapitalize: "off",
    "aria-label": `Formula ${index + 1}`,
    "aria-describedby": flawId,
    "aria-invalid": "false",
    oninput: () => {
      fit(input);
      show(null);
      onInput();
    },
    onscroll: () => {
      behind.scrollTop = input.scrollTop;
    },
  });

  function show(error) {
    const at = error?.line ? placeOf(input.value, error.line, error.column) : null;
    flaw.textContent = error ? sentence(error.message) : "";
    input.setAttribute("aria-invalid", String(Boolean(error)));
    behind.replaceChildren();
    if (at === null) return;
    const end = at + (input.value.slice(at).match(/^("(\\.|[^"\\])*"?|\w+|.)/su)?.[0].length ?? 0);
    behind.append(
      input.value.slice(0, at),
      h("mark", {}, input.value.slice(at, end) || "\u00a0"),
      input.value.slice(end),
    );
  }

  return { input, show, element: h("div", { class: "formula" }, h("div", { class: "layers" }, behind, input), flaw) };
}

function fit(input) {
  input.rows = input.value.split("\n").length;
}

// Columns count characters, and JavaScript half of some.
function placeOf(text, line, column) {
  const lines = text.split("\n");
  const before = lines.slice(0, line - 1).reduce((sum, one) => sum + one.length + 1, 0);
  return before + [...(lines[line - 1] ?? "")].slice(0, column - 1).join("").length;
}

function sentence(text) {
  return `${text[0].toUpperCase()}${text.slice(1)}${/[.?!]$/.test(text) ? "" : "."}`;
}
