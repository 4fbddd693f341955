// Ask a Flipset service for every minimal set of changes that turns a model's decision. In browsers and in node.
//
//   const flipset = new Client("http://127.0.0.1:8000");
//   const answer = await flipset.counterfactuals("hcv", patient, { context: { sex: "male", age: 41 }, immutable: ["BIL"] });
//   for await (const plan of answer) console.log(plan.sentence, plan.prediction.score);
//   console.log(answer.summary.outcome, answer.summary.complete);

export { Answer } from "./answer.js";
export { Client } from "./client.js";
export {
  AnswerFailed,
  Busy,
  CutStream,
  Erased,
  FlipsetError,
  InvalidRequest,
  NotAllowed,
  NotFound,
  Refused,
  StillSearching,
  TimedOut,
  Unexpected,
  Unreachable,
} from "./errors.js";
/** @typedef {import("./schema.d.ts").Counterfactual} Counterfactual */
/** @typedef {import("./schema.d.ts").Start} Start */
/** @typedef {import("./schema.d.ts").Progress} Progress */
/** @typedef {import("./schema.d.ts").Summary} Summary */
/** @typedef {import("./schema.d.ts").Problem} Problem */
/** @typedef {import("./schema.d.ts").ProblemField} ProblemField */
/** @typedef {import("./schema.d.ts").Reasons} Reasons */
/** @typedef {import("./schema.d.ts").RecordDetails} RecordDetails */
/** @typedef {import("./schema.d.ts").FeedbackBody} FeedbackBody */
/** @typedef {import("./client.js").Instance} Instance */
/** @typedef {import("./client.js").Question} Question */
/** @typedef {import("./answer.js").Line} Line */
