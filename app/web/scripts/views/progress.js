// How the search stands: how many plans, for how long, how far complete, and a way to stop it.

import { h } from "../elements.js";
import { counted } from "../numbers.js";
import { completenessWords, costWords } from "../words.js";

const RUNNING = ["asking", "streaming"];

export function showProgress(place, store, actions) {
  const stop = h("button", { type: "button", class: "stop", onclick: actions.stop }, "Stop");
  const again = h("button", { type: "button", onclick: actions.askAgain }, "Ask again");
  const headline = h("p", { class: "headline" });
  const detail = h("p", { class: "detail" });
  const meter = h("div", { class: "meter", hidden: true });
  place.append(h("div", { class: "row" }, headline, stop, again), meter, detail);
  let clock = 0;

  function show() {
    const { answer } = store.get();
    const running = RUNNING.includes(answer.phase);
    const elapsed = running ? { ...answer, elapsed: performance.now() - answer.began } : answer;
    stop.hidden = meter.hidden = !running;
    again.hidden =
      !["stopped", "cut"].includes(answer.phase) && !(answer.phase === "refused" && answer.problem.status !== 422);
    headline.textContent = headlineWords(answer);
    detail.textContent = answer.start ? `${completenessWords(answer)} ${costWords(elapsed)}.` : "";
    clearTimeout(clock);
    if (running) clock = setTimeout(show, 100);
  }

  store.watch((state) => [state.answer], show);
}

function headlineWords({ phase, plans, summary }) {
  if (phase === "empty") return "Plans appear here as soon as there is somebody to ask about.";
  if (phase === "incomplete") return "Some values are still missing.";
  if (phase === "refused") return "The question was not accepted.";
  if (summary?.outcome === "already_favourable") return "The decision is favourable as it stands.";
  if (summary?.outcome === "no_recourse") return "No plan turns the decision.";
  if (!plans.length) return RUNNING.includes(phase) ? "Searching…" : "No plan was found so far.";
  return `${counted(plans.length, "plan")}${RUNNING.includes(phase) ? " so far" : ""}`;
}
