// Asks the service whenever the question has changed, and puts what comes back into the store.

import { AnswerFailed, CutStream, FlipsetError } from "../../client/index.js";
import { contextFlawsOf, flawsOf, isEmpty, requestOf } from "../person/request.js";
import { markPainted } from "./painted.js";
import { planKey } from "../plans/plan-key.js";
import { inPortions } from "./portions.js";
import { flipset } from "./service.js";
import { hasEnded, NO_ANSWER, NO_PICTURE } from "../state.js";
import { turningPoints } from "./turning.js";

// A pause in typing that is long enough to ask.
const TYPING_MS = 150;
// A picture is worth asking for once the question has come to rest.
const REST_MS = 200;
// Waiting longer than this for a busy service is for the person to decide.
const LONGEST_WAIT_S = 10;
// Beyond that a drawing of all subsets shows nothing any more.
const MOST_DRAWN = 6;

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
      running = begin(store, { onKeyNeeded: (problem) => onKeyNeeded(run, problem), again: (wait) => (timer = setTimeout(run, wait)) });
    }
  }

  return { ask, stop: () => end("stopped"), leave: () => end(null) };
}

// Whether there is something to turn, and so few features can move that all of their subsets are drawn.
export function isDrawn(start) {
  const movable = start?.features.filter((feature) => feature.movable).length ?? 0;
  return !start?.prediction.favourable && movable > 0 && movable <= MOST_DRAWN;
}

// In how many seconds a busy service is asked again by itself, if it is.
export function secondsToWait({ retryAfter }) {
  return retryAfter > 0 && retryAfter <= LONGEST_WAIT_S ? retryAfter : null;
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
    names: state.fresh ? new Map(state.view.kept.map(({ key, name }) => [key, name])) : new Map(state.shown.names),
    began: performance.now(),
    askedAt: new Date(),
  };
  let ended = false;
  let frame = 0;
  // One more than any name that is taken: a case that is opened again brings those of its kept plans.
  let nextName = [...answer.names.values()].reduce((most, name) => Math.max(most, name), 0) + 1;
  for (const what of ["first-plan", "first-sentence"]) performance.clearMarks(`flipset:${what}`);
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
    if (current.plans.length) markPainted("first-plan");
  }

  function take(line) {
    if (ended) return;
    if (line.type === "start") answer.start = line;
    else if (line.type === "counterfactual") takePlan(line);
    else if (line.type === "progress") answer.progress = line;
    else if (line.type === "summary") answer.summary = line;
    answer.phase = "streaming";
    // The first plan at once, the others with the next frame.
    if (line.type === "counterfactual" && answer.plans.length === 1) show();
    else frame ||= requestAnimationFrame(() => show());
  }

  function takePlan(plan) {
    const key = planKey(plan);
    if (!answer.names.has(key)) answer.names.set(key, nextName++);
    answer.plans.push(plan);
  }

  // Without a phase no view hears of it: another question takes its place.
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
    const problem = error instanceof FlipsetError ? error : null;
    if (problem?.status === 401) onKeyNeeded(problem);
    const seconds = problem && secondsToWait(problem);
    if (seconds) again(seconds * 1000);
    if (!answer.start) store.set(discarded(store.get()));
    const isRefused = problem && !answer.start && !(problem instanceof CutStream);
    end(isRefused ? "refused" : "cut", { problem: isRefused || problem instanceof AnswerFailed ? problem : null });
  }

  async function follow() {
    const { instance, ...question } = answer.request;
    const coming = await flipset.counterfactuals(model, instance, question, { signal: abort.signal });
    answer.requestId = coming.requestId;
    await inPortions(coming.lines(), take);
    if (ended) return;
    end("done");
    if (isDrawn(answer.start)) draw(store, model, answer.request, abort.signal);
    tellTurns(store, state.model, answer, abort.signal);
  }

  follow().catch(failed);

  return { end };
}


// How far values have to go is a remark: without it the answer is the same. A plan that has to hold is judged by more
// than a prediction.
async function tellTurns(store, model, answer, signal) {
  const { request, plans } = answer;
  if (!plans.length || request.robustness?.require || request.robustness?.more === "require") return;
  const enough = await turningPoints(model, answer, signal).catch(() => null);
  if (enough && store.get().answer.request === request) store.set({ turns: { request, enough } });
}

// What the model says of all subsets, for the picture; with the request that it belongs to.
async function draw(store, model, request, signal) {
  await new Promise((resolve) => setTimeout(resolve, REST_MS));
  if (signal.aborted) return;
  try {
    const { instance, ...question } = request;
    store.set({ subsets: { request, ...(await flipset.subsets(model, instance, question, { signal })) } });
  } catch (problem) {
    if (!signal.aborted) store.set({ subsets: { request, problem } });
  }
}
