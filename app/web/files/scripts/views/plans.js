// The plans: how the search stands, what they have in common, and each of them as a card.

import { field, fillSelect, h } from "../elements.js";
import { counted } from "../numbers.js";
import { own } from "../own.js";
import { isEarlier, isRunning } from "../state.js";
import { EARLIER, goalOf, roomInside } from "../words.js";
import { createCardWindow } from "./card-window.js";
import { showComparison } from "./comparison.js";
import { showFrequency } from "./frequency.js";
import { planCard, planKey } from "./plan-card.js";
import { showProgress } from "./progress.js";
import { explanation } from "./ways-out.js";

// What comes first; where that is the same, the order of the service.
const SORTS = {
  size: ["fewest changes first", (plan) => plan.changes.length],
  score: ["best score first", (plan, goal) => -roomInside(plan.prediction.score, goal)],
  cost: ["lowest cost (sum of weights) first", (plan) => plan.cost],
};

export function showPlans(section, store, actions) {
  const [progress, explained, frequency] = ["progress", "explained", "frequency"].map((name) => h("div", { class: name }));
  const comparison = h("div", { class: "comparison", hidden: true });
  const sort = h("select", { onchange: () => actions.changeView({ sort: sort.value }) });
  const count = h("span", { class: "count", role: "status" });
  const bar = h("div", { class: "row toolbar", hidden: true }, field("Sort", sort), count);
  const list = h("ul", { class: "plans", "aria-label": "Plans" });
  const earlier = h("p", { class: "earlier", hidden: true }, EARLIER);
  section.append(progress, explained, earlier, frequency, bar, comparison, list);
  const choices = Object.entries(SORTS).map(([name, [text]]) => [name, text]);
  fillSelect(sort, choices, "size");

  showProgress(progress, store, actions);
  showFrequency(frequency, store, actions);
  showComparison(comparison, store, actions);
  showExplanation(explained, store, actions, section);
  const cards = createCardWindow(list, (plan) => drawn(plan, store.get(), actions));
  const selection = createSelection();

  store.watch(
    (state) => [state.shown, state.view, state.answer.phase],
    (shown, view, phase) => {
      const { model, answer } = store.get();
      const plans = shown.start ? selection(shown.plans, view, goalOf(shown.start.target, model)) : [];
      const filtered = plans.length !== shown.plans.length;
      section.classList.toggle("fading", phase !== "empty" && shown.request !== answer.request);
      earlier.hidden = !shown.plans.length || !isEarlier(phase);
      bar.hidden = shown.plans.length < 2 && !filtered;
      sort.value = own(SORTS, view.sort) ? view.sort : "size";
      count.textContent = filtered
        ? `${counted(plans.length, "plan")} of ${shown.plans.length.toLocaleString("en")} shown`
        : "";
      cards.show(plans, { whose: shown.request, label: view.pinned.join() });
    },
  );

  function reveal(rank) {
    // One that is filtered out could not be shown.
    if (!cards.has(rank)) actions.changeView({ wanted: {} });
    cards.reveal(rank);
  }

  return { reveal, printed: cards.printed };
}

function drawn(plan, { model, shown, view }, { togglePin }) {
  const pinned = view.pinned.includes(planKey(plan));
  const goal = goalOf(shown.start.target, model);
  return planCard(plan, { goal, pinned, showsCost: Boolean(shown.request.weights), togglePin });
}

function showExplanation(place, store, actions, section) {
  // What is pressed here is gone with what it changes; the plans that come of it are what is wanted next.
  place.addEventListener("click", (event) => {
    if (event.target.closest("button")) section.focus({ preventScroll: true });
  });
  store.watch(
    (state) => [state.shown, state.answer.problem, state.answer.phase, state.registry],
    () => {
      const state = store.get();
      // While another answer is on its way, its buttons would be about a question that is no longer asked.
      place.inert = isRunning(state.answer.phase);
      place.replaceChildren(...explanation(state, actions));
    },
  );
}

// Filtered and sorted, and only if there is something new.
function createSelection() {
  let last = { plans: null, count: -1, view: null, selected: [] };
  return (plans, view, goal) => {
    if (last.plans === plans && last.count === plans.length && last.view === view) return last.selected;
    const wanted = Object.entries(view.wanted);
    const fits = ({ changes }) =>
      wanted.every(([name, how]) => changes.some(({ feature }) => feature === name) === (how === "with"));
    const [, key] = own(SORTS, view.sort) ?? SORTS.size;
    const keyed = plans.filter(fits).map((plan) => [key(plan, goal), plan]);
    keyed.sort(([one, a], [other, b]) => one - other || a.rank - b.rank);
    last = { plans, count: plans.length, view, selected: keyed.map(([, plan]) => plan) };
    return last.selected;
  };
}
