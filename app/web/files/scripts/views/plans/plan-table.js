// The plans as a table, a line each: what changes, and to what.

import { button, h, unseen } from "../../elements.js";
import { scoreText, withUnit } from "../../numbers.js";
import { planKey } from "../../plans/plan-key.js";
import { arrowOf, capital, spoken } from "../../words.js";

const PORTION = 50;

// `shows` is {names, goal, kept, model}; more lines come with a button.
export function createPlanTable(place, keep) {
  let most = PORTION;
  let current = null;

  function render() {
    const { plans, shows } = current;
    const features = columnsOf(plans);
    const told = plans.some(({ stability }) => typeof stability?.share === "number");
    const say = spoken(shows.model);
    const titles = ["Plan", "Changes", "Score", ...(told ? ["Holds"] : []), ...features.map((name) => capital(say(name)))];
    const head = h("tr", {}, titles.map((text) => h("th", { scope: "col" }, text)));
    const lines = plans.slice(0, most).map((plan) => line(plan, features, told, shows, keep));
    const left = plans.length - lines.length;
    const region = h("div", { class: "scrolled", tabindex: "0", role: "region", "aria-label": "Table of plans" });
    region.append(h("table", {}, h("thead", {}, head), h("tbody", {}, lines)));
    const more = left > 0 && button(`Show ${Math.min(PORTION, left)} more`, goOn, { class: "more" });
    place.replaceChildren(region, ...(more ? [more] : []));
  }

  function goOn() {
    most += PORTION;
    render();
    place.querySelector(".more, .scrolled").focus({ preventScroll: true });
  }

  return (plans, shows) => {
    if (current && current.shows.whose !== shows.whose) most = PORTION;
    current = { plans, shows };
    const hadFocus = place.contains(document.activeElement) && document.activeElement.dataset.key;
    render();
    if (hadFocus) [...place.querySelectorAll("[data-key]")].find(({ dataset }) => dataset.key === hadFocus)?.focus({ preventScroll: true });
  };
}

// What changes anywhere, most often first.
function columnsOf(plans) {
  const counts = new Map();
  for (const { changes } of plans) for (const { feature } of changes) counts.set(feature, (counts.get(feature) ?? 0) + 1);
  return [...counts].sort(([, one], [, other]) => other - one).map(([name]) => name);
}

function line(plan, features, told, { names, goal, kept }, keep) {
  const key = planKey(plan);
  const name = names.get(key);
  const isKept = kept.some((one) => one.key === key);
  const star = button(isKept ? "Kept" : "Keep", () => keep(plan, name), { class: "keep", "aria-pressed": String(isKept), "data-key": key });
  star.append(unseen(` plan ${name}`));
  const changes = new Map(plan.changes.map((change) => [change.feature, change]));
  const share = plan.stability?.share;
  return h(
    "tr",
    {},
    h("th", { scope: "row" }, `${name} `, star),
    h("td", {}, String(plan.changes.length)),
    h("td", {}, scoreText(plan.prediction.score, goal)),
    told && h("td", {}, typeof share === "number" ? `${Math.round(100 * share)}%` : ""),
    features.map((feature) => cell(changes.get(feature))),
  );
}

function cell(change) {
  return change ? h("td", {}, `${arrowOf(change)} ${withUnit(change.to, change.unit)}`) : h("td", { class: "same" }, unseen("as it is"));
}
