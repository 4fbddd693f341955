// Where there is no plan: why, what to give up for one, and what comes closest.

import { secondsToWait } from "../../asking/asking.js";
import { button, h } from "../../elements.js";
import { dropWords, itemPaths, itemWords, listed } from "../../person/items.js";
import { counted, scoreText } from "../../numbers.js";
import { registryOf } from "../../person/request.js";
import { ownerOf, standing } from "../../person/standing.js";
import { isRunning } from "../../state.js";
import { marksOf, mustHold } from "../../plans/stability.js";
import { capital, goalOf, spoken } from "../../words.js";

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
    parts.push(h("h3", {}, droppedTitle(shown.summary)), relaxations(reasons.relax, words, goal, actions));
  if (reasons.more) parts.push(h("p", { class: "help" }, `And ${counted(reasons.more, "other way")}.`));
  const within = hasRules(shown.request, model, registry) ? " within the rules" : "";
  const short = (best) => shortOf(best, shown.start.target, goal, spoken(model));
  if (reasons.best) parts.push(...closest(`The closest result${within}`, reasons.best, goal, short));
  if (reasons.best_without_rules)
    parts.push(...closest("The closest result without the rules", reasons.best_without_rules, goal, short));
  if (!reasons.relax.length) parts.push(...otherRegistries(model, shown.request, actions));
  return parts;
}

// What the items of a request are called, and what the button that gives one up says. It is the request that was answered,
// and not the one that is being written now, whose items the answer names.
function wordsOf(request, model, registry) {
  const titled = spoken(model);
  const asked = request.constraints ?? {};
  const owner = (path) => ownerOf(path, standing(model, registry));
  const itemOf = (path, { prefix, constraints }) => itemWords(constraints, path.slice(prefix.length), titled);
  return {
    owner: (path) => owner(path)?.by,
    item: (path) => itemOf(path, owner(path) ?? { prefix: "", constraints: asked }),
    drop: (path) => dropWords(asked, path, titled),
  };
}

// Whether there is anything that what comes closest has to keep to.
function hasRules(request, model, registry) {
  const always = standing(model, registry).map(({ constraints }) => constraints);
  return [request.constraints, ...always].some((one) => itemPaths(one ?? {}).length > 0);
}

function why({ start, summary }, { reason, complete }) {
  const movable = start.features.filter((feature) => feature.movable).length;
  if (summary.outcome === "unknown")
    return "There may still be a plan: not every combination of changes could be tried.";
  if (reason === "constraints") return "There are plans, but every one of them breaks a rule.";
  if (reason === "ranges" && movable === 0)
    return "No value can move: each one is normal, locked, or has no known range.";
  const holding = mustHold(start);
  if (reason === "ranges")
    return holding
      ? "No combination of abnormal values moved into range holds, even without the rules."
      : "The decision stays the same for every combination of abnormal values moved into range, even without the rules.";
  const said = `No permitted combination of changes ${holding ? "holds" : "changes the decision"}.`;
  return complete ? said : `${said} ${whyNotTold(start.limits, summary)}`;
}

// A search that was cut short may have missed a plan within the rules.
function droppedTitle({ outcome }) {
  const title = "Rules that could be dropped";
  return outcome === "unknown" ? `${title}, if there is no plan within them` : title;
}

// What ran out while it was looked for why.
function whyNotTold(limits, { model_rows: rows, elapsed_ms: elapsed }) {
  if (rows >= limits.max_model_rows)
    return `The search reached its limit of ${counted(limits.max_model_rows, "combination")} before it could tell why.`;
  if (elapsed.total >= limits.deadline_ms) return "Time ran out before it could tell why.";
  return "The search ended before it could tell why.";
}

function relaxations(ways, words, goal, actions) {
  return h(
    "ul",
    { class: "relaxations" },
    ways.map((way) => h("li", {}, relaxation(way, words, goal, actions))),
  );
}

