// The verdict: what the model says now, how far that is from what is wanted, and what would change it, in a sentence.

import { h, sign, svg } from "../elements.js";
import { scoreText } from "../numbers.js";
import { markPainted } from "../asking/painted.js";
import { planKey } from "../plans/plan-key.js";
import { isEarlier, isRunning } from "../state.js";
import { storyOf } from "../plans/story.js";
import { capital, EARLIER, fieldWords, goalOf } from "../words.js";

const LOADING = "Loading the model…";

// `rest` is for what the strip has no room for on a narrow screen.
export function showDecision(section, store, rest) {
  section.querySelector(".loading").remove();
  const title = section.querySelector("h2");
  const place = h("div", { class: "verdict" });
  const story = h("p", { class: "story" });
  section.append(place, story);
  // What sticks below it has to know how high it is.
  new ResizeObserver(() => {
    document.documentElement.style.setProperty("--strip", `${section.offsetHeight}px`);
  }).observe(section);
  store.watch(
    (state) => [state.model],
    (model) => {
      title.textContent = capital(fieldWords(model).decision);
    },
  );
  store.watch(
    (state) => [state.start, state.model, state.answer.phase, state.isLoading],
    (start, model, phase, isLoading) => {
      place.replaceChildren(...(start ? verdict(start, model) : [h("p", { class: "lead" }, leadWords(model, phase, isLoading))]));
      const isOld = Boolean(start) && (isEarlier(phase) || isLoading);
      section.classList.toggle("fading", isOld);
      if (isOld) place.prepend(h("p", { class: "earlier" }, isLoading ? LOADING : EARLIER));
    },
  );
  store.watch(
    (state) => [state.shown, state.model, state.turns],
    (shown, model, turns) => {
      const known = turns?.request === shown.request ? turns.enough : {};
      const sentences = shown.start ? storyOf(shown, model, (plan, feature) => known[planKey(plan)]?.[feature]) : [];
      if (sentences.length) markPainted("first-sentence");
      story.replaceChildren(...sentences.map((sentence, index) => h(index ? "span" : "strong", {}, `${sentence} `)));
      rest.textContent = sentences.slice(1).join(" ");
    },
  );
}

// What the strip says as long as there is no decision.
function leadWords(model, phase, isLoading) {
  if (isLoading) return LOADING;
  if (isRunning(phase)) return "Asking the model…";
  return model ? `Enter the ${fieldWords(model).person}'s values, paste them, or choose an example.` : "";
}

function verdict(start, model) {
  const { label, score, favourable } = start.prediction;
  const goal = goalOf(start.target, model);
  const value = scoreText(score, goal);
  return [
    h(
      "p",
      { class: `label ${favourable ? "good" : "bad"}` },
      sign(favourable ? "✓" : "✕"),
      h("strong", {}, label ?? value),
      favourable ? " – favourable" : " – not favourable",
    ),
    scoreBar(score, goal, favourable),
    h(
      "p",
      { class: "score" },
      `${scoreWord(start.target)} `,
      h("strong", { "data-score": "" }, value),
      `; ${goal.words}.`,
    ),
  ];
}

// Whose score it is; of a regression there is a result.
function scoreWord({ classes }) {
  if (!classes) return "Result";
  return `Score of ${classes.join(" or ")}${classes.length > 1 ? " together" : ""}`;
}

// The score on its scale, the part that is wanted behind it.
export function scoreBar(score, goal, favourable, title = "") {
  const [from, to] = extent(score, goal);
  const place = (value) => `${(100 * (Math.min(Math.max(value, from), to) - from)) / (to - from)}%`;
  const wantedFrom = goal.low ?? (goal.high === null ? null : from);
  const bar = svg(
    "svg",
    {
      class: `score-bar ${favourable ? "good" : "bad"}`,
      height: "16",
      role: "img",
      "aria-label": title || `score ${scoreText(score, goal)}, ${goal.words}`,
    },
    svg("rect", { class: "ground", x: "0", y: "4", width: "100%", height: "8", rx: "4" }),
  );
  if (wantedFrom !== null) {
    const width = (100 * ((goal.high ?? to) - wantedFrom)) / (to - from);
    bar.append(svg("rect", { class: "wanted", x: place(wantedFrom), y: "4", width: `${width}%`, height: "8" }));
  }
  bar.append(svg("rect", { class: "reached", x: "0", y: "6", width: place(score), height: "4", rx: "2" }));
  if (goal.low !== null)
    bar.append(svg("line", { class: "threshold", x1: place(goal.low), x2: place(goal.low), y1: "0", y2: "16" }));
  if (goal.high !== null)
    bar.append(svg("line", { class: "threshold", x1: place(goal.high), x2: place(goal.high), y1: "0", y2: "16" }));
  return bar;
}

// From 0 to 1 where the score is a share; else room around what there is to show.
function extent(score, goal) {
  const known = [score, goal.low, goal.high].filter((value) => value !== null);
  if (known.every((value) => value >= 0 && value <= 1)) return [0, 1];
  const [least, most] = [Math.min(...known), Math.max(...known)];
  const room = (most - least || Math.abs(most) || 1) * 0.3;
  return [least - room, most + room];
}
