// The page, put together. Wiring only.

import { createActions } from "./actions.js";
import { createAsker } from "./asking/asking.js";
import { byId, h } from "./elements.js";
import { NO_FILTER } from "./plans/filtering.js";
import { readFragment, writeFragment } from "./person/fragment.js";
import { partsOf, requestFlaw } from "./person/request.js";
import { flipset, hasKey, useKey } from "./asking/service.js";
import { INITIAL } from "./state.js";
import { createStore } from "./store.js";
import { showAnnouncements } from "./views/announcements.js";
import { showAbout } from "./views/about.js";
import { hasUnsaved, showCases } from "./views/person/cases.js";
import { showModelChoice, showStart } from "./views/person/choice.js";
import { showDecision } from "./views/decision.js";
import { showFrequency } from "./views/pictures/frequency.js";
import { keyDialog, pasteDialog, ruleDialog } from "./views/person/dialogs.js";
import { showJump } from "./views/jump.js";
import { showGroups } from "./views/pictures/groups.js";
import { notice } from "./views/notice.js";
import { showPicture } from "./views/pictures/picture.js";
import { showPlans } from "./views/plans/plans.js";
import { showRules } from "./views/person/rules.js";
import { showSheet } from "./views/sheet.js";
import { showTabs } from "./views/tabs.js";
import { showTakingAway } from "./views/taking-away.js";
import { showValues } from "./views/person/values.js";
import { showVersions } from "./views/versions.js";
import { whatIfDialog } from "./views/person/what-if.js";

const store = createStore(INITIAL);
const openKey = keyDialog(useKey);
const asker = createAsker(store, askForKey);
const actions = createActions(store, asker);
const openRule = onceLoaded(ruleDialog(store, actions));
const openPaste = onceLoaded(pasteDialog(store, actions, notice));

showModelChoice(byId("choice"), store, (name) => leaving(() => guarded(() => actions.chooseModel(name))));
const takeExample = (name) => leaving(() => actions.takeExample(name));
showStart(byId("start"), store, { ...actions, takeExample }, openPaste);
showDecision(byId("decision"), store, byId("plans").appendChild(h("p", { class: "story only-narrow" })));
showJump(byId("decision"), store, () => {
  actions.changeView({ tab: "plans" });
  return byId("plans");
});
showValues(byId("values"), store, actions, openRule, () => whatIf.ofPerson());
showRules(byId("rules"), store, actions, openRule);
const whatIf = whatIfDialog(store);
const { reveal, printed } = showPlans(byId("plans"), store, actions, whatIf.ofPlan);
showGroups(byId("counts").appendChild(h("div")), store, listOnly);
showFrequency(byId("counts"), store, actions);
showPicture(byId("picture"), store, actions, {
  reveal: (rank) => {
    actions.changeView({ tab: "plans" });
    reveal(rank);
  },
  list: (band) => listOnly({ band }),
});
showTabs(byId("tabs"), store, actions, [
  { name: "plans", words: "Plans", section: byId("plans") },
  { name: "counts", words: "Overview", section: byId("counts") },
  { name: "picture", words: "Picture", section: byId("picture") },
]);
showTakingAway(byId("away"), store, printed);
showSheet(byId("away").querySelector(".row"), store);
showCases(byId("more"), store, (name, wanted) => leaving(() => guarded(() => actions.chooseModel(name, wanted))), notice);
showAbout(byId("more"), store);
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
addEventListener("hashchange", () => leaving(() => guarded(begin)));
// What could not be asked without a connection is asked as soon as there is one.
addEventListener("online", () => guarded(resume));
// The fragment is taken by the state of the page.
document.querySelector(".skip").addEventListener("click", (event) => {
  event.preventDefault();
  actions.changeView({ tab: "plans" });
  byId("plans").focus();
});

// Values that nothing would bring back are not lost without a question.
function leaving(go) {
  if (!hasUnsaved(store.get()) || confirm("Discard the values that you have entered? Save the case first to keep them.")) return go();
  // The list of models and the address say again what is there.
  store.set({ models: [...store.get().models] });
  writeFragment(store.get());
  return undefined;
}

// Leads to the plans that pass a filter.
function listOnly(filter) {
  actions.changeView({ ...NO_FILTER, ...filter, tab: "plans" });
  byId("plans").focus({ preventScroll: true });
}

// What is asked for is asked of a model.
function onceLoaded(open) {
  return (...parts) => store.get().model && open(...parts);
}

function askForKey(next, problem) {
  byId("key-button").hidden = false;
  const isExpired = problem?.kind === "key-expired";
  openKey(next, hasKey() ? `This key ${isExpired ? "has expired" : "was not accepted"}.` : "");
}

// Runs work that asks the service. Shows a refusal, and asks for a key if one is needed.
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

// Another key may open other models; the person stays.
async function renew() {
  if (!store.get().model) return begin();
  store.set({ models: await flipset.models() });
  return actions.askAgain();
}

// Back online: what failed for want of a connection is tried again, and nothing else.
async function resume() {
  const { model, answer } = store.get();
  if (!model) return begin();
  const wasUnreachable = answer.phase === "cut" || (answer.phase === "refused" && answer.problem.status === 0);
  return wasUnreachable && actions.askAgain();
}

async function begin() {
  store.set({ isLoading: true });
  const models = await flipset.models().finally(() => store.set({ isLoading: false }));
  store.set({ models });
  if (!models.length) {
    notice("You have no access to a model on this service.");
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
  if (flaw) notice(`The link has a mistake and was not used. ${flaw}`);
  else if (model !== null && model !== name) notice(`The link asks for the model “${model}”, which this service does not have.`);
  else if (unreadable.length) notice(`Part of the link cannot be read and was left out: the ${unreadable.join(" and the ")}.`);
  else if (example !== null && !store.get().examples.some((one) => one.name === example))
    notice(`The link asks for the example “${example}”, which this model does not have.`);
}

guarded(begin);
