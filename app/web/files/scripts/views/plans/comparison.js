// The plans that were kept: they stay, by their names, whatever the next question brings. Two or more are compared.

import { button, h, unseen } from "../../elements.js";
import { scoreText, withUnit } from "../../numbers.js";
import { keptAmong } from "../../plans/plan-key.js";
import { hasEnded } from "../../state.js";
import { arrowOf, goalOf } from "../../words.js";
import { feedbackChoice, keepsRecords } from "./feedback.js";

export function showComparison(place, store, actions) {
  const recording = h("p", { class: "help", role: "status" });
  const tell = (words) => (recording.textContent = words);
  store.watch(
    (state) => [state.shown.request, state.shown.phase, state.view.kept],
    (request, phase, keptBefore) => {
      const { shown } = store.get();
      place.hidden = keptBefore.length === 0 || !shown.start;
      if (place.hidden) return;
      const kept = keptAmong(shown.plans, keptBefore);
      // While plans stream in, it may still come.
      const gone = hasEnded(phase) ? kept.filter(({ isListed }) => !isListed) : [];
      place.replaceChildren(
        h("h3", {}, kept.length > 1 ? "Kept plans, compared" : "Kept plan"),
        table(kept, store.get(), { keep: actions.keep, tell }),
        ...(gone.length ? [h("p", { class: "help" }, goneWords(gone))] : []),
        recording,
        button("Keep none", () => {
          actions.changeView({ kept: [] });
          place.closest("section").focus({ preventScroll: true });
        }),
      );
    },
  );
}

function goneWords(gone) {
  const names = gone.map(({ name }) => `Plan ${name}`).join(", ");
  return `Not among the current plans: ${names}. The score is from when it was kept.`;
}

function table(kept, state, { keep, tell }) {
  const { start } = state.shown;
  const goal = goalOf(start.target, state.model);
  const changes = kept.map(({ plan }) => new Map(plan.changes.map((change) => [change.feature, change])));
  const inAll = (name) => changes.every((one) => one.has(name));
  const touched = start.features.filter(({ name }) => changes.some((one) => one.has(name)));
  // What sets them apart first.
  touched.sort((one, other) => inAll(one.name) - inAll(other.name));
  const columns = kept.map(({ plan, name }) => h("th", { scope: "col" }, `Plan ${name} `, release(plan, name, keep)));
  const head = [...["Value", "Now"].map((text) => h("th", { scope: "col" }, text)), ...columns];
  const features = touched.map(({ name, title, value, unit }) =>
    row(title ?? name, [h("td", {}, withUnit(value, unit)), ...changes.map((one) => cell(one.get(name)))]),
  );
  const sizes = kept.map(({ plan }) => plan.changes.length);
  const scores = [start, ...kept.map(({ plan }) => plan)].map(({ prediction }) => scoreText(prediction.score, goal));
  const sums = [row("Changes", ["–", ...sizes].map(sum)), row("Score", scores.map(sum))];
  const became = ({ plan, name, isListed }) => h("td", {}, isListed && feedbackChoice(plan, name, state, tell));
  const feedback = keepsRecords() && row("What became of it", [h("td", {}), ...kept.map(became)]);
  const all = h("table", {}, h("thead", {}, h("tr", {}, head)), h("tbody", {}, features, sums, feedback));
  return h("div", { class: "scrolled", tabindex: "0", role: "region", "aria-label": "Kept plans" }, all);
}

function release(plan, name, keep) {
  const cross = button("", () => keep(plan, name), { class: "release" });
  cross.append(h("span", { "aria-hidden": "true" }, "×"), unseen(`No longer keep plan ${name}`));
  return cross;
}

function row(title, cells) {
  return h("tr", {}, h("th", { scope: "row" }, title), cells);
}

function sum(value) {
  return h("td", { class: "sum" }, String(value));
}

function cell(change) {
  if (!change) return h("td", { class: "same" }, "as it is");
  return h("td", { class: "moved" }, `${arrowOf(change)} ${withUnit(change.to, change.unit)}`);
}
