// What a person can do on the page: each changes the store, and asks again.

import { NO_FILTER } from "./plans/filtering.js";
import { withEntry, withItem, withoutEmpty, withoutItems } from "./person/items.js";
import { parseNumber, parseValue } from "./numbers.js";
import { planKey } from "./plans/plan-key.js";
import { without } from "./own.js";
import { contextFlawsOf, isEmpty, partsOf, registryOf } from "./person/request.js";
import { flipset, givesShares } from "./asking/service.js";
import { NO_VIEW, NOBODY } from "./state.js";

// What a hard change weighs; any other weighs 1.
const HARD = 3;
// What a search may run out of.
const LIMITS = { deadline: "deadline_ms", max_counterfactuals: "max_counterfactuals", max_model_rows: "max_model_rows" };
const MORE = 4;

// What comes back when one person in place of another is undone.
const OF_ONE_PERSON = [
  ...["instance", "context", "texts", "contextTexts", "example", "question", "thresholdText", "view"],
  ...["fresh", "start", "shown", "subsets", "turns"],
];

function personOf(state) {
  return isEmpty(state) ? state.before : Object.fromEntries(OF_ONE_PERSON.map((part) => [part, state[part]]));
}

async function loaded(name) {
  const [details, examples] = await Promise.all([flipset.model(name), flipset.examples(name)]);
  // Derived features are not sent, so there is nothing to fill in.
  const model = { ...details, features: details.features.filter(({ derived }) => !derived) };
  if (model.classes.length === 2 && model.target.threshold === null && examples.length)
    model.givesShares = await givesShares(model, examples[0].request.instance).catch(() => false);
  return [model, examples];
}

