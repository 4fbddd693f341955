// The plans: how the search stands, what they have in common, and each of them as a card.

import { button, field, fillSelect, h } from "../../elements.js";
import { filterWords, isFiltered, NO_FILTER } from "../../plans/filtering.js";
import { ordered, SORTS } from "../../plans/ordering.js";
import { own } from "../../own.js";
import { isEarlier, isRunning } from "../../state.js";
import { EARLIER, goalOf, rangeWord, spoken } from "../../words.js";
import { createCardWindow } from "./card-window.js";
import { showComparison } from "./comparison.js";
import { planKey } from "../../plans/plan-key.js";
import { planCard } from "./plan-card.js";
import { createPlanTable } from "./plan-table.js";
import { showProgress } from "./progress.js";
import { explanation } from "./ways-out.js";
import { choices } from "./which.js";

// So few are found at a glance.
const FEW = 6;

export function showPlans(section, store, actions, tryOut) {
  const [progress, explained] = ["progress", "explained"].map((name) => h("div", { class: name }));
  const comparison = h("div", { class: "comparison", hidden: true });
  const sort = h("select", { onchange: () => actions.changeView({ sort: sort.value }) });
  const count = h("span", { class: "count", role: "status" });
  const all = button("Show all", () => showAll(), { hidden: true });
  const search = h("input", { type: "search", autocomplete: "off", oninput: () => actions.changeView({ search: search.value }) });
  const sought = field("Search", search);
  const tabled = button("Table", () => actions.changeView({ isTable: !store.get().view.isTable }));
  const bar = h("div", { class: "row toolbar", hidden: true }, field("Sort", sort), sought, tabled, count, all);
  const table = h("div", { class: "plan-table", hidden: true });
  const list = h("ul", { class: "plans", "aria-label": "Plans" });
  const earlier = h("p", { class: "earlier", hidden: true }, EARLIER);
  section.append(progress, explained, earlier, bar, comparison, table, list);
  const sorts = Object.entries(SORTS).map(([name, [text]]) => [name, text]);
  fillSelect(sort, sorts, "size");

  showProgress(progress, store, actions);
  showComparison(comparison, store, actions);
  showExplanation(explained, store, actions, section);
  const cards = createCardWindow(list, (plan) => drawn(plan, store.get(), { ...choices(store, actions), tryOut }));
  const selection = createSelection();
  const fillTable = createPlanTable(table, actions.keep);

  store.watch(
    (state) => [state.shown, state.view, state.answer.phase, state.turns],
    (shown, view, phase, turns) => {
      const { model, answer } = store.get();
      const plans = shown.start ? selection(shown.plans, view, model, goalOf(shown.start.target, model)) : [];
      const filtered = isFiltered(view);
      section.classList.toggle("fading", phase !== "empty" && shown.request !== answer.request);
      earlier.hidden = !shown.plans.length || !isEarlier(phase);
      bar.hidden = shown.plans.length < 2 && !filtered;
      sort.value = own(SORTS, view.sort) ? view.sort : "size";
      all.hidden = !filtered;
      sought.hidden = shown.plans.length <= FEW && view.search === "";
      if (document.activeElement !== search) search.value = view.search;
      count.textContent = filtered ? filterWords(plans, shown.plans, view, spoken(model)) : "";
      const isTable = view.isTable && plans.length > 0;
      tabled.setAttribute("aria-pressed", String(view.isTable));
      table.hidden = !isTable;
      section.classList.toggle("tabled", isTable);
      cards.show(plans, { whose: shown.request, label: `${view.kept.map(({ key }) => key)} ${turns?.request === shown.request}` });
      if (isTable) fillTable(plans, { whose: shown.request, names: shown.names, goal: goalOf(shown.start.target, model), kept: view.kept, model });
    },
  );

  function showAll() {
    search.value = "";
    actions.changeView(NO_FILTER);
    section.focus({ preventScroll: true });
  }

  function reveal(rank) {
    actions.changeView({ isTable: false });
    // One that is filtered out could not be shown.
    if (!cards.has(rank)) actions.changeView(NO_FILTER);
    cards.reveal(rank);
  }

  return { reveal, printed: cards.printed };
}

function drawn(plan, { model, shown, view, turns }, doing) {
  const key = planKey(plan);
  const told = {
    name: shown.names.get(key),
    goal: goalOf(shown.start.target, model),
    kept: view.kept.some((one) => one.key === key),
    showsCost: Boolean(shown.request.weights),
    enough: turns?.request === shown.request ? turns.enough[key] : {},
    names: spoken(model),
    findings: findingsOf(shown.start),
    word: rangeWord(model),
  };
  return planCard(plan, told, doing);
}

function findingsOf({ features }) {
  return new Map(features.map((finding) => [finding.name, finding]));
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
  return (plans, view, model, goal) => {
    if (last.plans !== plans || last.count !== plans.length || last.view !== view)
      last = { plans, count: plans.length, view, selected: ordered(plans, view, model, goal) };
    return last.selected;
  };
}
