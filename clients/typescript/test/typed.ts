// Not run: `tsc --strict` reads it. What a user writes is typed to the end.

import { Answer, Busy, Client, InvalidRequest, type Counterfactual, type Line } from "../src/index.js";

const flipset = new Client("http://127.0.0.1:8000", { key: "flipset_...", timeout: 20, retries: 1 });
const answer: Answer = await flipset.counterfactuals(
  "hcv",
  { ALB: 46, sex: "male", BIL: null },
  { context: { sex: "male", age: 41 }, immutable: ["BIL"], max_changes: 2, deadline_ms: 500, registry: null },
);
for await (const plan of answer) {
  const kept: Counterfactual = plan;
  const sentence: string = kept.sentence;
  const before: number | string | null | undefined = plan.changes[0]?.from;
  // @ts-expect-error  a misspelt key
  plan.sentense;
  console.log(sentence, before, plan.prediction.score.toFixed(2));
}
for await (const line of answer.lines()) {
  const any: Line = line;
  if (any.type === "progress") console.log(any.model_rows + 1);
  else if (any.type === "summary") console.log(any.no_recourse?.relax[0]?.items);
}
const { outcome, complete }: { outcome: string; complete: boolean } = answer.summary;
// @ts-expect-error  a text is no list of names
await flipset.counterfactuals("hcv", {}, { immutable: "BIL" });
const scores: number[] = (await flipset.predictions("hcv", [{ ALB: 46 }])).predictions.map((each) => each.score);
const role: "minimal" | "maximal_failing" | null | undefined = (await flipset.subsets("hcv", {})).subsets[0]?.role;
try {
  await flipset.model("hcw");
} catch (error) {
  if (error instanceof InvalidRequest) console.log(error.fields.map(({ field, message }) => `${field}: ${message}`));
  if (error instanceof Busy && error.retryAfter !== null) console.log(error.retryAfter + 1);
}
const [example] = await flipset.examples("hcv");
if (example) await flipset.counterfactuals("hcv", example, { max_changes: 1 });
const texts: (string | null)[] = (await flipset.reasons("hcv", {})).reasons.map((reason) => reason.text);
const recorded = await flipset.counterfactuals("hcv", {}, { record: { subject: "patient-0815" } });
const id: string | null | undefined = recorded.start.record;
if (id) {
  await flipset.feedback(id, { plan: 2, outcome: "declined", reason: "too_costly" });
  // @ts-expect-error  no such outcome
  await flipset.feedback(id, { plan: 2, outcome: "forgotten" });
  const same: boolean | null = (await flipset.replay(id)).same;
  const salt: string | null = (await flipset.receipt(id)).salt;
  console.log(same, salt, (await flipset.record(id)).feedback[0]?.reason);
}
const { after } = await flipset.records("patient-0815");
if (after !== null) await flipset.records("patient-0815", { after });
const erased: number = (await flipset.erase("patient-0815")).records;
export { complete, erased, outcome, role, scores, texts };
