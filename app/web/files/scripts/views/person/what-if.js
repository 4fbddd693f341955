// What if: a copy of a plan, or of the person, with a slider for each value. The person is never overwritten.

import { button, h, newId } from "../../elements.js";
import { scoreText } from "../../numbers.js";
import { own } from "../../own.js";
import { sentOf } from "../../person/request.js";
import { flipset } from "../../asking/service.js";
import { goalOf, titleOf, valueWords } from "../../words.js";
import { scoreBar } from "../decision.js";

const STEPS = 200;
const LEAST_STEPS = 3;
// How finely the way of a slider is looked at.
const POINTS = 40;

export function whatIfDialog(store) {
  const title = h("h2", { id: newId("dialog") });
  const verdict = h("div", { class: "verdict", role: "status" });
  const sliders = h("div", { class: "sliders" });
  const undo = button("Undo", () => step());
  const back = button("Back to the values", () => change(current.begin));
  const close = button("Close", () => element.close());
  const hint = h("p", { class: "help" }, "Green marks where the decision would be favourable, with the other values as they stand here.");
  const element = h(
    "dialog",
    { class: "what-if", "aria-labelledby": title.id, onclose: () => sliders.replaceChildren() },
    h("form", { method: "dialog" }, title, verdict, hint, sliders, h("div", { class: "row" }, undo, back, close)),
  );
  document.body.append(element);
  let current = null;

  function open(instance, { start, request: { target } }, words) {
    const { model } = store.get();
    current = { model, start, begin: instance, row: instance, past: [], target: target ? { target } : {}, turn: 0 };
    title.textContent = words;
    current.rows = model.features.filter((one) => one.type !== "category").map((feature) => slider(feature));
    // Abnormal values first: they are what a plan is about.
    current.rows.sort((one, other) => other.isAbnormal - one.isAbnormal);
    sliders.replaceChildren(...current.rows.map(({ line }) => line));
    element.showModal();
    show();
  }

  function change(row, { isDragged = false } = {}) {
    if (!isDragged) current.past.push(current.row);
    current.row = row;
    show();
  }

  function step() {
    current.row = current.past.pop() ?? current.row;
    show();
  }

  function slider(feature) {
    const finding = current.start.features.find(({ name }) => name === feature.name);
    const [low, high] = extent(finding, feature, current.row[feature.name]);
    const text = h("span", { class: "at", "aria-hidden": "true" });
    let before = null;
    const input = h("input", {
      type: "range",
      min: low,
      max: high,
      step: feature.type === "integer" ? 1 : (high - low) / STEPS,
      "aria-label": titleOf(feature),
      oninput: () => {
        before ??= current.row;
        change({ ...current.row, [feature.name]: valueOf(input, feature) }, { isDragged: true });
      },
      onchange: () => {
        if (before) current.past.push(before);
        before = null;
        show();
      },
      onfocus: () => show(),
    });
    const track = h("div", { class: "track", "aria-hidden": "true" });
    const line = h("label", { class: "slider" }, h("span", {}, titleOf(feature)), h("div", {}, track, input), text);
    return { feature, input, track, text, line, low, high, isAbnormal: !["normal", "unknown"].includes(finding.status) };
  }

  async function show() {
    const mine = ++current.turn;
    const { model, row, rows, target, past, begin } = current;
    undo.disabled = !past.length;
    back.disabled = row === begin;
    for (const { feature, input, text } of rows) {
      const value = own(row, feature.name);
      if (document.activeElement !== input || valueOf(input, feature) !== value) input.value = value ?? "";
      text.textContent = valueWords(value ?? null, feature);
      input.setAttribute("aria-valuetext", text.textContent);
    }
    // Those that a plan is about, and those that are being tried: of all others there is nothing green to show.
    const isTried = ({ feature: { name }, input }) => own(row, name) !== own(begin, name) || input === document.activeElement;
    const ways = rows.filter((one) => one.isAbnormal || isTried(one));
    for (const { track } of rows) track.hidden = true;
    const all = [row, ...ways.flatMap((one) => pointsOf(one).map((value) => ({ ...row, [one.feature.name]: value })))];
    const judged = await flipset.predictions(model.name, all.map((one) => sentOf(model, one)), target).catch((problem) => problem);
    if (mine !== current.turn) return;
    if (!judged.predictions) verdict.replaceChildren(judged.message);
    else showJudged(judged.predictions, ways);
  }

  function showJudged([now, ...others], ways) {
    const goal = goalOf(current.start.target, current.model);
    verdict.replaceChildren(
      h("p", { class: `label ${now.favourable ? "good" : "bad"}` }, h("strong", {}, now.label ?? scoreText(now.score, goal))),
      scoreBar(now.score, goal, now.favourable),
      h("p", { class: "score" }, `${current.start.target.classes ? "Score" : "Result"} `, h("strong", { "data-score": "" }, scoreText(now.score, goal)), `; ${goal.words}.`),
    );
    for (const [index, way] of ways.entries())
      paint(way, others.slice(index * (POINTS + 1), (index + 1) * (POINTS + 1)).map(({ favourable }) => favourable));
  }

  return {
    ofPlan: (plan, name) => open(plan.instance, store.get().shown, `What if: a copy of plan ${name}`),
    ofPerson() {
      const { start, answer } = store.get();
      open(answer.request.instance, { start, request: answer.request }, "What if: a copy of these values");
    },
  };
}

function valueOf(input, { type }) {
  return type === "integer" ? Math.round(Number(input.value)) : Number(Number(input.value).toPrecision(4));
}

function pointsOf({ low, high, feature }) {
  const points = Array.from({ length: POINTS + 1 }, (_, index) => low + ((high - low) * index) / POINTS);
  return feature.type === "integer" ? points.map(Math.round) : points;
}

// Green where it is favourable; the ends of green are where the decision turns.
function paint({ track }, favourable) {
  track.hidden = false;
  const stops = favourable.map((is, index) => {
    const place = (share) => `${((100 * share) / POINTS).toFixed(1)}%`;
    const colour = is ? "var(--good)" : "transparent";
    return `${colour} ${place(Math.max(index - 0.5, 0))} ${place(Math.min(index + 0.5, POINTS))}`;
  });
  track.style.background = `linear-gradient(90deg, ${stops.join(", ")})`;
}

// Room on both sides of all that is known, within what is plausible; of a whole number, at least a few steps.
function extent({ low, high, target, value }, { bounds, type }, at) {
  const known = [low, high, target, value, at].filter((one) => typeof one === "number");
  const [least, most] = [Math.min(...known), Math.max(...known)];
  const share = (most - least || Math.abs(most) || 1) * 0.25;
  const room = type === "integer" ? Math.max(Math.ceil(share), LEAST_STEPS) : share;
  const floor = bounds?.low ?? (least >= 0 ? 0 : -Infinity);
  return [Math.max(least - room, Math.min(floor, least)), Math.min(most + room, Math.max(bounds?.high ?? Infinity, most))];
}
