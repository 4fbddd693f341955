// Cases: who is asked about, with what was asked and kept, under a reference. Saved in this browser only, and only if asked.

import { partsOf, requestFlaw, requestOf } from "./request.js";

const PLACE = "flipset:cases";

export function savedCases() {
  try {
    const cases = JSON.parse(localStorage.getItem(PLACE) ?? "[]");
    return Array.isArray(cases) ? cases : [];
  } catch {
    return [];
  }
}

// One with the same reference is replaced.
export function saveCase(reference, { model, view, ...state }) {
  const { limits: _, ...request } = requestOf({ model, ...state });
  const one = { reference, saved_at: new Date().toISOString(), model: model.name, request, kept: view.kept };
  keep([...savedCases().filter((other) => other.reference !== reference), one]);
}

export function forgetCase(reference) {
  keep(savedCases().filter((one) => one.reference !== reference));
}

function keep(cases) {
  if (cases.length) localStorage.setItem(PLACE, JSON.stringify(cases));
  else localStorage.removeItem(PLACE);
}

// A receipt as this page writes it: {model, request}, or {flaw}.
export function readReceipt(text) {
  let receipt;
  try {
    receipt = JSON.parse(text);
  } catch {
    return { flaw: "This file is not a receipt: it is not JSON." };
  }
  const model = /^\/v1\/models\/(.+)\/counterfactuals$/.exec(receipt?.path ?? "")?.[1];
  if (receipt?.receipt !== "flipset" || !model || !receipt.request) return { flaw: "This file is not a receipt of Flipset." };
  const flaw = requestFlaw(receipt.request);
  return flaw ? { flaw } : { model, request: receipt.request };
}

// What `chooseModel` takes. The limit of plans is the page's own.
export function wantedOf(request, kept = []) {
  const { max_counterfactuals: _, ...limits } = request.limits ?? {};
  const { instance, context, question } = partsOf({ ...request, limits });
  if (!Object.keys(question.limits ?? {}).length) delete question.limits;
  const known = Object.fromEntries(Object.entries(instance).filter(([, value]) => value !== null));
  return { question, person: { instance: known, context }, kept };
}
