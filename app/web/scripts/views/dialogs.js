// What is asked for in a dialogue: a rule, pasted values, a key.

import { fillSelect, h, newId } from "../elements.js";
import { parseNumber } from "../numbers.js";
import { readPasted } from "../pasting.js";
import { contextFields } from "../request.js";

const TWO = [
  ["correlated", "moves together with"],
  ["exclusive", "never changes together with"],
  ["causal", "brings with it (causes)"],
];
const ONE = [
  ["required", "must be normal afterwards"],
  ["max_step", "may move by at most"],
];

function dialog(title, onSubmit, ...content) {
  const id = newId("dialog");
  const form = h(
    "form",
    {
      method: "dialog",
      onsubmit: (event) => {
        event.preventDefault();
        if (onSubmit()) element.close();
      },
    },
    h("h2", { id }, title),
    content,
  );
  const element = h("dialog", { "aria-labelledby": id }, form);
  document.body.append(element);
  return element;
}

function buttons(submit, onCancel) {
  return h(
    "div",
    { class: "row" },
    h("button", { type: "submit", class: "primary" }, submit),
    h("button", { type: "button", onclick: onCancel }, "Cancel"),
  );
}

function field(label, input) {
  input.id = newId("field");
  return h("div", { class: "field" }, h("label", { for: input.id }, label), input);
}

export function ruleDialog(store, actions) {
  const first = h("select");
  const kind = h(
    "select",
    { onchange: showParts },
    [...TWO, ...ONE].map(([value, text]) => h("option", { value }, text)),
  );
  const second = h("select");
  const most = h("input", { type: "text", inputmode: "decimal", autocomplete: "off" });
  const flaw = h("p", { class: "flaw", role: "alert" });
  const secondField = field("this feature", second);
  const mostField = field("by at most (in its unit)", most);
  const element = dialog(
    "Add a rule",
    submit,
    field("Feature", first),
    field("Rule", kind),
    secondField,
    mostField,
    flaw,
    buttons("Add", () => element.close()),
  );

  function showParts() {
    secondField.hidden = !TWO.some(([value]) => value === kind.value);
    mostField.hidden = kind.value !== "max_step";
    flaw.textContent = "";
  }

  function submit() {
    const [one, other] = [first.value, second.value];
    if (!secondField.hidden && one === other) {
      flaw.textContent = "Choose two different features.";
      return false;
    }
    if (kind.value === "max_step") {
      const { value, flaw: why } = parseNumber(most.value);
      if (why || value <= 0) {
        flaw.textContent = `Write a number above 0, such as 2.5.`;
        return false;
      }
      actions.setStep(one, value);
    } else if (kind.value === "causal") actions.add("causal", { cause: one, effects: [other] });
    else if (kind.value === "required") actions.add("required", one);
    else actions.add(kind.value, [one, other]);
    return true;
  }

  return (from, to = null) => {
    const { model, start } = store.get();
    const choices = model.features.map(({ name, title }) => [name, title ?? name]);
    // Those that can move come to mind first.
    const movable = (start?.features ?? []).filter((finding) => finding.movable).map(({ name }) => name);
    const one = from ?? movable[0] ?? choices[0][0];
    fillSelect(first, choices, one);
    fillSelect(
      second,
      choices,
      to ?? movable.find((name) => name !== one) ?? choices.map(([name]) => name).find((name) => name !== one) ?? one,
    );
    kind.value = "correlated";
    most.value = "";
    showParts();
    element.showModal();
    (from === null ? first : kind).focus();
  };
}

export function pasteDialog(store, actions, announce) {
  const text = h("textarea", { rows: "9", spellcheck: "false", autocomplete: "off" });
  const flaw = h("p", { class: "flaw", role: "alert" });
  const help = h("p", { class: "help" });
  const element = dialog(
    "Paste a person",
    submit,
    help,
    field("JSON or CSV", text),
    flaw,
    buttons("Use it", () => element.close()),
  );

  function submit() {
    const { model, registry } = store.get();
    const { request, remark, flaw: why } = readPasted(text.value, model, Object.keys(contextFields(model, registry)));
    flaw.textContent = why ?? "";
    if (why) return false;
    announce(remark);
    actions.take(request);
    return true;
  }

  return () => {
    const names = store.get().model.features.map(({ name }) => name);
    help.textContent = `A request or an instance in JSON, or a row of a CSV file, with a header or in this order: ${names.join(", ")}.`;
    text.value = "";
    flaw.textContent = "";
    element.showModal();
    text.focus();
  };
}

export function keyDialog(useKey) {
  const key = h("input", { type: "password", autocomplete: "off", spellcheck: "false", required: true });
  const flaw = h("p", { class: "flaw", role: "alert" });
  let then = () => {};
  const element = dialog(
    "This service asks for a key",
    submit,
    h("p", { class: "help" }, "It is kept in the memory of this page only, and forgotten when you leave."),
    field("Key", key),
    flaw,
    buttons("Use it", () => element.close()),
  );

  function submit() {
    useKey(key.value);
    key.value = "";
    then();
    return true;
  }

  // `next` is done again with the key.
  return (next, wasRefused = false) => {
    then = next;
    flaw.textContent = wasRefused ? "This key was not accepted." : "";
    if (!element.open) element.showModal();
    key.focus();
  };
}
