// A sheet for the person: the decision, the chosen plans in plain sentences, and where it comes from. Nothing else.

import { button, byId, h } from "../elements.js";
import { filterParts } from "../plans/filtering.js";
import { listed } from "../person/items.js";
import { counted } from "../numbers.js";
import { ordered } from "../plans/ordering.js";
import { keptAmong, planKey } from "../plans/plan-key.js";
import { registryOf } from "../person/request.js";
import { storyOf } from "../plans/story.js";
import { capital, fieldWords, goalOf, spoken } from "../words.js";

const MOST_PLANS = 3;

export function showSheet(place, store) {
  const sheet = byId("sheet");
  const print = button("", () => {
    sheet.replaceChildren(...content(store.get()));
    document.body.dataset.sheet = "person";
    globalThis.print();
  });
  place.append(print);
  store.watch(
    (state) => [state.model],
    (model) => {
      print.textContent = `Print for the ${fieldWords(model).person}`;
    },
  );
  addEventListener("afterprint", () => {
    delete document.body.dataset.sheet;
  });
}

function content({ model, answer, view, registry, question }) {
  const { person, decision } = fieldWords(model);
  const { label, favourable } = answer.start.prediction;
  const kept = keptAmong(answer.plans, view.kept);
  const first = ordered(answer.plans, view, model, goalOf(answer.start.target, model)).slice(0, MOST_PLANS).map((plan) => ({ plan, name: answer.names.get(planKey(plan)), isListed: true }));
  const chosen = kept.length ? kept : first;
  const named = new Set(chosen.map(({ plan }) => planKey(plan)));
  const left = answer.plans.filter((plan) => !named.has(planKey(plan))).length;
  const wanted = filterParts(view, spoken(model));
  return [
    h("h1", {}, model.title ?? model.name),
    h("p", {}, `${capital(decision)}: `, h("strong", {}, label ?? String(answer.start.prediction.score)), favourable ? "." : ", not favourable."),
    h("p", {}, storyOf(answer, model)[0] ?? ""),
    h("h2", {}, kept.length ? "The plans we chose" : `What would change the ${decision}`),
    h("ol", {}, chosen.map(planLine)),
    h("p", {}, left > 0 ? `${counted(left, "other plan")} ${left === 1 ? "is" : "are"} not on this sheet${wanted.length ? ` (the list was filtered: only plans ${listed(wanted)})` : ""}.` : ""),
    h("p", {}, `This says what the model would decide for this ${person}. It does not show a cause, and it does not promise an outcome.`),
    h("p", { class: "help" }, sourceWords(model, registry, registryOf(model, question), answer)),
  ];
}

// What was kept of an earlier answer may lead nowhere with these values or rules.
function planLine({ plan, name, isListed }) {
  const from = isListed ? held(plan) : " From an earlier answer; the present one does not list it.";
  return h("li", {}, h("strong", {}, `Plan ${name}. `), plan.sentence, from);
}

function held({ stability }) {
  if (typeof stability?.share !== "number") return "";
  return ` Measured again 100 times, this would hold about ${Math.round(stability.share * 100)} times.`;
}

function sourceWords(model, registry, name, { askedAt, requestId }) {
  const ranges = registry ? `${registry.title} ${registry.version}${registry.source ? `, ${registry.source}` : ""}` : (name ?? "none");
  const asked = askedAt.toLocaleString("en-GB", { dateStyle: "long", timeStyle: "short" });
  return `Model ${model.name} ${model.version}. Ranges: ${ranges}. ${asked}${requestId ? `, request ${requestId}` : ""}.`;
}
