// Asks the service whenever the question has changed, and puts what comes back into the store.

import { contextFlawsOf, flawsOf, isEmpty, requestOf } from "./request.js";
import { judgeSubsets, Problem, streamCounterfactuals } from "./service.js";
import { hasEnded, NO_ANSWER, NO_PICTURE } from "./state.js";

// A pause in typing that is long enough to ask.
const TYPING_MS = 150;
// A picture is worth asking for once the question has come to rest.
const REST_MS = 200;
// Waiting longer than this for a busy service is for the person to decide.
export const LONGEST_WAIT_S = 10;
// Beyond that a drawing of all subsets shows nothing any more; beyond the second the service does not tell of them.
const MOST_DRAWN = 6;
const MOST_TOLD = 10;

export function createAsker(store, onKeyNeeded) {
  let timer = 0;
  let running = null;

  function ask({ typing = false } = {}) {
    clearTimeout(timer);
    if (typing) timer = setTimeout(run, TYPING_MS);
    else run();
  }

  function end(phase) {
    clearTimeout(timer);
    running?.end(phase);
  }

  function run() {
    end(null);
    running = null;
    const state = store.get();
    if (!state.model) return;
    const flaws = flawsOf(state);
    const isFlawed = [flaws, contextFlawsOf(state), state.thresholdText ?? {}].some((one) => Object.keys(one).length);
    if (isEmpty(state)) store.set({ answer: NO_ANSWER, ...NO_PICTURE, flaws: {} });
    else if (isFlawed) store.set({ answer: { ...NO_ANSWER, phase: "incomplete" }, flaws, ...discarded(state) });
    else {
      store.set({ flaws: {} });
      running = begin(store, { onKeyNeeded: () => onKeyNeeded(run), again: (wait) => (timer = setTimeout(run, wait)) });
    }
  }

  return { ask, stop: () => end("stopped"), leave: () => end(null) };
}

// Whether there is something to turn, and so few features can move that all of their subsets are drawn.
export function isDrawn(start) {
  const movable = movableIn(start);
  return !start?.prediction.favourable && movable > 0 && movable <= MOST_DRAWN;
}

// Whether the subsets are worth asking for: for the picture, or for what comes closest within rules that leave no plan.
function tellsMore({ start, summary }) {
  if (!summary) return false;
  return isDrawn(start) || (summary.no_recourse?.reason === "constraints" && movableIn(start) <= MOST_TOLD);
}

function movableIn(start) {
  return start?.features.filter((feature) => feature.movable).length ?? 0;
}

// What was said of somebody else goes with the first question about another person that cannot be answered.
function discarded({ fresh }) {
  return fresh ? NO_PICTURE : {};
}

// One question on its way. The lines are collected, and shown once a frame.
function begin(store, { onKeyNeeded, again }) {
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
  store.set({ answer });

  function show(changes = {}) {
    cancelAnimationFrame(frame);
    frame = 0;
    Object.assign(answer, changes);
    const current = { ...answer, elapsed: performance.now() - answer.began };
    // Until there is something to take its place, the previous answer stays, faded.
    const replaces = current.plans.length > 0 || (hasEnded(current.phase) && current.start);
    const told = current.start ? { start: current.start, fresh: false } : {};
    store.set({ answer: current, ...told, ...(replaces ? { shown: current } : {}) });
    markFirstPlan(current);
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

  // Without a phase nobody is told: another question takes its place.
  function end(phase, changes = {}) {
    if (!ended) {
      ended = true;
      cancelAnimationFrame(frame);
      if (phase) show({ phase, ...changes });
    }
    if (phase !== "done") abort.abort();
  }

  function failed(error) {
    if (ended) return;
    const problem = error instanceof Problem ? error : null;
    if (problem?.status === 401) onKeyNeeded();
    if (problem?.isPassing && problem.retryAfter <= LONGEST_WAIT_S) again(problem.retryAfter * 1000);
    if (!answer.start) store.set(discarded(store.get()));
    end(problem && !answer.start ? "refused" : "cut", { problem: problem ?? answer.problem });
  }

  const onResponse = (requestId) => (answer.requestId = requestId);
  streamCounterfactuals(model, answer.request, abort.signal, onResponse, take).then(() => {
    if (ended) return;
    end(answer.summary ? "done" : "cut");
    if (tellsMore(answer)) draw(store, model, answer.request, abort.signal);
  }, failed);

  return { end };
}

function markFirstPlan({ plans }) {
  if (!plans.length || performance.getEntriesByName("flipset:first-plan").length) return;
  // Behind the frame in which it is painted.
  requestAnimationFrame(() => setTimeout(() => performance.mark("flipset:first-plan")));
}

// What the model says of all subsets, for the picture; with the request that it belongs to.
async function draw(store, model, request, signal) {
  await new Promise((resolve) => setTimeout(resolve, REST_MS));
  if (signal.aborted) return;
  try {
    store.set({ subsets: { request, ...(await judgeSubsets(model, request, signal)) } });
  } catch (problem) {
    if (!signal.aborted) store.set({ subsets: { request, problem } });
  }
}
