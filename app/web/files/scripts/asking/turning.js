// How far each value of a plan has to go: the model is asked about points on the way, all else as planned. What is told
// is a value that the model was asked about and found favourable, not where exactly the decision turns.

import { planKey } from "../plans/plan-key.js";
import { sentOf } from "../person/request.js";
import { flipset } from "./service.js";

const MOST_PLANS = 12;
const POINTS = 16;
const ROUNDS = 2;
// A value that saves less than this of the way is not worth telling.
const WORTH = 0.03;

// {plan's key: {feature: value}}, where less than the target is enough.
export async function turningPoints(model, { plans, request }, signal) {
  const ways = plans.slice(0, MOST_PLANS).flatMap((plan) => plan.changes.flatMap((change) => wayOf(plan, change, model)));
  for (let round = 0; round < ROUNDS && ways.length; round += 1) await narrow(ways, model, request, signal);
  const candidates = ways.map((way) => ({ way, value: spokenValue(way) }));
  const judged = await judge(
    candidates.map(({ way, value }) => rowOf(way, value)),
    model,
    request,
    signal,
  );
  const enough = {};
  for (const [index, { way, value }] of candidates.entries())
    if (judged[index] && Math.abs(way.to - value) > WORTH * Math.abs(way.to - way.from))
      enough[way.key] = { ...enough[way.key], [way.feature]: value };
  return enough;
}

function wayOf(plan, { feature, from, to }, model) {
  if (typeof from !== "number" || typeof to !== "number") return [];
  const { type } = model.features.find(({ name }) => name === feature);
  return [{ key: planKey(plan), feature, from, to, whole: type === "integer", row: plan.instance, good: to, bad: from }];
}

// Asks about points between what is known to do and what is known not to; the first that fails, seen from the target,
// ends the stretch that is known to do.
async function narrow(ways, model, request, signal) {
  const points = ways.map(({ good, bad }) =>
    Array.from({ length: POINTS - 1 }, (_, index) => good + ((bad - good) * (index + 1)) / POINTS),
  );
  const rows = ways.flatMap((way, index) => points[index].map((value) => rowOf(way, value)));
  const judged = await judge(rows, model, request, signal);
  for (const [index, way] of ways.entries()) {
    const mine = judged.slice(index * (POINTS - 1), (index + 1) * (POINTS - 1));
    const failing = mine.indexOf(false);
    const last = failing < 0 ? mine.length : failing;
    if (last > 0) way.good = points[index][last - 1];
    if (failing >= 0) way.bad = points[index][failing];
  }
}

async function judge(rows, model, { target }, signal) {
  if (!rows.length) return [];
  const sent = rows.map((row) => sentOf(model, row));
  const { predictions } = await flipset.predictions(model.name, sent, target ? { target } : {}, { signal });
  return predictions.map(({ favourable }) => favourable);
}

function rowOf({ row, feature, whole }, value) {
  return { ...row, [feature]: whole ? Math.round(value) : value };
}

// Short enough to be said, and on the side of the target.
function spokenValue({ good, from, to, whole }) {
  const step = whole ? 1 : 10 ** Math.floor(Math.log10(Math.abs(to - from) / 20));
  const count = to < from ? Math.floor(good / step + 1e-9) : Math.ceil(good / step - 1e-9);
  const value = Number((count * step).toPrecision(12));
  return to < from ? Math.max(value, to) : Math.min(value, to);
}