export function createActions(store, asker) {
  let turn = 0;

  function change(changes, options) {
    store.set(changes);
    asker.ask(options);
  }

  function changeQuestion(changes, options) {
    const question = { ...store.get().question, ...changes };
    for (const [field, value] of Object.entries(question)) if (value === undefined) delete question[field];
    change({ question }, options);
  }

  function changeConstraints(constraints, options) {
    changeQuestion({ constraints: withoutEmpty(constraints) }, options);
  }

  const constraints = () => store.get().question.constraints;

  async function loadRegistry() {
    const { model, question, registry: current } = store.get();
    const name = registryOf(model, question);
    if (name === (current?.name ?? null)) return;
    // Without it the page still works: what a registry always asks for is then shown by its path.
    const registry = name === null ? null : await flipset.normalRanges(name).catch(() => null);
    const now = store.get();
    if (now.model !== model || registryOf(model, now.question) !== name) return;
    store.set({ registry });
    // What it knows of the context may let the question be asked, or keep it from being asked.
    if (JSON.stringify(contextFlawsOf(now)) !== JSON.stringify(contextFlawsOf(store.get()))) asker.ask();
  }

  // A model, and who is asked about: nobody, an example by its name, or somebody.
  async function chooseModel(name, { question = { constraints: {} }, example = null, person = {}, sort, kept = [] } = {}) {
    turn += 1;
    const mine = turn;
    store.set({ isLoading: true });
    const [model, examples] = await loaded(name).finally(() => mine === turn && store.set({ isLoading: false }));
    // Another one was chosen meanwhile.
    if (mine !== turn) return;
    asker.leave();
    const chosen = examples.find((one) => one.name === example);
    const { instance, context } = chosen ? partsOf(chosen.request) : { instance: {}, context: {}, ...person };
    const view = { ...NO_VIEW, sort: sort ?? NO_VIEW.sort, kept };
    const somebody = { instance, context, example: chosen ? example : null };
    const asked = { question, thresholdText: null };
    change({ ...NOBODY, model, examples, registry: null, view, ...asked, ...somebody });
    await loadRegistry();
  }

  function take(request, example = null) {
    const { instance, context, question } = partsOf(request);
    const known = store.get().question;
    // What was set on the page stays, unless what is taken brings its own; an example is a whole request.
    const kept = { ...known, ...question, constraints: request.constraints ? question.constraints : known.constraints };
    const view = { ...store.get().view, ...NO_FILTER, kept: [] };
    const asked = example === null ? { question: kept } : { question };
    if (example !== null || request.target) asked.thresholdText = null;
    const before = example === null ? personOf(store.get()) : null;
    change({ instance, context, ...asked, texts: {}, contextTexts: {}, example, view, fresh: true, before });
    return loadRegistry();
  }

  return {
    chooseModel,
    take,
    takeExample: (name) => take(store.get().examples.find((example) => example.name === name).request, name),
    clear() {
      const { view } = store.get();
      change({ ...NOBODY, view: { ...view, ...NO_FILTER, kept: [] }, before: personOf(store.get()) });
    },
    // The person before values were cleared or pasted.
    bringBack() {
      change({ ...store.get().before, before: null });
      return loadRegistry();
    },
    changeRegistry(name) {
      changeQuestion({ registry: name === store.get().model.normal_ranges ? undefined : name });
      return loadRegistry();
    },

    edit(feature, text) {
      const { name } = feature;
      const { instance, texts } = store.get();
      const changes = { instance: without(instance, name), texts: without(texts, name), example: null, before: null };
      if (text.trim() !== "") {
        const { value, flaw } = parseValue(text, feature);
        if (flaw) changes.texts = { ...changes.texts, [name]: { text, flaw } };
        else changes.instance = { ...changes.instance, [name]: value };
      }
      change(changes, { typing: true });
    },
    choose({ name }, value) {
      const others = without(store.get().instance, name);
      change({ instance: value === undefined ? others : { ...others, [name]: value }, example: null, before: null });
    },
    // A value, or nothing, or what is written there and is neither.
    setContext(name, value, flaw = null) {
      const state = store.get();
      const context = without(state.context, name);
      const contextTexts = without(state.contextTexts, name);
      if (flaw) contextTexts[name] = flaw;
      else if (value !== undefined) context[name] = value;
      change({ context, contextTexts, example: null, before: null }, { typing: true });
    },

    changeQuestion,
    // A number, or nothing, or what is written there and is neither: then the one before holds no longer.
    setThreshold(text) {
      const { value, flaw } = text.trim() === "" ? {} : parseNumber(text, false, "0.7");
      const { threshold: _, ...others } = store.get().question.target ?? {};
      const target = value === undefined ? others : { ...others, threshold: value };
      store.set({ thresholdText: flaw ? { text, flaw } : null });
      changeQuestion({ target: Object.keys(target).length ? target : undefined }, { typing: true });
    },
    toggleLock(name) {
      const place = (constraints().immutable ?? []).indexOf(name);
      changeConstraints(
        place < 0 ? withItem(constraints(), "immutable", name) : withoutItems(constraints(), [`immutable[${place}]`]),
      );
    },
    setDirection: (name, direction) => changeConstraints(withEntry(constraints(), "directions", name, direction)),
    setStep: (name, most) => changeConstraints(withEntry(constraints(), "max_step", name, most)),
    setMostChanges: (most) => changeConstraints({ ...constraints(), max_changes: most }),
    add: (kind, item) => changeConstraints(withItem(constraints(), kind, item)),
    drop: (paths) => changeConstraints(withoutItems(constraints(), paths)),
    // A range, guide or weight of the request's own.
    dropEntry(field, name) {
      const left = without(store.get().question[field], name);
      changeQuestion({ [field]: Object.keys(left).length ? left : undefined });
    },
    dropAll: () => changeConstraints({}),
    setFormulas: (formulas) => changeConstraints({ ...constraints(), formulas }, { typing: true }),

    stop: asker.stop,
    askAgain: () => asker.ask(),
    changeView: (changes) => store.set({ view: { ...store.get().view, ...changes } }),
    // Kept, or no longer.
    keep(plan, name) {
      const { view } = store.get();
      const others = view.kept.filter((one) => one.key !== planKey(plan));
      const isNew = others.length === view.kept.length;
      store.set({ view: { ...view, kept: isNew ? [...others, { key: planKey(plan), name, plan }] : others } });
    },
    // Hard to change: what costs less comes first.
    makeHard(name) {
      store.set({ view: { ...store.get().view, sort: "cost" } });
      changeQuestion({ weights: { ...store.get().question.weights, [name]: HARD } });
    },
    // More of what the last search ran out of.
    searchLonger() {
      const { shown, question } = store.get();
      const limit = LIMITS[shown.summary.stopped_by];
      changeQuestion({ limits: { ...question.limits, [limit]: MORE * shown.start.limits[limit] } });
    },
  };
}
