// What a person can do on the page: each changes the store, and asks again.

import { NO_ANSWER } from "./asking.js";
import { withEntry, withItem, withoutEmpty, withoutItems } from "./items.js";
import { parseNumber } from "./numbers.js";
import { partsOf } from "./request.js";
import { getModel, getRegistry, givesShares, listExamples } from "./service.js";

const NOBODY = {
  instance: {},
  context: {},
  texts: {},
  example: null,
  start: null,
  answer: NO_ANSWER,
  shown: NO_ANSWER,
  subsets: null,
  flaws: {},
};
const NO_VIEW = { sort: "rank", wanted: {}, pinned: [] };

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
    const { model, question } = store.get();
    const name = question.registry === undefined ? model.normal_ranges : question.registry;
    // Without it the page still works: what a registry always asks for is then shown by its path.
    const registry = name === null ? null : await getRegistry(name).catch(() => null);
    const now = store.get();
    if (now.model === model && now.question.registry === question.registry) store.set({ registry });
  }

  async function chooseModel(name, { question = { constraints: {} }, ...rest } = {}) {
    asker.stop();
    turn += 1;
    const own = turn;
    const [model, examples] = await Promise.all([getModel(name), listExamples(name)]);
    const [example] = examples;
    if (model.classes.length === 2 && model.target.threshold === null && example)
      model.givesShares = await givesShares(model, example.request.instance).catch(() => false);
    // Another one was chosen meanwhile.
    if (own !== turn) return;
    store.set({ ...NOBODY, model, examples, registry: null, question, view: NO_VIEW, ...rest });
    asker.ask();
    await loadRegistry();
  }

  function take(request, example = null) {
    const { instance, context, question } = partsOf(request);
    const known = store.get().question;
    // What was set on the page stays, unless what is taken brings its own.
    const asked =
      example === null
        ? { ...known, ...question, constraints: request.constraints ? question.constraints : known.constraints }
        : question;
    change({
      instance,
      context,
      question: asked,
      texts: {},
      example,
      view: { ...store.get().view, wanted: {}, pinned: [] },
    });
    return loadRegistry();
  }

  return {
    chooseModel,
    take,
    takeExample: (name) => take(store.get().examples.find((example) => example.name === name).request, name),
    clear: () => change({ ...NOBODY }),
    changeRegistry(registry) {
      changeQuestion({ registry });
      return loadRegistry();
    },

    edit(feature, text) {
      const {
        instance: { [feature.name]: _, ...others },
        texts: { [feature.name]: __, ...otherTexts },
      } = store.get();
      const changes = { instance: others, texts: otherTexts, example: null };
      if (text.trim() !== "") {
        const { value, flaw } = parseNumber(text, feature.type === "integer");
        if (flaw) changes.texts = { ...otherTexts, [feature.name]: { text, flaw } };
        else changes.instance = { ...others, [feature.name]: value };
      }
      change(changes, { typing: true });
    },
    choose(feature, value) {
      const { [feature.name]: _, ...others } = store.get().instance;
      change({ instance: value === undefined ? others : { ...others, [feature.name]: value }, example: null });
    },
    setContext(name, value) {
      const { [name]: _, ...others } = store.get().context;
      change({ context: value === undefined ? others : { ...others, [name]: value }, example: null }, { typing: true });
    },

    changeQuestion,
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
    dropAll: () => changeConstraints({}),
    setFormulas: (formulas) => changeConstraints({ ...constraints(), formulas }, { typing: true }),

    stop: asker.stop,
    askAgain: () => asker.ask(),
    changeView: (changes) => store.set({ view: { ...store.get().view, ...changes } }),
    // Two at the most: a third takes the place of the first.
    togglePin(key) {
      const { view } = store.get();
      const pinned = view.pinned.includes(key)
        ? view.pinned.filter((one) => one !== key)
        : [...view.pinned, key].slice(-2);
      store.set({ view: { ...view, pinned } });
    },
  };
}
