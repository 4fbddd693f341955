// The plans: how the search stands, what they have in common, and each of them as a card.

import { fillSelect, h, newId } from "../elements.js";
import { counted } from "../numbers.js";
import { goalOf, titles } from "../words.js";
import { showComparison } from "./comparison.js";
import { showFrequency } from "./frequency.js";
import { planCard, planKey } from "./plan-card.js";
import { showProgress } from "./progress.js";
import { explanation } from "./ways-out.js";
import { createWindow } from "./window.js";

const SORTS = {
  rank: ["fewest changes first", (one, other) => one.rank - other.rank],
  score: ["best score first", (one, other) => other.prediction.score - one.prediction.score || one.rank - other.rank],
  cost: ["lowest cost first", (one, other) => one.cost - other.cost || one.rank - other.rank],
};

export function showPlans(section, store, actions) {
  const progress = h("div", { class: "progress" });
  const explained = h("div", { class: "explained" });
  const frequency = h("div", { class: "frequency" });
  const comparison = h("div", { class: "comparison", hidden: true });
  const sort = h("select", { id: newId("sort"), onchange: () => actions.changeView({ sort: sort.value }) });
  const count = h("span", { class: "count" });
  const bar = h(
    "div",
    { class: "row toolbar", hidden: true },
    h("div", { class: "field" }, h("label", { for: sort.id }, "Sort"), sort),
    count,
  );
  const list = h("ul", { class: "plans", tabindex: "-1", "aria-label": "Plans" });
  section.append(progress, explained, frequency, bar, comparison, list);
  fillSelect(
    sort,
    Object.entries(SORTS).map(([name, [text]]) => [name, text]),
    "rank",
  );

  showProgress(progress, store, actions);
  showFrequency(frequency, store, actions);
  showComparison(comparison, store, actions);

  const cards = createWindow(list, (plan) => {
    const { model, shown, view } = store.get();
    return planCard(plan, {
      goal: goalOf(shown.start.target, model),
      pinned: view.pinned.includes(planKey(plan)),
      showsCost: Boolean(shown.request.weights),
      togglePin: actions.togglePin,
    });
  });
  const selection = createSelection();

  store.watch(
    (state) => [state.shown, state.view, state.answer.phase],
    (shown, view, phase) => {
      const plans = selection(shown.plans, view);
      section.classList.toggle(
        "fading",
        ["asking", "streaming", "incomplete", "refused"].includes(phase) && shown !== store.get().answer,
      );
      bar.hidden = shown.plans.length < 2;
      sort.value = view.sort;
      count.textContent =
        plans.length === shown.plans.length
          ? ""
          : `${counted(plans.length, "plan")} of ${shown.plans.length.toLocaleString("en")} shown`;
      cards.show(plans, view.pinned.join(), shown.request);
    },
  );

  store.watch(
    (state) => [state.shown, state.answer.problem, state.answer.phase, state.registry],
    (shown, problem, phase) => {
      const { model, registry, question } = store.get();
      // While another answer is on its way, its buttons would be about a question that is no longer asked.
      explained.inert = ["asking", "streaming"].includes(phase);
      explained.replaceChildren(
        ...explanation({
          shown,
          problem,
          phase,
          model,
          registry,
          question,
          titled: model ? titles(model) : String,
          actions,
        }),
      );
    },
  );

  return { reveal: (rank) => cards.reveal((plan) => plan.rank === rank), printed: cards.printed };
}

// Filtered and sorted, and only if there is something new; while they come in in the order wanted, nothing is sorted.
function createSelection() {
  let last = { plans: null, count: -1, view: null, selected: [] };
  return (plans, view) => {
    if (last.plans === plans && last.count === plans.length && last.view === view) return last.selected;
    const wanted = Object.entries(view.wanted);
    const selected = plans.filter(({ changes }) =>
      wanted.every(([name, how]) => changes.some(({ feature }) => feature === name) === (how === "with")),
    );
    if (view.sort !== "rank") selected.sort(SORTS[view.sort][1]);
    last = { plans, count: plans.length, view, selected };
    return selected;
  };
}
