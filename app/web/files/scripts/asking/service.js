// The service behind the page. Every request goes through the client that others use too: clients/typescript.

import { Client } from "../../client/index.js";

// In memory only: a reload forgets it.
let key = "";

export let flipset = connected();

export function useKey(text) {
  key = text.trim();
  flipset = connected();
}

export function hasKey() {
  return key !== "";
}

export function counterfactualsAddress(model) {
  return `${address()}v1/models/${encodeURIComponent(model)}/counterfactuals`;
}

// Whether the two scores of a model are shares of a whole, so that one half is where the decision turns: seen on one row.
export async function givesShares(model, instance) {
  const judged = await Promise.all(
    model.classes.map((name) => flipset.prediction(model.name, instance, { target: { classes: [name] } })),
  );
  return Math.abs(judged[0].prediction.score + judged[1].prediction.score - 1) < 1e-3;
}

// Whether to ask a busy service again is for the page: it says so meanwhile. The page itself is in English.
function connected() {
  return new Client(address(), { key, retries: 0, language: "en" });
}

function address() {
  return new URL(".", document.baseURI).href;
}
