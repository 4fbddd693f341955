// About the model: what it was made from, how well it does, who says what is normal; and what its other versions and
// other ranges would say of the same person.

import { button, h, newId } from "../elements.js";
import { counted, scoreText } from "../numbers.js";
import { registryOf } from "../person/request.js";
import { flipset } from "../asking/service.js";
import { hasEnded } from "../state.js";
import { capital, goalOf } from "../words.js";

// Says how the model was made, not how it does.
const OF_THE_MAKER = ["script", "command", "seed"];
// How many plans the others are asked for.
const MOST_COUNTED = 100;
const TYPES = { linear: "linear model", trees: "decision trees", network: "neural network", opaque: "of another kind" };
// What the training of a model notes, in words.
const FIGURES = { rows: "Rows of data", mean_auc: "Mean AUC", refused: "Rows decided unfavourably", refused_share: "Share decided unfavourably" };
const COLUMNS = ["Version and ranges", "Says", "Plans", "First plan"];

export function showAbout(place, store) {
  // The button at the end would take the focus, and a small screen would begin there.
  const title = h("h2", { id: newId("dialog"), tabindex: "-1", autofocus: true });
  const facts = h("dl");
  const others = h("div", {});
  const element = h(
    "dialog",
    { class: "about", "aria-labelledby": title.id },
    h("form", { method: "dialog" }, title, facts, others, button("Close", () => element.close())),
  );
  document.body.append(element);
  place.append(button("About the model", show));
  let abort = new AbortController();
  element.addEventListener("close", () => abort.abort());

  function show() {
    const { model, registry, answer } = store.get();
    if (!model) return;
    title.textContent = model.title ?? model.name;
    facts.replaceChildren(...factsOf(model, registry).flatMap(([term, said]) => [h("dt", {}, term), h("dd", {}, said)]));
    others.replaceChildren();
    element.showModal();
    abort = new AbortController();
    if (hasEnded(answer.phase)) compare(store.get(), others, abort.signal);
  }
}

function factsOf(model, registry) {
  const { data, figures = {}, ...rest } = model.training;
  const plain = Object.entries({ ...rest, ...figures }).filter(
    ([name, value]) => ["string", "number"].includes(typeof value) && !OF_THE_MAKER.includes(name),
  );
  return [
    // Of a model that lives elsewhere nobody here knows the digest.
    ["Version", `${model.version}${model.sha256 ? ` (sha256 ${model.sha256.slice(0, 12)})` : ""}`],
    ["Type", TYPES[model.structure.kind] ?? model.structure.kind],
    ...(data ? [["Data", data]] : []),
    ...plain.map(([name, value]) => [figureTitle(name), figureWords(name, value)]),
    ...(registry ? [["Ranges", `${registry.title}, ${registry.version}${registry.source ? `. ${registry.source}` : ""}`]] : []),
  ];
}

function figureTitle(name) {
  const [plans, ranges] = /^share_with_recourse(?:_(.+))?$/.exec(name) ?? [];
  if (plans) return `Of these, with a plan${ranges ? `, ranges ${ranges.replaceAll("_", "-")}` : ""}`;
  return FIGURES[name] ?? capital(name.replaceAll("_", " "));
}

// A share as a percentage: "96.8%".
function figureWords(name, value) {
  return /accuracy|share/.test(name) && value >= 0 && value <= 1 ? `${Number((100 * value).toFixed(1))}%` : String(value);
}

// The same person with every other version, and with every other registry; nothing of it is shown once `signal` says so.
async function compare({ model, models, answer }, place, signal) {
  const base = (name) => name.split("@")[0];
  const { instance, ...question } = answer.request;
  const own = registryOf(model, question);
  const versions = models.filter(({ name }) => base(name) === base(model.name)).map(({ name }) => [name, own]);
  const registries = model.registries.filter((name) => name !== own).map((name) => [model.name, name]);
  const asked = [...versions, ...registries];
  if (asked.length < 2) return;
  place.replaceChildren(h("p", {}, "Asking other versions and ranges about the same values…"));
  const limits = { ...question.limits, max_counterfactuals: MOST_COUNTED };
  const answers = await Promise.all(
    asked.map(([name, registry]) =>
      flipset
        .counterfactuals(name, instance, { ...question, registry, limits }, { signal })
        .then((coming) => coming.read())
        .catch((problem) => ({ problem })),
    ),
  );
  if (signal.aborted) return;
  const head = h("tr", {}, COLUMNS.map((text) => h("th", { scope: "col" }, text)));
  const lines = asked.map(([name, registry], index) => line(name, registry, answers[index], model));
  place.replaceChildren(
    h("h3", {}, "The same values, other versions and ranges"),
    h("div", { class: "scrolled", tabindex: "0", role: "region", "aria-label": "Other versions and ranges" }, h("table", {}, h("thead", {}, head), h("tbody", {}, lines))),
  );
}

function line(name, registry, { start, plans, summary, problem }, model) {
  const cells = problem ? [problem.message, "", ""] : [said(start, model), `${summary.stopped_by ? "at least " : ""}${counted(plans.length, "plan")}`, plans[0]?.sentence ?? why(summary)];
  return h("tr", {}, h("th", { scope: "row" }, name, registry ? `, ranges ${registry}` : ""), cells.map((text) => h("td", {}, text)));
}

function said({ prediction: { label, score }, target }, model) {
  return `${label ?? ""} ${scoreText(score, goalOf(target, model))}`.trim();
}

function why({ outcome }) {
  return outcome === "already_favourable" ? "Nothing has to change." : "";
}
