// From what the page holds to a request, and back.

import { withoutEmpty } from "./items.js";

// So that a page stays usable: said in the request, and so in curl and receipt as well.
export const MOST_PLANS = 10_000;
const OWN_FIELDS = ["registry", "target", "normal_ranges", "guide", "constraints", "weights", "limits"];

export function requestOf({ model, instance, context, question }) {
  const values = Object.fromEntries(model.features.map(({ name }) => [name, instance[name] ?? null]));
  const constraints = withoutEmpty(question.constraints ?? {});
  const limits = { max_counterfactuals: MOST_PLANS, ...question.limits };
  const request = { instance: values, ...question, constraints, limits };
  if (Object.keys(context).length) request.context = context;
  if (!Object.keys(constraints).length) delete request.constraints;
  return request;
}

// A request taken apart: the person, and the question that is asked about them.
export function partsOf(request) {
  const question = { constraints: {} };
  for (const field of OWN_FIELDS) if (request[field] !== undefined) question[field] = request[field];
  question.constraints = withoutEmpty(question.constraints ?? {});
  return { instance: { ...request.instance }, context: { ...(request.context ?? {}) }, question };
}

// What keeps the request from being sent: {feature: what to do}.
export function flawsOf({ model, instance, texts }) {
  const flaws = {};
  for (const feature of model.features) {
    if (texts[feature.name] !== undefined) flaws[feature.name] = texts[feature.name].flaw;
    else if (instance[feature.name] === undefined && !feature.may_be_missing) flaws[feature.name] = "is still missing";
  }
  return flaws;
}

// Whether there is nobody yet to ask about.
export function isEmpty({ instance, texts }) {
  return !Object.keys(instance).length && !Object.keys(texts).length;
}

// What the ranges of a model ask for besides its features: {name: {values: [...]} or {number: true}}.
export function contextFields(model, registry) {
  const fields = {};
  const own = new Set(model.features.map((feature) => feature.name));
  const ranges = registry ? Object.values(registry.features) : model.features;
  for (const { ranges: list } of ranges) {
    for (const range of list ?? []) {
      for (const [name, wanted] of Object.entries(range.when ?? {})) {
        if (own.has(name)) continue;
        fields[name] ??= { values: [], number: false };
        if (typeof wanted === "object" && wanted !== null) fields[name].number = true;
        else if (!fields[name].values.includes(wanted)) fields[name].values.push(wanted);
      }
    }
  }
  return fields;
}
