// The constraints in force, as chips that can be taken off, and those that concern no single feature.

import { fillSelect, h, newId, unseen } from "../elements.js";
import { itemPaths, itemWords } from "../items.js";
import { titles } from "../words.js";
import { showFormulas } from "./formulas.js";

export function showRules(section, store, actions, openRule) {
  const id = newId("most");
  const most = h("select", { id, onchange: () => actions.setMostChanges(most.value ? Number(most.value) : null) });
  const chips = h("ul", { class: "chips", "aria-label": "Rules in force" });
  const registryChips = h("ul", { class: "chips fixed", "aria-label": "Rules of the registry" });
  const clear = h("button", { type: "button", onclick: actions.dropAll }, "Drop all rules");
  const formulas = h("div", { class: "formulas" });
  section.append(
    h(
      "div",
      { class: "row" },
      h("div", { class: "field" }, h("label", { for: id }, "Changes at most"), most),
      h("button", { type: "button", onclick: () => openRule(null) }, "Connect two features…"),
      clear,
    ),
    chips,
    registryChips,
    formulas,
  );
  showFormulas(formulas, store, actions);

  store.watch(
    (state) => [state.model, state.question, state.registry],
    (model, question, registry) => {
      if (!model) return;
      const titled = titles(model);
      const { constraints } = question;
      fillSelect(
        most,
        [["", "any number"], ...model.features.map((_, index) => [String(index + 1), String(index + 1)])],
        String(constraints.max_changes ?? ""),
      );
      const paths = itemPaths(constraints);
      clear.hidden = paths.length < 2;
      chips.hidden = paths.length === 0;
      chips.replaceChildren(...paths.map((path) => chip(itemWords(constraints, path, titled), () => drop(path))));
      const always = registry?.constraints ?? {};
      const fixed = itemPaths(always);
      registryChips.hidden = fixed.length === 0;
      registryChips.replaceChildren(
        ...fixed.map((path) =>
          h("li", { class: "chip" }, `${itemWords(always, path, titled)} (always, by the registry)`),
        ),
      );
    },
  );

  // What had the focus is gone then; whoever works by keyboard goes on at the next chip.
  function drop(path) {
    const place = itemPaths(store.get().question.constraints).indexOf(path);
    actions.drop([path]);
    const left = chips.querySelectorAll("button");
    (left[Math.min(place, left.length - 1)] ?? most).focus();
  }
}

function chip(words, onDrop) {
  return h(
    "li",
    { class: "chip" },
    words,
    h(
      "button",
      { type: "button", onclick: onDrop },
      h("span", { "aria-hidden": "true" }, "×"),
      unseen(`Drop the rule: ${words}`),
    ),
  );
}
