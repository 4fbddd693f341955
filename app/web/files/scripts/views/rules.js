// The constraints in force, as chips that can be taken off, and those that concern no single feature.

import { button, field, fillSelect, h, unseen } from "../elements.js";
import { itemPaths, itemWords } from "../items.js";
import { rangeWords, titles } from "../words.js";
import { showFormulas } from "./formulas.js";

export function showRules(section, store, actions, openRule) {
  const most = h("select", { onchange: () => actions.setMostChanges(most.value ? Number(most.value) : null) });
  const chips = h("ul", { class: "chips", "aria-label": "Rules in force" });
  const registryChips = h("ul", { class: "chips fixed", "aria-label": "Rules of the registry" });
  const clear = button("Drop all rules", () => {
    actions.dropAll();
    most.focus();
  });
  const formulas = h("div", { class: "formulas" });
  const connect = button("Connect two features…", () => openRule(null));
  section.append(
    h("div", { class: "row" }, field("Changes at most", most), connect, clear),
    chips,
    registryChips,
    formulas,
  );
  showFormulas(formulas, store, actions);

  store.watch(
    (state) => [state.model, state.question],
    (model, question) => {
      if (!model) return;
      const numbers = model.features.map((_, index) => [String(index + 1), String(index + 1)]);
      fillSelect(most, [["", "any number"], ...numbers], String(question.constraints.max_changes ?? ""));
      const rules = [...items(question.constraints, model, actions), ...entries(question, model, actions)];
      clear.hidden = itemPaths(question.constraints).length < 2;
      chips.hidden = rules.length === 0;
      chips.replaceChildren(...rules.map(({ words, drop }, place) => chip(words, () => dropAt(place, drop))));
    },
  );
  store.watch(
    (state) => [state.model, state.registry],
    (model, registry) => {
      const always = registry?.constraints ?? {};
      const fixed = model ? itemPaths(always) : [];
      registryChips.hidden = fixed.length === 0;
      const words = (path) => `${itemWords(always, path, titles(model))} (always, by the registry)`;
      registryChips.replaceChildren(...fixed.map((path) => h("li", { class: "chip" }, words(path))));
    },
  );

  // What had the focus is gone then; whoever works by keyboard goes on at the next chip.
  function dropAt(place, drop) {
    drop();
    const left = chips.querySelectorAll("button");
    (left[Math.min(place, left.length - 1)] ?? most).focus();
  }
}

function items(constraints, model, actions) {
  const titled = titles(model);
  return itemPaths(constraints).map((path) => ({
    words: itemWords(constraints, path, titled),
    drop: () => actions.drop([path]),
  }));
}

// What a pasted request brings along besides its rules.
function entries(question, model, actions) {
  const titled = titles(model);
  const said = {
    normal_ranges: (name, range) => `${titled(name)} is ${rangeWords(range)}, by the request`,
    guide: (name, value) => `${titled(name)} would move to ${value}, by the request`,
    weights: (name, weight) => `a change of ${titled(name)} weighs ${weight}`,
  };
  return Object.entries(said).flatMap(([field, words]) =>
    Object.entries(question[field] ?? {}).map(([name, value]) => ({
      words: words(name, value),
      drop: () => actions.dropEntry(field, name),
    })),
  );
}

function chip(words, onDrop) {
  const cross = button("", onDrop);
  cross.append(h("span", { "aria-hidden": "true" }, "×"), unseen(`Drop the rule: ${words}`));
  return h("li", { class: "chip" }, words, cross);
}
