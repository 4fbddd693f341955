// Asks the service whenever the question has changed, and puts what comes back into the store.

import { flawsOf, isEmpty, requestOf } from "./request.js";
import { judgeSubsets, Problem, streamCounterfactuals } from "./service.js";

// A pause in typing that is long enough to ask.
const TYPING_MS = 150;
// Waiting longer than this for a busy service is for the person to decide.
export const LONGEST_WAIT_S = 10;
// Beyond that a drawing of all subsets shows nothing any more.
export const MOST_DRAWN = 6;

export const NO_ANSWER = Object.freeze({
  phase: "empty",
  request: null,
  plans: [],
  start: null,
  summary: null,
  problem: null,
});

export function createAsker(store, onKeyNeeded) {
  let timer = 0;
  let running = null;

  function ask({ typing = false } = {}) {
    clearTimeout(timer);
    if (typing) timer = setTimeout(run, TYPING_MS);
    else run();
  }

  function stop() {
    clearTimeout(timer);
    running?.stop("stopped");
  }

  function run() {
    running?.stop(null);
    running = null;
    const state = store.get();
    if (!state.model) return;
    const flaws = flawsOf(state);
    if (isEmpty(state)) store.set({ answer: NO_ANSWER, shown: NO_ANSWER, start: null, subsets: null, flaws: {} });
    else if (Object.keys(flaws).length)
      store.set({ answer: { ...NO_ANSWER, phase: "incomplete" }, subsets: null, flaws });
    else {
      store.set({ flaws: {} });
      running = begin(
        store,
        () => onKeyNeeded(run),
        (seconds) => {
          timer = setTimeout(run, seconds * 1000);
        },
      );
    }
  }

  return { ask, stop };
}

// One question on its way. The lines are collected, and shown once a frame.
function begin(store, onKeyNeeded, again) {
  const abort = new AbortController();
  const state = store.get();
  const model = state.model.name;
  const answer = {
    ...NO_ANSWER,
    phase: "asking",
    request: requestOf(state),
    plans: [],
    began: performance.now(),
    askedAt: new Date(),
  };
  let ended = false;
  let frame = 0;
  performance.clearMarks("flipset:first-plan");
  performance.mark("flipset:asked");
  store.set({ answer });

  function show(changes = {}) {
    cancelAnimationFrame(frame);
    frame = 0;
    Object.assign(answer, changes);
    const current = { ...answer, elapsed: performance.now() - answer.began };
    // Until there is something to take its place, the previous answer stays, faded.
    const replaces = current.plans.length > 0 || ["done", "stopped", "cut"].includes(current.phase);
    store.set({ answer: current, start: current.start ?? store.get().start, ...(replaces ? { shown: current } : {}) });
    if (current.plans.length && !performance.getEntriesByName("flipset:first-plan").length) {
      // Behind the frame in which it is painted.
      requestAnimationFrame(() => setTimeout(() => performance.mark("flipset:first-plan")));
    }
  }

  function take(line) {
    if (ended) return;
    if (line.type === "start") answer.start = line;
    else if (line.type === "counterfactual") answer.plans.push(line);
    else if (line.type === "progress") answer.progress = line;
    else if (line.type === "summary") answer.summary = line;
    else if (line.type === "error") answer.problem = new Problem(line.problem);
    answer.phase = "streaming";
    // The first plan at once, the others with the next frame.
    if (line.type === "counterfactual" && answer.plans.length === 1) show();
    else frame ||= requestAnimationFrame(() => show());
  }

  function end(phase, changes = {}) {
    if (ended) return;
    ended = true;
    cancelAnimationFrame(frame);
    abort.abort();
    if (phase) show({ phase, ...changes });
  }

  function failed(error) {
    if (ended) return;
    const problem = error instanceof Problem ? error : null;
    if (problem?.status === 401) onKeyNeeded();
    if ([429, 503].includes(problem?.status) && problem.retryAfter > 0 && problem.retryAfter <= LONGEST_WAIT_S) {
      again(problem.retryAfter);
    }
    end(problem && !answer.start ? "refused" : "cut", { problem: problem ?? answer.problem });
  }

  streamCounterfactuals(model, answer.request, abort.signal, take).then((requestId) => {
    if (ended) return;
    answer.requestId = requestId;
    end(answer.summary ? "done" : "cut");
    draw(store, model, answer);
  }, failed);

  return { stop: end };
}

// Where there are few movable features, what the model says of all of their subsets.
async function draw(store, model, answer) {
  const movable = answer.start?.features.filter((feature) => feature.movable).length ?? 0;
  if (!answer.summary || movable < 1 || movable > MOST_DRAWN) {
    store.set({ subsets: null });
    return;
  }
  try {
    const subsets = await judgeSubsets(model, answer.request);
    if (store.get().answer.request === answer.request) store.set({ subsets });
  } catch {
    // The plans are there; the picture is an addition, and its absence no reason to disturb.
    if (store.get().answer.request === answer.request) store.set({ subsets: null });
  }
}
