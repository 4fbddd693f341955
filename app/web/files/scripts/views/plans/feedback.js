// What became of a kept plan, told to the records, where the service keeps some.

import { NotFound } from "../../../client/index.js";
import { h } from "../../elements.js";
import { planKey } from "../../plans/plan-key.js";
import { flipset } from "../../asking/service.js";

const OUTCOMES = {
  "": "nothing yet",
  accepted: "chosen",
  tried: "being tried",
  achieved: "achieved",
  failed: "did not work",
  "declined cannot_change": "declined: cannot be changed",
  "declined too_costly": "declined: too much effort",
  "declined not_true_of_me": "declined: the values are not right",
  "declined other": "declined: another reason",
};
// A record is in the store a moment after the last line of its answer.
const PAUSE_MS = 300;
const TRIES = 10;

// By request: the record of its answer, once it comes; a second choice waits for the same. What was said of which plan, by
// the plan's key.
const records = new WeakMap();
const said = new WeakMap();

export function keepsRecords() {
  return document.querySelector("meta[name=flipset-records]").content === "on";
}

// A list of what may have become of the plan; what is chosen is recorded at once.
export function feedbackChoice(plan, name, { model, shown }, tell) {
  const before = said.get(shown.request)?.get(planKey(plan)) ?? "";
  const choices = Object.entries(OUTCOMES).map(([value, text]) => h("option", { value }, text));
  const select = h("select", { "aria-label": `What became of plan ${name}`, onchange: record }, choices);
  select.value = before;

  async function record() {
    const [outcome, reason] = select.value.split(" ");
    if (!outcome) return;
    tell("Recording…");
    try {
      await sendFeedback(model, shown, plan, { outcome, ...(reason ? { reason } : {}) });
      said.set(shown.request, new Map([...(said.get(shown.request) ?? []), [planKey(plan), select.value]]));
      tell(`Recorded: plan ${name} ${OUTCOMES[select.value]}.`);
    } catch (problem) {
      tell(`Not recorded. ${problem.message}`);
    }
  }

  return select;
}

async function sendFeedback(model, shown, plan, feedback) {
  const { record, rank } = await recorded(model, shown, plan);
  for (let left = TRIES; ; left -= 1) {
    try {
      return await flipset.feedback(record, { plan: rank, ...feedback });
    } catch (problem) {
      if (!(problem instanceof NotFound) || left === 0) throw problem;
      await pause();
    }
  }
}

// The record of the answer that is shown. Without one the same is asked again, to be recorded: questions that are only
// tried out are not.
async function recorded(model, { start, request }, plan) {
  if (start.record) return { record: start.record, rank: plan.rank };
  if (!records.has(request)) records.set(request, askedForTheRecord(model, request));
  const { record, plans } = await records.get(request).catch((problem) => {
    records.delete(request);
    throw problem;
  });
  const rank = plans.find((one) => planKey(one) === planKey(plan))?.rank;
  if (!record || rank === undefined) throw new Error("The service has no room for another record.");
  return { record, rank };
}

async function askedForTheRecord(model, request) {
  const { instance, ...question } = request;
  const coming = await flipset.counterfactuals(model.name, instance, { ...question, record: {} });
  const { start, plans } = await coming.read();
  await pause();
  return { record: start.record, plans };
}

function pause() {
  return new Promise((resolve) => setTimeout(resolve, PAUSE_MS));
}
