// Where there is no plan: why, what to give up for one, and what comes closest.

import { LONGEST_WAIT_S } from "../asking.js";
import { h } from "../elements.js";
import { dropWords, itemWords, listed } from "../items.js";
import { counted, scoreText } from "../numbers.js";
import { changeWords, goalOf } from "../words.js";

export function explanation({ shown, problem, phase, model, registry, question, titled, actions }) {
  if (phase === "refused" && problem) return refusal(problem, { question, registry, titled, actions });
  if (phase === "cut")
    return [
      h(
        "p",
        { class: "notice", role: "alert" },
        problem ? problem.message : "The connection broke before the answer was complete.",
      ),
    ];
  if (!["done", "asking", "streaming"].includes(phase) || !shown.summary?.no_recourse) return [];
  const { no_recourse: reasons } = shown.summary;
  const goal = goalOf(shown.start.target, model);
  const words = { registry, titled, constraints: question.constraints };
  const parts = [h("p", {}, why(shown, reasons))];
  if (reasons.relax.length)
    parts.push(
      h("h3", {}, "What to give up for a way"),
      h(
        "ul",
        { class: "relaxations" },
        reasons.relax.map((way) => relaxation(way, words, goal, actions)),
      ),
    );
  if (reasons.more) parts.push(h("p", { class: "help" }, `And ${counted(reasons.more, "other way")}.`));
  if (reasons.best) parts.push(...closest(reasons.best, goal));
  if (!reasons.relax.length) parts.push(...otherRegistries(model, question, actions));
  return parts;
}

function why({ start }, { reason, complete }) {
  const movable = start.features.filter((feature) => feature.movable).length;
  if (reason === "constraints") return "There are ways to turn the decision, but every one of them breaks a rule.";
  if (reason === "ranges" && movable === 0)
    return "No value can move: all are normal, locked, or without a known range. What decides lies elsewhere.";
  if (reason === "ranges")
    return "Even with every abnormal value moved into its normal range, in any combination, and all rules dropped, the model does not change its mind.";
  return complete
    ? "No combination of changes that is allowed turns the decision."
    : "No plan was found in the time there was; the reasons could not be told.";
}

function relaxation({ items, counterfactual }, { constraints, registry, titled }, goal, actions) {
  const own = items.filter((path) => !path.startsWith("registry:"));
  const fixed = items
    .filter((path) => path.startsWith("registry:"))
    .map((path) => itemWords(registry?.constraints ?? {}, path.slice("registry:".length), titled));
  const example = counterfactual
    ? h(
        "p",
        { class: "help" },
        `Then, for example: ${capital(listed(counterfactual.changes.map(changeWords)))}; score ${scoreText(counterfactual.prediction.score, goal.low)}.`,
      )
    : null;
  if (fixed.length) {
    const ours = own.length ? ` and these: ${listed(own.map((path) => itemWords(constraints, path, titled)))}` : "";
    return h(
      "li",
      {},
      h(
        "p",
        {},
        `The registry itself would have to give up: ${listed(fixed)}${ours}. That is for those who keep it to decide.`,
      ),
      example,
    );
  }
  return h(
    "li",
    {},
    h(
      "button",
      { type: "button", class: "primary", onclick: () => actions.drop(own) },
      listed(own.map((path) => dropWords(constraints, path, titled))),
    ),
    example,
  );
}

function closest(best, goal) {
  const changes = best.changes.length ? capital(listed(best.changes.map(changeWords))) : "With nothing changed";
  return [
    h("h3", {}, "What comes closest"),
    h(
      "p",
      {},
      `${changes}: `,
      h("strong", {}, `score ${scoreText(best.prediction.score, goal.low)}`),
      `; ${goal.words}.`,
    ),
  ];
}

function otherRegistries(model, question, actions) {
  const current = question.registry === undefined ? model.normal_ranges : question.registry;
  const others = model.registries.filter((name) => name !== current);
  if (!others.length) return [];
  return [
    h("h3", {}, "Other ranges"),
    h("p", { class: "help" }, "What counts as normal, and where a value would move to, differs between registries."),
    h(
      "div",
      { class: "row" },
      others.map((name) =>
        h(
          "button",
          { type: "button", onclick: () => actions.changeRegistry(name === model.normal_ranges ? undefined : name) },
          `Try the ranges of “${name}”`,
        ),
      ),
    ),
  ];
}

function refusal(problem, { question, registry, titled, actions }) {
  if (problem.kind === "conflicting-constraints") return conflict(problem, { question, registry, titled, actions });
  const shownElsewhere = ({ field }) => field.startsWith("instance.") || field.startsWith("constraints.formulas[");
  const others = problem.errors.filter((error) => !shownElsewhere(error));
  const wait =
    problem.retryAfter && problem.retryAfter <= LONGEST_WAIT_S ? ` It is asked again in ${problem.retryAfter} s.` : "";
  return [
    h(
      "div",
      { class: "notice", role: "alert" },
      h(
        "p",
        {},
        problem.errors.length
          ? others.length
            ? "These parts of the question are not as they should be:"
            : "See the marks at the fields."
          : `${problem.message}${wait}`,
      ),
      others.length
        ? h(
            "ul",
            {},
            others.map(({ field, message }) => h("li", {}, h("code", {}, field), ` ${message}`)),
          )
        : null,
    ),
  ];
}

function conflict(problem, { question, registry, titled, actions }) {
  const items = problem.errors.map(({ field }) => field);
  return [
    h(
      "div",
      { class: "notice", role: "alert" },
      h("p", {}, "These rules contradict each other: nothing can meet all of them. Give up any one:"),
      h(
        "ul",
        { class: "relaxations" },
        items.map((field) => {
          if (field.startsWith("registry:"))
            return h(
              "li",
              {},
              `${itemWords(registry?.constraints ?? {}, field.slice("registry:".length), titled)} (always, by the registry)`,
            );
          const path = field.replace(/^constraints\./, "");
          return h(
            "li",
            {},
            h(
              "button",
              { type: "button", onclick: () => actions.drop([path]) },
              dropWords(question.constraints, path, titled),
            ),
          );
        }),
      ),
    ),
  ];
}

function capital(text) {
  return `${text[0].toUpperCase()}${text.slice(1)}`;
}
