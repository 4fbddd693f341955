// What is asked for in a dialogue: a rule, pasted values, a key.

import { button, field, fillSelect, h, newId } from "../../elements.js";
import { parseNumber } from "../../numbers.js";
import { readPasted } from "../../person/pasting.js";
import { contextFields, hasRange } from "../../person/request.js";

const TWO = [
  ["correlated", "moves together with"],
  ["exclusive", "never changes together with"],
  ["causal", "brings about a change in"],
];
const ONE = [
  ["required", "must end up in its range"],
  ["max_step", "may move by at most"],
];

// A dialogue that is closed by what `onSubmit` says is done; nothing that was written in it stays behind.
function dialog(title, [submitText, onSubmit], inputs, ...content) {
  const id = newId("dialog");
  const flaw = h("p", { class: "flaw", role: "alert" });
  const submit = (event) => {
    event.preventDefault();
    const why = onSubmit();
    flaw.textContent = why ?? "";
    if (!why) element.close();
  };
  const cancel = button("Cancel", () => element.close());
  const row = h("div", { class: "row" }, h("button", { type: "submit", class: "primary" }, submitText), cancel);
  const form = h("form", { method: "dialog", onsubmit: submit }, h("h2", { id }, title), content, flaw, row);
  const onclose = () => {
    for (const input of inputs) input.value = "";
  };
  const element = h("dialog", { "aria-labelledby": id, onclose }, form);
  document.body.append(element);
  const open = (why = "") => {
    flaw.textContent = why;
    if (!element.open) element.showModal();
  };
  return { open };
}

export function ruleDialog(store, actions) {
  const first = h("select");
  const choices = [...TWO, ...ONE].map(([value, text]) => h("option", { value }, text));
  const kind = h("select", { onchange: showParts }, choices);
  const second = h("select");
  const most = h("input", { type: "text", inputmode: "decimal", autocomplete: "off" });
  const secondField = field("the other value", second);
  const mostField = field("by at most (in its unit)", most);
  const parts = [field("Value", first), field("Rule", kind), secondField, mostField];
  const { open } = dialog("Add a rule", ["Add", submit], [most], parts);

  function submit() {
    return addRule(kind.value, first.value, second.value, most.value, actions);
  }

  function showParts() {
    secondField.hidden = !TWO.some(([value]) => value === kind.value);
    mostField.hidden = kind.value !== "max_step";
  }

  return (from, to = null) => {
    const { model, start } = store.get();
    // Of what has no range to move into a rule would say nothing.
    const ranged = model.features.filter(({ name }) => hasRange(name, store.get()));
    const features = ranged.map(({ name, title }) => [name, title ?? name]);
    // Those that can move come to mind first.
    const movable = (start?.features ?? []).filter((finding) => finding.movable).map(({ name }) => name);
    const likely = [...movable, ...features.map(([name]) => name)];
    const one = from ?? likely[0];
    fillSelect(first, features, one);
    fillSelect(second, features, to ?? likely.find((name) => name !== one) ?? one);
    kind.value = TWO[0][0];
    showParts();
    open();
    (from === null ? first : kind).focus();
  };
}

// What is wrong with the rule, if anything is.
function addRule(kind, one, other, most, actions) {
  if (!one) return "No value here has a range to move into.";
  if (TWO.some(([value]) => value === kind) && one === other) return "Choose two different values.";
  if (kind === "max_step") {
    const { value, flaw } = parseNumber(most);
    if (flaw || value <= 0) return "Write a number above 0, such as 2.5.";
    actions.setStep(one, value);
  } else if (kind === "causal") actions.add("causal", { cause: one, effects: [other] });
  else if (kind === "required") actions.add("required", one);
  else actions.add(kind, [one, other]);
  return null;
}

export function pasteDialog(store, actions, announce) {
  const text = h("textarea", { rows: "9", spellcheck: "false", autocomplete: "off" });
  const help = h("p", { class: "help" });
  const { open } = dialog("Paste values", ["Use these values", submit], [text], help, field("Values", text));

  function submit() {
    const { model, registry } = store.get();
    const { request, remark, flaw } = readPasted(text.value, model, contextFields(model, registry));
    if (flaw) return flaw;
    actions.take(request);
    announce(remark);
    return null;
  }

  return () => {
    const names = store.get().model.features.map(({ name }) => name);
    help.textContent = `A column of names and values, a table row with its header, JSON, or bare values in this order: ${names.join(", ")}.`;
    open();
    text.focus();
  };
}

export function keyDialog(useKey) {
  const key = h("input", { type: "password", autocomplete: "off", spellcheck: "false" });
  const help = h("p", { class: "help" }, "It stays in the memory of this page, which forgets it when you leave.");
  let then = () => {};
  const { open } = dialog("This service asks for a key", ["Use this key", submit], [key], help, field("Key", key));

  function submit() {
    // Nothing else can be sent in a header.
    if (!/^[\x21-\x7e]+$/.test(key.value.trim()))
      return "A key consists of letters, digits, - and _. Copy it again.";
    useKey(key.value);
    then();
    return null;
  }

  // `next` is done again with the key; `why` says what is wrong with the one that there is.
  return (next, why = "") => {
    then = next;
    open(why);
    key.focus();
  };
}