function relaxation({ items, counterfactual }, words, goal, actions) {
  const fixed = items.filter(words.owner);
  const ours = items.filter((path) => !words.owner(path));
  const example = counterfactual && h("p", { class: "help" }, `Then, for example: ${planSentence(counterfactual, goal)}`);
  if (!fixed.length) {
    const given = capital(listed(ours.map((path) => uncapital(words.drop(path)))));
    // On paper there is nothing to press, and it is still to be read.
    const printed = h("p", { class: "only-printed" }, `${given}.`);
    return [button(given, () => actions.drop(ours), { class: "primary" }), printed, example];
  }
  const besides = ours.length ? ` and these: ${listed(ours.map(words.item))}` : "";
  const keepers = listed([...new Set(fixed.map(words.owner))]);
  const said = `${capital(keepers)} would have to drop: ${listed(fixed.map(words.item))}${besides}.`;
  return [h("p", {}, `${said} You cannot change that here.`), example];
}

// A plan in the service's words, and the score that it reaches.
function planSentence({ changes, sentence, prediction }, goal) {
  const said = changes.length ? sentence.replace(/\.$/, "") : "With nothing changed";
  return `${said}; score ${scoreText(prediction.score, goal)}.`;
}

function closest(title, best, goal, short) {
  return [h("h3", {}, title), h("p", {}, `${planSentence(best, goal)} ${short(best)}`)];
}

// What it lacks: the decision, or plans that hold are asked for and this one does not.
function shortOf(best, target, goal, names) {
  const isFavoured = target.classes?.includes(best.prediction.label);
  const marks = marksOf(best, names).map(({ words }) => `${capital(words)}.`);
  return [...(isFavoured ? [] : [`But ${goal.words}.`]), ...marks].join(" ");
}

function otherRegistries(model, request, actions) {
  const others = model.registries.filter((name) => name !== registryOf(model, request));
  if (!others.length) return [];
  return [
    h("h3", {}, "Other ranges"),
    h("p", { class: "help" }, "Other sets of ranges may draw the line elsewhere."),
    h(
      "div",
      { class: "row" },
      others.map((name) => button(`Try the ranges “${name}”`, () => actions.changeRegistry(name))),
    ),
  ];
}

// What is said at a field is not said again.
const isShownElsewhere = ({ field }) => field.startsWith("instance.") || field.startsWith("constraints.formulas[");

function refusal(problem, words, actions) {
  if (problem.kind === "conflicting-constraints") return [conflict(problem, words, actions)];
  const others = problem.fields.filter((error) => !isShownElsewhere(error));
  if (others.length) {
    const list = others.map(({ field, message }) => h("li", {}, h("code", {}, field), ` ${message}`));
    return [
      h(
        "div",
        { class: "notice" },
        h("p", {}, "The service did not accept these parts of the request:"),
        h("ul", {}, list),
      ),
    ];
  }
  if (problem.fields.length) return [h("p", { class: "notice" }, "See the marked fields.")];
  const seconds = secondsToWait(problem);
  const wait = seconds ? ` The page tries again in ${seconds} s.` : "";
  return [h("p", { class: "notice" }, `${problem.message}${wait}`)];
}

function conflict(problem, words, actions) {
  const items = problem.fields.map(({ field }) => field.replace(/^constraints\./, ""));
  const choices = items.map((path) =>
    h(
      "li",
      {},
      words.owner(path)
        ? `${words.item(path)} (always, set by ${words.owner(path)})`
        : button(words.drop(path), () => actions.drop([path])),
    ),
  );
  const said =
    items.length > 1
      ? "These rules contradict each other. Drop any one of them:"
      : `This rule cannot be met: ${problem.fields[0].message}. Drop it:`;
  return h("div", { class: "notice" }, h("p", {}, said), h("ul", { class: "relaxations" }, choices));
}

function uncapital(text) {
  return `${text[0].toLowerCase()}${text.slice(1)}`;
}
