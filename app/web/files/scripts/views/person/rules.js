// The constraints in force, as chips that can be taken off, and those that concern no single feature.

import { button, field, fillSelect, h, unseen } from "../../elements.js";
import { idlersOf, itemPaths, itemWords, listed } from "../../person/items.js";
import { hasRange } from "../../person/request.js";
import { standing } from "../../person/standing.js";
import { ownRangeWords, spoken } from "../../words.js";
import { showFormulas } from "./formulas.js";

export function showRules(section, store, actions, openRule) {
  const most = h("select", { onchange: () => actions.setMostChanges(most.value ? Number(most.value) : null) });
  const chips = h("ul", { class: "chips", "aria-label": "Rules in force" });
  const standingChips = h("ul", { class: "chips fixed", "aria-label": "Fixed rules" });
  const clear = button("Drop all rules", () => {
    actions.dropAll();
    most.focus();
  });
  const formulas = h("div", { class: "formulas" });
  const connect = button("Connect two values…", () => openRule(null));
  section.append(
    h("div", { class: "row" }, field("At most this many changes", most), connect, clear),
    chips,
    standingChips,
    formulas,
  );
  showFormulas(formulas, store, actions);

  let shown = "";

  store.watch(
    (state) => [state.model, state.question, state.registry, state.start, state.answer.problem],
    (model, question) => {
      if (!model) return;
      const rules = [...items(store.get(), actions), ...entries(question, model, actions)];
      // Another answer is no reason to take a chip from under somebody's finger.
      if (JSON.stringify(rules) === shown) return;
      shown = JSON.stringify(rules);
      const place = [...chips.querySelectorAll("button")].indexOf(document.activeElement);
      chips.hidden = rules.length === 0;
      chips.replaceChildren(...rules.map((rule, index) => chip(rule, () => dropAt(index, rule.drop))));
      if (place >= 0) chips.querySelectorAll("button")[place]?.focus({ preventScroll: true });
    },
  );
  store.watch(
    (state) => [state.model, state.question],
    (model, question) => {
      if (!model) return;
      const numbers = model.features.map((_, index) => [String(index + 1), String(index + 1)]);
      fillSelect(most, [["", "any number"], ...numbers], String(question.constraints.max_changes ?? ""));
      clear.hidden = itemPaths(question.constraints).length < 2;
    },
  );
  store.watch(
    (state) => [state.model, state.registry],
    (model, registry) => {
      const fixed = model ? standing(model, registry).flatMap((owner) => standingWords(owner, spoken(model))) : [];
      standingChips.hidden = fixed.length === 0;
      standingChips.replaceChildren(...fixed.map((words) => h("li", { class: "chip" }, words)));
    },
  );

  // The chip that had the focus is gone; the focus moves to the next one.
  function dropAt(place, drop) {
    drop();
    const left = chips.querySelectorAll("button");
    (left[Math.min(place, left.length - 1)] ?? most).focus();
  }
}

function standingWords({ by, constraints }, titled) {
  return itemPaths(constraints).map((path) => `${itemWords(constraints, path, titled)} (always, set by ${by})`);
}

function items(state, actions) {
  const { constraints } = state.question;
  const titled = spoken(state.model);
  return itemPaths(constraints).map((path) => ({
    path,
    words: itemWords(constraints, path, titled),
    why: whyIdle(path, state, titled),
    drop: () => actions.drop([path]),
  }));
}

// Why an item is not in force, if it is not.
function whyIdle(path, state, titled) {
  const { problem } = state.answer;
  if (problem?.kind === "invalid-request" && problem.fields.some(({ field }) => field === `constraints.${path}`))
    return "not applied: it has a mistake";
  // Of a name that is no feature the service tells.
  const isFeature = (name) => state.model.features.some((feature) => feature.name === name);
  const idlers = idlersOf(state.question.constraints, path, (name) => !isFeature(name) || hasRange(name, state));
  return idlers.length ? `no effect: ${listed(idlers.map(titled))} ${idlers.length > 1 ? "have" : "has"} no range` : "";
}

// What a pasted request brings along besides its rules.
function entries(question, model, actions) {
  const titled = spoken(model);
  const said = {
    normal_ranges: (name, range) => ownRangeWords(titled(name), range),
    guide: (name, value) => `${titled(name)} would move to ${value} (from the request)`,
    weights: (name, weight) => `${titled(name)} is hard to change (weight ${weight})`,
  };
  return Object.entries(said).flatMap(([field, words]) =>
    Object.entries(question[field] ?? {}).map(([name, value]) => ({
      words: words(name, value),
      drop: () => actions.dropEntry(field, name),
    })),
  );
}

function chip({ words, why }, onDrop) {
  const cross = button("", onDrop);
  cross.append(h("span", { "aria-hidden": "true" }, "×"), unseen(`Drop the rule: ${words}`));
  return h("li", { class: why ? "chip idle" : "chip" }, h("span", {}, words), why && h("em", {}, why), cross);
}
