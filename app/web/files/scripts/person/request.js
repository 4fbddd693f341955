// From what the page holds to a request, and back.

import { flawOf, withoutEmpty } from "./items.js";
import { own } from "../own.js";

// So that a page stays usable: said in the request, and so in curl and receipt as well.
const MOST_PLANS = 10_000;
const OWN_FIELDS = ["registry", "target", "normal_ranges", "guide", "constraints", "weights", "robustness", "limits"];
const OBJECTS = ["context", "target", "normal_ranges", "guide", "weights", "robustness", "limits"];

export function requestOf({ model, instance, context, question }) {
  const values = Object.fromEntries(model.features.map(({ name }) => [name, own(instance, name) ?? null]));
  const constraints = withoutEmpty(question.constraints);
  const limits = { max_counterfactuals: MOST_PLANS, ...question.limits };
  const request = { instance: values, ...question, constraints, limits };
  if (Object.keys(context).length) request.context = context;
  if (!Object.keys(constraints).length) delete request.constraints;
  return request;
}

// What is wrong with the form of a request that came from elsewhere; null if nothing is.
export function requestFlaw(request) {
  const isObject = (value) => typeof value === "object" && value !== null && !Array.isArray(value);
  if (!isObject(request.instance)) return "“instance” must be an object of values by feature.";
  for (const field of OBJECTS)
    if (request[field] !== undefined && !isObject(request[field])) return `“${field}” must be an object.`;
  return request.constraints === undefined || request.constraints === null ? null : flawOf(request.constraints);
}

// A request taken apart: the person, and the question that is asked about them.
export function partsOf(request) {
  const question = { constraints: {} };
  for (const field of OWN_FIELDS) if (request[field] !== undefined) question[field] = request[field];
  question.constraints = withoutEmpty(question.constraints ?? {});
  return { instance: { ...request.instance }, context: { ...(request.context ?? {}) }, question };
}

// The name of the registry that is asked, null for none.
export function registryOf(model, question) {
  return question.registry === undefined ? model.normal_ranges : question.registry;
}

// A row of an answer as it is sent: without what is derived.
export function sentOf(model, row) {
  return Object.fromEntries(model.features.map(({ name }) => [name, row[name]]));
}

// What keeps the request from being sent: {feature: what to do}.
export function flawsOf({ model, instance, texts }) {
  const flaws = {};
  for (const { name, may_be_missing: mayBeMissing } of model.features) {
    if (own(texts, name)) flaws[name] = own(texts, name).flaw;
    else if (own(instance, name) === undefined && !mayBeMissing) flaws[name] = "is still missing";
  }
  return flaws;
}

// Whether there is nobody yet to ask about.
export function isEmpty({ instance, texts }) {
  return !Object.keys(instance).length && !Object.keys(texts).length;
}

// What is wrong with the context: {name: what to do}. Where ranges ask for texts, another text would choose none of them
// without a word. Of a registry that is not there yet nothing is known.
export function contextFlawsOf({ model, registry, question, context, contextTexts }) {
  const flaws = { ...contextTexts };
  const asked = registryOf(model, question);
  if (asked === null || asked !== (registry?.name ?? model.normal_ranges)) return flaws;
  for (const [name, { values, number }] of contextFields(model, registry)) {
    const value = own(context, name) ?? null;
    const isOfTexts = !number && values.every((one) => typeof one === "string");
    if (isOfTexts && value !== null && !values.includes(value))
      flaws[name] = `“${value}” is not a value that a range knows: ${values.join(", ")}`;
  }
  return flaws;
}

// Whether a feature has a range to move into. What the service has found of a person tells; before that, what is known
// of the registry, and what the request brings along.
export function hasRange(name, { model, registry, question, start }) {
  const finding = start?.features.find((one) => one.name === name);
  if (finding) return finding.why_not !== "no_range";
  const known = registry ? own(registry.features, name) : model.features.find((one) => one.name === name);
  return Boolean(known?.ranges.length || known?.allowed.length || own(question.normal_ranges, name));
}

// What the ranges of a model ask for besides its features: a map of names to {values, number}.
export function contextFields(model, registry) {
  const fields = new Map();
  const features = new Set(model.features.map((feature) => feature.name));
  const known = registry ? Object.values(registry.features) : model.features;
  const conditions = known.flatMap(({ ranges }) => ranges).flatMap(({ when }) => Object.entries(when ?? {}));
  for (const [name, wanted] of conditions) {
    if (features.has(name)) continue;
    const field = fields.get(name) ?? { values: [], number: false };
    fields.set(name, field);
    if (typeof wanted === "object" && wanted !== null) field.number = true;
    else if (!field.values.includes(wanted)) field.values.push(wanted);
  }
  return fields;
}
