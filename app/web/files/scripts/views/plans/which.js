// Not possible, or hard: of a plan with several changes it is asked which of them.

import { button, h, newId } from "../../elements.js";
import { capital, spoken } from "../../words.js";

// What the buttons of a plan do, by the plan.
export function choices(store, actions) {
  const names = (feature) => spoken(store.get().model)(feature);

  function refuse(plan) {
    const each = plan.changes.map(({ feature }) => [`${capital(names(feature))} cannot change`, () => actions.toggleLock(feature)]);
    const both = plan.changes.map(({ feature }) => feature);
    const together = ["Not both together", () => actions.add("exclusive", both)];
    ask("What is not possible?", both.length === 2 ? [...each, together] : each);
  }

  function makeHard(plan) {
    const each = plan.changes.map(({ feature }) => [capital(names(feature)), () => actions.makeHard(feature)]);
    ask("What is hard to change?", each);
  }

  return { refuse, makeHard, keep: actions.keep };
}

function ask(question, answers) {
  if (answers.length === 1) return answers[0][1]();
  const title = h("h2", { id: newId("dialog") }, question);
  const choose = (act) => () => {
    element.close();
    act();
  };
  const list = answers.map(([words, act]) => h("li", {}, button(words, choose(act))));
  const cancel = button("Cancel", () => element.close());
  const element = h(
    "dialog",
    { "aria-labelledby": title.id, onclose: () => element.remove() },
    h("div", { class: "which" }, title, h("ul", { class: "relaxations" }, list), cancel),
  );
  document.body.append(element);
  return element.showModal();
}
