// Where there is no plan: why, what to give up for one, and what comes closest.

import { LONGEST_WAIT_S } from "../asking.js";
import { button, h } from "../elements.js";
import { dropWords, itemPaths, itemWords, listed } from "../items.js";
import { counted, scoreText } from "../numbers.js";
import { registryOf } from "../request.js";
import { isRunning } from "../state.js";
import { changeWords, goalOf, titles } from "../words.js";

const REGISTRY = "registry:";

export function explanation({ shown, answer, model, registry }, actions) {
  const { phase, problem } = answer;
  if (phase === "refused") return refusal(problem, wordsOf(answer.request, model, registry), actions);
  if (phase === "cut")
    return [h("p", { class: "notice" }, problem?.message ?? "The connection broke before the answer was complete.")];
  const isCurrent = phase === "done" || isRunning(phase);
  if (!isCurrent || !shown.summary?.no_recourse) return [];
  const { no_recourse: reasons } = shown.summary;
  const goal = goalOf(shown.start.target, model);
  const words = wordsOf(shown.request, model, registry);
  const parts = [h("p", {}, why(shown, reasons))];
  if (reasons.relax.length)
    parts.push(h("h3", {}, "What to give up to open a way"), relaxations(reasons.relax, words, goal, actions));
  if (reasons.more) parts.push(h("p", { class: "help" }, `And ${counted(reasons.more, "other way")}.`));
  const isAside = hasRules(shown.request, registry);
  if (reasons.best) parts.push(...closest(reasons.best, goal, isAside));
  if (!reasons.relax.length) parts.push(...otherRegistries(model, shown.request, actions));
  return parts;
}

// What the items of a request are called, and what the button that gives one up says. It is the request that was answered,
// and not the one that is being written now, whose items the answer names.
function wordsOf(request, model, registry) {
  const titled = titles(model);
  const asked = request.constraints ?? {};
  const always = registry?.constraints ?? {};
  const isFixed = (path) => path.startsWith(REGISTRY);
  return {
    isFixed,
    item: (path) =>
      isFixed(path) ? itemWords(always, path.slice(REGISTRY.length), titled) : itemWords(asked, path, titled),
    drop: (path) => dropWords(asked, path, titled),
  };
}

// Whether there is anything that what comes closest could break.
function hasRules(request, registry) {
  return [request.constraints, registry?.constraints].some((one) => itemPaths(one ?? {}).length > 0);
}

function why({ start, summary }, { reason, complete }) {
  const movable = start.features.filter((feature) => feature.movable).length;
  if (reason === "constraints") return "There are ways to turn the decision, but every one of them breaks a rule.";
  if (reason === "ranges" && movable === 0)
    return "No value can move: all are normal, locked, or without a known range. What decides lies elsewhere.";
  if (reason === "ranges")
    return "Even with every abnormal value moved into its normal range, in any combination, and all rules dropped, the model does not change its mind.";
  const said = "No combination of changes that is allowed turns the decision.";
  return complete ? said : `${said} ${whyNotTold(start.limits, summary)}`;
}

// What ran out while it was looked for why.
function whyNotTold(limits, { model_rows: rows, elapsed_ms: elapsed }) {
  if (rows >= limits.max_model_rows)
    return `The budget of ${counted(limits.max_model_rows, "model row")} was spent before it was known why.`;
  if (elapsed.total >= limits.deadline_ms) return "There was not time enough to tell why.";
  return "The search ended before it was known why.";
}

function relaxations(ways, words, goal, actions) {
  return h(
    "ul",
    { class: "relaxations" },
    ways.map((way) => h("li", {}, relaxation(way, words, goal, actions))),
  );
}

function relaxation({ items, counterfactual }, words, goal, actions) {
  const fixed = items.filter(words.isFixed);
  const ours = items.filter((path) => !words.isFixed(path));
  const example = counterfactual && h("p", { class: "help" }, `Then, for example: ${planSentence(counterfactual, goal)}`);
  if (!fixed.length) {
    const given = capital(listed(ours.map((path) => uncapital(words.drop(path)))));
    // On paper there is nothing to press, and it is still to be read.
    const printed = h("p", { class: "only-printed" }, `${given}.`);
    return [button(given, () => actions.drop(ours), { class: "primary" }), printed, example];
  }
  const besides = ours.length ? ` and these: ${listed(ours.map(words.item))}` : "";
  const said = `The registry itself would have to give up: ${listed(fixed.map(words.item))}${besides}.`;
  return [h("p", {}, `${said} That is for those who keep it to decide.`), example];
}

// A plan in words, and the score that it reaches.
export function planSentence({ changes, prediction }, goal) {
  const said = changes.length ? capital(listed(changes.map(changeWords))) : "With nothing changed";
  return `${said}; score ${scoreText(prediction.score, goal)}.`;
}

function closest(best, goal, isAside) {
  const title = isAside ? "What comes closest, rules aside" : "What comes closest";
  return [h("h3", {}, title), h("p", {}, `${planSentence(best, goal)} But ${goal.words}.`)];
}

function otherRegistries(model, request, actions) {
  const others = model.registries.filter((name) => name !== registryOf(model, request));
  if (!others.length) return [];
  return [
    h("h3", {}, "Other ranges"),
    h("p", { class: "help" }, "What counts as normal, and where a value would move to, differs between registries."),
    h(
      "div",
      { class: "row" },
      others.map((name) => button(`Try the ranges of “${name}”`, () => actions.changeRegistry(name))),
    ),
  ];
}

// What is said at a field is not said again.
const isShownElsewhere = ({ field }) => field.startsWith("instance.") || field.startsWith("constraints.formulas[");

function refusal(problem, words, actions) {
  if (problem.kind === "conflicting-constraints") return [conflict(problem, words, actions)];
  const others = problem.errors.filter((error) => !isShownElsewhere(error));
  if (others.length) {
    const list = others.map(({ field, message }) => h("li", {}, h("code", {}, field), ` ${message}`));
    return [
      h(
        "div",
        { class: "notice" },
        h("p", {}, "These parts of the question are not as they should be:"),
        h("ul", {}, list),
      ),
    ];
  }
  if (problem.errors.length) return [h("p", { class: "notice" }, "See the marks at the fields.")];
  const isWaiting = problem.isPassing && problem.retryAfter <= LONGEST_WAIT_S;
  const wait = isWaiting ? ` It is asked again in ${problem.retryAfter} s.` : "";
  return [h("p", { class: "notice" }, `${problem.message}${wait}`)];
}

function conflict(problem, words, actions) {
  const items = problem.errors.map(({ field }) => field.replace(/^constraints\./, ""));
  const choices = items.map((path) =>
    h(
      "li",
      {},
      words.isFixed(path)
        ? `${words.item(path)} (always, by the registry)`
        : button(words.drop(path), () => actions.drop([path])),
    ),
  );
  const said = "These rules contradict each other: nothing can meet all of them. Give up any one:";
  return h("div", { class: "notice" }, h("p", {}, said), h("ul", { class: "relaxations" }, choices));
}

function uncapital(text) {
  return `${text[0].toLowerCase()}${text.slice(1)}`;
}

function capital(text) {
  return `${text[0].toUpperCase()}${text.slice(1)}`;
}
