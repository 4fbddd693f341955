// What the page knows before anything has happened, and the phases of an answer.

import { NO_FILTER } from "./plans/filtering.js";

// empty -> asking -> streaming -> done, stopped (by the person) or cut (by the service or the network); refused where it
// never began, incomplete where it could not be asked.
export const isRunning = (phase) => phase === "asking" || phase === "streaming";
// What is shown was said of other values than those that stand there now, and nothing newer is on its way.
export const isEarlier = (phase) => phase === "refused" || phase === "incomplete";
export const hasEnded = (phase) => ["done", "stopped", "cut"].includes(phase);

export const NO_ANSWER = Object.freeze({
  phase: "empty",
  request: null,
  plans: [],
  start: null,
  summary: null,
  // What each plan is called, by its key: it keeps its name when the rules change.
  names: new Map(),
  problem: null,
});

// Nothing is shown of anybody.
// `turns` tells how far the values of a plan have to go: {request, enough}.
export const NO_PICTURE = { start: null, shown: NO_ANSWER, subsets: null, turns: null };

export const NOBODY = {
  instance: {},
  context: {},
  // What is written in a field and is no value yet: {name: {text, flaw}}.
  texts: {},
  contextTexts: {},
  example: null,
  // Whether the person is another one than the one whose answer is shown.
  fresh: true,
  flaws: {},
  answer: NO_ANSWER,
  // Whom a press would bring back.
  before: null,
  ...NO_PICTURE,
};

export const NO_VIEW = { sort: "size", ...NO_FILTER, isTable: false, kept: [], tab: "plans" };

export const INITIAL = {
  models: [],
  model: null,
  // Whether another model is on its way.
  isLoading: false,
  examples: [],
  registry: null,
  question: { constraints: {} },
  // What is written as the threshold and is no number: {text, flaw}.
  thresholdText: null,
  view: NO_VIEW,
  ...NOBODY,
};
