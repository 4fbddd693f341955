// The page, put together. Wiring only.

import { createActions } from "./actions.js";
import { createAsker } from "./asking.js";
import { byId } from "./elements.js";
import { readFragment, writeFragment } from "./fragment.js";
import { partsOf, requestFlaw } from "./request.js";
import { flipset, hasKey, useKey } from "./service.js";
import { INITIAL } from "./state.js";
import { createStore } from "./store.js";
import { showAnnouncements } from "./views/announcements.js";
import { showModelChoice, showStart } from "./views/choice.js";
import { showDecision } from "./views/decision.js";
import { keyDialog, pasteDialog, ruleDialog } from "./views/dialogs.js";
import { showJump } from "./views/jump.js";
import { notice } from "./views/notice.js";
import { showPicture } from "./views/picture.js";
import { showPlans } from "./views/plans.js";
import { showRules } from "./views/rules.js";
import { showTakingAway } from "./views/taking-away.js";
import { showValues } from "./views/values.js";
import { showVersions } from "./views/versions.js";

const store = createStore(INITIAL);
const openKey = keyDialog(useKey);
const asker = createAsker(store, askForKey);
const actions = createActions(store, asker);
const openRule = onceLoaded(ruleDialog(store, actions));
const openPaste = onceLoaded(pasteDialog(store, actions, notice));

showModelChoice(byId("choice"), store, (name) => guarded(() => actions.chooseModel(name)));
showStart(byId("start"), store, actions, openPaste);
showDecision(byId("decision"), store);
showJump(byId("decision"), store, byId("plans"));
showValues(byId("values"), store, actions, openRule);
showRules(byId("rules"), store, actions, openRule);
const { reveal, printed } = showPlans(byId("plans"), store, actions);
showPicture(byId("picture"), store, actions, reveal);
showTakingAway(byId("away"), store, printed);
showVersions(byId("versions"), store);
showAnnouncements(byId("announcer"), store);

store.watch(
  (state) => [state.model, state.example, state.question, state.view.sort],
  (model) => model && writeFragment(store.get()),
);
// What was said of the last person, or of a link, is gone with them.
store.watch(
  (state) => [state.model, state.example],
  () => notice(""),
);
byId("key-button").addEventListener("click", () => openKey(() => guarded(renew)));
addEventListener("hashchange", () => guarded(begin));
// The fragment is taken by the state of the page.
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  byId("plans").focus();
});

// What is asked for is asked of a model.
function onceLoaded(open) {
  return (...parts) => store.get().model && open(...parts);
}

function askForKey(next, problem) {
  byId("key-button").hidden = false;
  const isExpired = problem?.kind === "key-expired";
  openKey(next, hasKey() ? `This key ${isExpired ? "has expired" : "was not accepted"}.` : "");
}

// Runs what asks the service for something; what it refuses is told, and a key that it needs asked for.
async function guarded(work) {
  try {
    notice("");
    await work();
  } catch (problem) {
    // Nothing came of it: the list of models shows the one that is there.
    store.set({ models: [...store.get().models] });
    if (problem.status === 401) askForKey(() => guarded(work), problem);
    else notice(problem.message);
  }
}

// With another key there may be other models; whoever is being asked about stays.
async function renew() {
  if (!store.get().model) return begin();
  store.set({ models: await flipset.models() });
  return actions.askAgain();
}

async function begin() {
  const models = await flipset.models();
  store.set({ models });
  if (!models.length) {
    notice("This service has no model that you may use.");
    return;
  }
  const { model, example, question, person, sort, unreadable } = readFragment();
  const name = models.some((one) => one.name === model) ? model : models[0].name;
  const request = { instance: {}, ...person, ...question };
  const flaw = requestFlaw(request);
  const wanted = flaw
    ? {}
    : { example, sort, question: partsOf(request).question, person: person ? partsOf(request) : {} };
  await actions.chooseModel(name, wanted);
  if (flaw) notice(`The link is not as it should be, and was not used. ${flaw}`);
  else if (model !== null && model !== name) notice(`The link asks for the model “${model}”, which is not here.`);
  else if (unreadable.length) notice(`The link cannot be read where it gives the ${unreadable.join(" and the ")}: left out.`);
  else if (example !== null && !store.get().examples.some((one) => one.name === example))
    notice(`The link asks for the example “${example}”, which this model does not have.`);
}

guarded(begin);
