// The page, put together. Wiring only.

import { createActions } from "./actions.js";
import { createAsker, NO_ANSWER } from "./asking.js";
import { byId } from "./elements.js";
import { readFragment, writeFragment } from "./fragment.js";
import { partsOf } from "./request.js";
import { listModels, useKey } from "./service.js";
import { createStore } from "./store.js";
import { showModelChoice, showStart, notice } from "./views/choice.js";
import { showDecision } from "./views/decision.js";
import { showJump } from "./views/jump.js";
import { keyDialog, pasteDialog, ruleDialog } from "./views/dialogs.js";
import { showPicture } from "./views/picture.js";
import { showPlans } from "./views/plans.js";
import { showRules } from "./views/rules.js";
import { showTakingAway } from "./views/taking-away.js";
import { showValues } from "./views/values.js";
import { announcement, goalOf } from "./words.js";

const store = createStore({
  models: [],
  model: null,
  examples: [],
  registry: null,
  instance: {},
  context: {},
  texts: {},
  flaws: {},
  example: null,
  question: { constraints: {} },
  start: null,
  answer: NO_ANSWER,
  shown: NO_ANSWER,
  subsets: null,
  view: { sort: "rank", wanted: {}, pinned: [] },
});

let hasKey = false;
const openKey = keyDialog((key) => {
  useKey(key);
  hasKey = true;
});
function askForKey(next) {
  byId("key-button").hidden = false;
  openKey(next, hasKey);
}
const asker = createAsker(store, askForKey);
const actions = createActions(store, asker);
const openRule = ruleDialog(store, actions);
const openPaste = pasteDialog(store, actions, notice);

showModelChoice(byId("choice"), store, (name) => guarded(() => actions.chooseModel(name)));
showStart(byId("start"), store, actions, openPaste);
showDecision(byId("decision"), store);
showValues(byId("values"), store, actions, openRule);
showRules(byId("rules"), store, actions, openRule);
const { reveal, printed } = showPlans(byId("plans"), store, actions);
showPicture(byId("picture"), store, reveal);
showTakingAway(byId("away"), store, printed);
showJump(byId("decision"), store, byId("plans"));
byId("key-button").addEventListener("click", () => openKey(() => guarded(begin)));

store.watch(
  (state) => [state.model, state.example, state.question, state.view.sort],
  () => {
    if (store.get().model) writeFragment(store.get());
  },
);
store.watch(
  (state) => [state.start, state.model],
  (start, model) => {
    byId("versions").textContent = start
      ? `Model ${start.model.name} ${start.model.version} (sha256 ${start.model.sha256.slice(0, 12)}), ${start.normal_ranges ? `normal ranges ${start.normal_ranges.name} ${start.normal_ranges.version}` : "no normal ranges"}.`
      : model
        ? `Model ${model.name} ${model.version}.`
        : "";
  },
);
let announcing = 0;
store.watch(
  (state) => [state.answer],
  (answer) => {
    // Once it has come to rest: whoever listens is not read every step.
    clearTimeout(announcing);
    const { start, model } = store.get();
    announcing = setTimeout(() => {
      byId("announcer").textContent = announcement(answer, start, start && model ? goalOf(start.target, model) : null);
    }, 400);
  },
);
addEventListener("hashchange", () => guarded(begin));
// The fragment is taken by the state of the page.
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  byId("plans").focus();
});

// Runs what asks the service for something; what it refuses is told, and a key that it needs asked for.
async function guarded(work) {
  try {
    await work();
    notice("");
  } catch (problem) {
    if (problem.status === 401) askForKey(() => guarded(work));
    else notice(problem.message);
  }
}

async function begin() {
  const models = await listModels();
  store.set({ models });
  if (!models.length) {
    notice("This service has no model that you may use.");
    return;
  }
  const wanted = readFragment();
  const name = models.some((model) => model.name === wanted.model) ? wanted.model : models[0].name;
  const { question } = partsOf({ instance: {}, ...wanted.question });
  const sort = ["score", "cost"].includes(wanted.sort) ? wanted.sort : "rank";
  const person =
    wanted.person && typeof wanted.person.instance === "object"
      ? { instance: wanted.person.instance, context: wanted.person.context ?? {} }
      : {};
  await actions.chooseModel(name, { question, view: { sort, wanted: {}, pinned: [] }, ...person });
  const example = store.get().examples.find((one) => one.name === wanted.example);
  // The example's values, with the question as it stands in the address.
  if (example) store.set({ ...partsOf(example.request), question, example: example.name });
  if (example) actions.askAgain();
}

guarded(begin);
