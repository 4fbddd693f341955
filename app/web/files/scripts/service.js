// The service behind the page: every request to it goes through here.

import { readLines } from "./lines.js";

// In memory only: a reload forgets it.
let key = "";

export function useKey(text) {
  key = text.trim();
}

export function hasKey() {
  return key !== "";
}

export class Problem extends Error {
  constructor(body, response) {
    super(body.detail ?? body.title);
    this.body = body;
    this.status = response?.status ?? 0;
    this.retryAfter = Number(response?.headers.get("Retry-After") ?? 0);
  }

  get kind() {
    return (this.body.type ?? "").split(":").at(-1);
  }

  // Whether the same question may well be answered later.
  get isPassing() {
    return [429, 503].includes(this.status) && this.retryAfter > 0;
  }

  get errors() {
    return this.body.errors ?? [];
  }
}

export const listModels = async () => (await getJson("v1/models")).models;
export const getModel = (name) => getJson(`v1/models/${encodeURIComponent(name)}`);
export const listExamples = async (name) => (await getJson(`v1/models/${encodeURIComponent(name)}/examples`)).examples;
export const getRegistry = (name) => getJson(`v1/normal-ranges/${encodeURIComponent(name)}`);

export function counterfactualsAddress(model) {
  return address(`v1/models/${encodeURIComponent(model)}/counterfactuals`);
}

// Whether the two scores of a model are shares of a whole, so that one half is where the decision turns: seen on one row.
export async function givesShares(model, instance) {
  const path = address(`v1/models/${encodeURIComponent(model.name)}/predictions`);
  const scores = await Promise.all(
    model.classes.map(async (name) => {
      const response = await send(path, posted({ instance, target: { classes: [name] } }, "application/json"));
      return (await response.json()).prediction.score;
    }),
  );
  return Math.abs(scores[0] + scores[1] - 1) < 1e-3;
}

export async function judgeSubsets(model, request, signal) {
  const response = await send(
    address(`v1/models/${encodeURIComponent(model)}/subsets`),
    posted(request, "application/json", signal),
  );
  return response.json();
}

// Streams an answer: `onResponse` gets the id of the request when it begins, `onLine` each line as it comes.
export async function streamCounterfactuals(model, request, signal, onResponse, onLine) {
  const response = await send(counterfactualsAddress(model), posted(request, "application/x-ndjson", signal));
  onResponse(response.headers.get("X-Request-ID"));
  await readLines(response.body, onLine);
}

function posted(request, accept, signal) {
  return {
    method: "POST",
    body: JSON.stringify(request),
    headers: { "Content-Type": "application/json", Accept: accept },
    signal,
  };
}

async function getJson(path) {
  return (await send(address(path), { headers: { Accept: "application/json" } })).json();
}

async function send(where, options) {
  const headers = key ? { ...options.headers, Authorization: `Bearer ${key}` } : options.headers;
  let response;
  try {
    response = await fetch(where, { ...options, headers, cache: "no-store", credentials: "same-origin" });
  } catch (error) {
    if (options.signal?.aborted) throw error;
    throw new Problem({ title: "The service cannot be reached. Is it running, and are you connected to it?" });
  }
  if (!response.ok) throw await problemOf(response);
  return response;
}

async function problemOf(response) {
  try {
    return new Problem(await response.json(), response);
  } catch {
    return new Problem({ title: `The service answered with ${response.status}, and said nothing more.` }, response);
  }
}

function address(path) {
  return new URL(path, document.baseURI).href;
}
