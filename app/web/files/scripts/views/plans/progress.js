// How the search stands: how many plans, for how long, how far complete, and a way to stop it.

import { button, h } from "../../elements.js";
import { isRunning } from "../../state.js";
import { completenessWords, costWords, headlineWords } from "../../words.js";

const TICK_MS = 100;

export function showProgress(place, store, actions) {
  const stop = button("Stop", actions.stop, { class: "stop" });
  const again = button("Ask again", actions.askAgain);
  const longer = button("Search longer", actions.searchLonger);
  const section = place.closest("section");
  const headline = h("p", { class: "headline" });
  const detail = h("p", { class: "detail" });
  const meter = h("div", { class: "meter" });
  place.append(h("div", { class: "row" }, headline, stop, longer, again), meter, detail);
  let clock = 0;

  function show() {
    const { answer } = store.get();
    const running = isRunning(answer.phase);
    longer.hidden = !mayGoOn(answer);
    const hadFocus = [stop, again, longer].includes(document.activeElement);
    const current = running ? { ...answer, elapsed: performance.now() - answer.began } : answer;
    stop.hidden = !running;
    meter.classList.toggle("running", running);
    again.hidden = !["stopped", "cut"].includes(answer.phase) && !mayBeAskedAgain(answer);
    // A button disappears with its search; the focus then moves to the next button.
    if (hadFocus) ([stop, again, longer].find((one) => !one.hidden) ?? section).focus({ preventScroll: true });
    headline.textContent = headlineWords(answer);
    detail.textContent = answer.start ? detailWords(current) : "";
    detail.title = answer.plans.length ? "Minimal: no part of the plan would change the decision." : "";
    clearTimeout(clock);
    if (running) clock = setTimeout(show, TICK_MS);
  }

  store.watch((state) => [state.answer], show);
}

// Where nothing has to change nothing was searched for, and the headline has said so.
function detailWords(answer) {
  if (answer.summary?.outcome === "already_favourable") return "";
  return `${completenessWords(answer)} ${costWords(answer)}.`;
}

// A search that ran out of something may get more of it, unless the service gave less than was asked for.
function mayGoOn({ phase, summary, request, start }) {
  if (phase !== "done" || !summary?.stopped_by || summary.stopped_by === "shutdown") return false;
  const limit = summary.stopped_by === "deadline" ? "deadline_ms" : summary.stopped_by;
  return (request.limits[limit] ?? 0) <= start.limits[limit];
}

// What was wrong with the question itself will be wrong again.
function mayBeAskedAgain({ phase, problem }) {
  return phase === "refused" && ![400, 413, 422].includes(problem.status);
}
