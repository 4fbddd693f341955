// The suite of tests/clients/test_clients.py once more, by the same names. pytest starts it, with a made-up service and
// a real one: tests/clients/test_typescript.py.

import assert from "node:assert/strict";
import { createPublicKey, verify } from "node:crypto";
import { getEventListeners } from "node:events";
import { test } from "node:test";

import {
  AnswerFailed,
  Busy,
  Client,
  CutStream,
  Erased,
  InvalidRequest,
  NotAllowed,
  NotFound,
  StillSearching,
  TimedOut,
  Unexpected,
  Unreachable,
} from "../src/index.js";

const { MADE_UP_URL, REAL_URL, NOWHERE_URL } = process.env;
const PLANS = 3;
const MANY = 100_000;
const HOUR = 3600;

const connect = (options) => new Client(MADE_UP_URL, options);
const real = new Client(REAL_URL);
const get = async (path) => (await fetch(`${MADE_UP_URL}/${path}`)).json();
const ask = (client, model, question) => client.counterfactuals(model, { a: 1 }, question);
const ranksOf = async (answer) => (await answer.read()).plans.map((plan) => plan.rank);

async function several() {
  const examples = await real.examples("mortgage");
  const { instance, ...question } = examples.find((one) => one.name === "several-ways").request;
  return { instance, question };
}

// Where the search was slow, the record is kept a moment after the answer.
async function recorded() {
  const { instance, question } = await several();
  const subject = `applicant-${crypto.randomUUID()}`;
  const asked = await real.counterfactuals("mortgage", instance, { ...question, record: { subject } });
  const answer = await asked.read();
  while ((await real.record(answer.start.record)).state !== "kept") await new Promise(setImmediate);
  return { answer, subject };
}

const refusedWith = (kind, name) => (error) => error instanceof kind && error.kind === name;

function plansOf(answer) {
  return answer[Symbol.asyncIterator]();
}

test("the first plan comes before the summary", async () => {
  const answer = await ask(connect(), "pausing:typescript");
  const plans = plansOf(answer);
  assert.equal((await plans.next()).value.rank, 1);
  assert.throws(() => answer.summary, StillSearching);
  await get("go/pausing:typescript");
  assert.equal((await plans.next()).value.rank, 2);
  assert.equal((await plans.next()).value.rank, 3);
  assert.equal((await plans.next()).done, true);
  assert.deepEqual([answer.summary.outcome, answer.summary.count], ["found", PLANS]);
});

test("every line is there for those who want them", async () => {
  const answer = await ask(connect(), "plain");
  const kinds = [];
  for await (const line of answer.lines()) kinds.push(line.type);
  assert.deepEqual(kinds, ["start", ...Array(PLANS).fill("counterfactual"), "progress", "summary"]);
  assert.equal(answer.progress.model_rows, 3);
  assert.equal(answer.requestId, "made-up-1");
});

test("a whole answer can be kept", async () => {
  const answer = await ask(connect(), "plain");
  const whole = await answer.read();
  assert.equal(await answer.read(), whole);
  assert.deepEqual(
    whole.plans.map((plan) => plan.rank),
    [1, 2, 3],
  );
  assert.equal(whole.start.prediction.label, "no");
  assert.equal(whole.summary.complete, true);
  const begun = await ask(connect(), "plain");
  await plansOf(begun).next();
  await assert.rejects(begun.read(), /taken already/);
  begun.close();
});

test("a stream that is cut says so after its plans", async () => {
  for (const model of ["cut", "half", "unfinished"]) {
    const plans = plansOf(await ask(connect(), model));
    assert.equal((await plans.next()).value.rank, 1);
    await assert.rejects(plans.next(), CutStream);
  }
});

test("a line that is none is unexpected", async () => {
  const plans = plansOf(await ask(connect(), "strange"));
  assert.equal((await plans.next()).value.rank, 1);
  await assert.rejects(plans.next(), Unexpected);
});

test("a client may wait without end", async () => {
  assert.deepEqual(await ranksOf(await ask(connect({ timeout: Infinity, retries: undefined }), "plain")), [1, 2, 3]);
});

test("what no request can hold is refused at once", () => {
  const isUnquoted = (error) => error.message.startsWith("the key holds") && !error.message.includes("secret");
  assert.throws(() => connect({ key: "flipset\nsecret" }), isUnquoted);
  for (const address of ["127.0.0.1:8000", "localhost:8000"]) assert.throws(() => new Client(address), TypeError);
});

test("an answer that fails midway says why", async () => {
  const plans = plansOf(await ask(connect(), "failing"));
  assert.equal((await plans.next()).value.rank, 1);
  await assert.rejects(plans.next(), (error) => error instanceof AnswerFailed && error.kind === "unexpected");
});

test("a client that asks too often waits and asks again", async () => {
  assert.deepEqual(await ranksOf(await ask(connect(), "limited")), [1, 2, 3]);
  assert.equal(await get("asked/limited"), 2);
});

test("a busy service is asked again", async () => {
  assert.deepEqual(await ranksOf(await ask(connect(), "busy")), [1, 2, 3]);
  assert.equal(await get("asked/busy"), 2);
});

test("patience has an end", async () => {
  const refused = await ask(connect({ retries: 2 }), "full").catch((error) => error);
  assert.ok(refused instanceof Busy);
  assert.deepEqual([refused.status, refused.kind], [503, "busy"]);
  assert.equal(await get("asked/full"), 3);
});

test("a service that asks for more time than there is is not waited for", async () => {
  const refused = await ask(connect(), "closed-for-an-hour").catch((error) => error);
  assert.ok(refused instanceof Busy);
  assert.equal(refused.retryAfter, HOUR);
  assert.equal(await get("asked/closed-for-an-hour"), 1);
});

test("nothing is asked again after the first byte", async () => {
  await assert.rejects(ranksOf(await ask(connect(), "cut:once")), CutStream);
  assert.equal(await get("asked/cut:once"), 1);
});

test("a refusal says which fields are wrong", async () => {
  const { signal } = new AbortController();
  const refused = await connect().counterfactuals("strict", { a: 1 }, {}, { signal }).catch((error) => error);
  // A signal that outlives the request holds nothing of it.
  assert.equal(getEventListeners(signal, "abort").length, 0);
  assert.ok(refused instanceof InvalidRequest);
  assert.deepEqual(
    refused.fields.map(({ field }) => field),
    ["instance.a", "target.low"],
  );
});

test("each refusal has a name", async () => {
  for (const [model, error] of Object.entries({ secret: NotAllowed, nowhere: NotFound, proxied: Unexpected, login: Unexpected }))
    await assert.rejects(ask(connect(), model), error);
});

test("no redirect is followed", async () => {
  await assert.rejects(ask(connect(), "moved"), Unexpected);
  assert.deepEqual([await get("asked/moved"), await get("asked/plain:elsewhere")], [1, 0]);
});

test("a silent service is given up", async () => {
  const hasty = connect({ timeout: 0.05, retries: 0 });
  await assert.rejects(ask(hasty, "silent"), TimedOut);
  const plans = plansOf(await ask(hasty, "endless-silence"));
  assert.equal((await plans.next()).value.rank, 1);
  await assert.rejects(plans.next(), TimedOut);
});

test("a service that is not there is unreachable", async () => {
  await assert.rejects(ask(new Client(NOWHERE_URL, { retries: 0 }), "plain"), Unreachable);
});

test("keys and lines of the future are passed over", async () => {
  const { plans, summary } = await (await ask(connect(), "future")).read();
  assert.deepEqual(
    plans.map((plan) => plan.rank),
    [1, 2, 3],
  );
  assert.equal(plans[0].instance.b, "é");
  assert.equal(summary.elapsed_ms.total, 1);
});

test("constraints and limits stand alone or together", async () => {
  const question = {
    immutable: ["a"],
    constraints: { max_changes: 2, immutable: ["b"] },
    deadline_ms: 500,
    registry: null,
    one_day: { more: true },
    max_step: undefined,
  };
  const echoed = await ask(connect(), "echo", question).catch((error) => error);
  assert.deepEqual(JSON.parse(echoed.fields[0].message), {
    instance: { a: 1 },
    constraints: { immutable: ["a"], max_changes: 2 },
    limits: { deadline_ms: 500 },
    registry: null,
    one_day: { more: true },
  });
});

test("a slow reader gets everything and holds up the service", async () => {
  const model = `many-of-${MANY}:slowly`;
  const plans = plansOf(await ask(connect(), model));
  assert.equal((await plans.next()).value.rank, 1);
  const looks = [];
  do looks.push(await get(`sent/${model}`));
  while (looks.length < 2 || looks.at(-1) !== looks.at(-2));
  assert.ok(looks.at(-1) < MANY);
  assert.equal((await plans.next()).value.rank, 2);
  await plans.return();
});

test("a hundred thousand plans need no more memory than a few", async () => {
  const answer = await ask(connect(), `many-of-${MANY}`);
  let [before, most, ranks] = [0, 0, 0];
  for await (const plan of answer) {
    ranks += plan.rank;
    if (plan.rank % 5000 !== 0) continue;
    global.gc();
    const held = process.memoryUsage().heapUsed / 2 ** 20;
    if (!before) before = held;
    most = Math.max(most, held);
  }
  assert.equal(ranks, (MANY * (MANY + 1)) / 2);
  assert.equal(answer.summary.count, MANY);
  console.log(`memory grew by ${(most - before).toFixed(1)} MB`);
  assert.ok(most - before < 30);
});

test("closing an answer frees its place in the service", async () => {
  const isIdle = async () =>
    (await (await fetch(`${REAL_URL}/metrics`)).text()).includes("\nflipset_searches_in_flight 0.0\n");
  const instance = Object.fromEntries(Array.from({ length: 40 }, (_, position) => [`f${position}`, 0]));
  const answer = await real.counterfactuals("endless", instance, { engine: "lattice", deadline_ms: HOUR * 1000 });
  const plans = plansOf(answer);
  assert.equal((await plans.next()).value.rank, 1);
  assert.equal(await isIdle(), false);
  const began = performance.now();
  answer.close();
  while (!(await isIdle()));
  console.log(`the place was free after ${(performance.now() - began).toFixed(0)} ms`);
  assert.equal((await plans.next()).done, true);
});

test("what is served is listed", async () => {
  const names = (await real.models()).map((model) => model.name);
  for (const name of ["hcv", "mortgage", "synthetic", "thyroid"]) assert.ok(names.includes(name));
  const model = await real.model("hcv");
  assert.deepEqual(
    model.features.slice(0, 2).map((feature) => feature.name),
    ["ALB", "ALP"],
  );
  assert.deepEqual((await real.normalRanges("hcv")).features.ALT.ranges[0].when, { sex: "female" });
  assert.ok((await real.examples("mortgage")).some((example) => example.name === "several-ways"));
});

test("examples can be asked as they are", async () => {
  const outcomes = {};
  for (const example of await real.examples("mortgage")) {
    const { plans, summary } = await (await real.counterfactuals("mortgage", example)).read();
    assert.equal(summary.count, plans.length);
    outcomes[example.name] = summary.outcome;
  }
  assert.deepEqual(outcomes, {
    "already-favourable": "already_favourable",
    "exactly-one-way": "found",
    "no-way-out": "no_recourse",
    "several-ways": "found",
  });
});

test("predictions for one and for several", async () => {
  const { instance } = await several();
  const one = await real.prediction("mortgage", instance);
  const { plans } = await (await real.counterfactuals("mortgage", instance)).read();
  const people = [instance, plans[0].instance];
  const judged = await real.predictions("mortgage", people, { target: { threshold: 0.5 } });
  assert.deepEqual(judged.predictions, [one.prediction, plans[0].prediction]);
});

test("all subsets can be seen", async () => {
  const { instance, question } = await several();
  const seen = await real.subsets("mortgage", instance, question);
  assert.equal(seen.subsets.length, 2 ** seen.features.length);
  const minimal = seen.subsets.filter((subset) => subset.role === "minimal").map((subset) => subset.features.sort());
  const { plans } = await (await real.counterfactuals("mortgage", instance, question)).read();
  const changed = plans.map((plan) => plan.changes.map((change) => change.feature).sort());
  assert.deepEqual(minimal.map(String).sort(), changed.map(String).sort());
});

test("what the real service refuses has a name", async () => {
  await assert.rejects(real.model("hcw"), NotFound);
  const refused = await real.counterfactuals("mortgage", { pirat: "much" }).catch((error) => error);
  assert.ok(refused instanceof InvalidRequest);
  assert.ok(refused.fields.some(({ field }) => field === "instance.pirat"));
});

test("reasons are told from all minimal sets", async () => {
  const { instance } = await several();
  const told = await real.reasons("mortgage", instance, { immutable: ["pirat"] });
  const { plans } = await (await real.counterfactuals("mortgage", instance)).read();
  const sets = plans.map((plan) => plan.changes.map((change) => change.feature));
  assert.deepEqual([told.outcome, told.complete, told.minimal_sets], ["found", true, sets.length]);
  assert.deepEqual(told.set_aside, ["immutable[0]"]);
  for (const { feature, necessity, variation } of told.reasons) {
    assert.equal(necessity.sets, sets.filter((set) => set.includes(feature)).length);
    assert.ok(variation.changes.some((change) => change.feature === feature));
    assert.ok(variation.prediction.favourable);
  }
});

test("sentences come in the language that was asked for", async () => {
  const { instance } = await several();
  const german = new Client(REAL_URL, { language: "de" });
  const { plans } = await (await german.counterfactuals("mortgage", instance)).read();
  assert.match(plans[0].sentence, /^Schuldendienstquote von 0,42 auf 0,36 senken und /);
  assert.equal(plans[0].changes[0].feature, "pirat");
});

test("an answer that is recorded can be looked up and asked again", async () => {
  const { answer, subject } = await recorded();
  const record = await real.record(answer.start.record);
  assert.deepEqual([record.state, record.subject, record.outcome], ["kept", subject, "found"]);
  assert.deepEqual(record.request.record, { subject });
  const sentences = ({ plans }) => plans.map((plan) => plan.sentence);
  assert.deepEqual(sentences(record), sentences(answer));
  assert.deepEqual(await real.records(subject), { records: [record], after: null });
  assert.deepEqual((await real.records(subject, { after: record.seq })).records, []);
  assert.deepEqual(await real.replay(record.id), { same: true, differences: [], compared: "answer" });
});

test("what became of a plan is kept", async () => {
  const record = (await recorded()).answer.start.record;
  const feedback = { plan: 2, outcome: "declined", reason: "too_costly" };
  const said = await real.feedback(record, feedback);
  for (const { at, ...kept } of [said, ...(await real.record(record)).feedback])
    assert.deepEqual(kept, { record, ...feedback });
  const refused = await real.feedback(record, { plan: 99, outcome: "achieved" }).catch((error) => error);
  assert.ok(refused instanceof InvalidRequest);
  assert.deepEqual(
    refused.fields.map(({ field }) => field),
    ["plan"],
  );
});

test("a person can be erased", async () => {
  const { answer, subject } = await recorded();
  assert.equal((await real.erase(subject)).records, 1);
  const left = await real.record(answer.start.record);
  assert.deepEqual([left.state, left.subject, left.request, left.plans], ["erased", null, null, null]);
  const erased = refusedWith(Erased, "record-erased");
  await assert.rejects(real.replay(left.id), erased);
  await assert.rejects(real.feedback(left.id, { plan: 1, outcome: "tried" }), erased);
  assert.deepEqual((await real.records(subject)).records, []);
});

test("a receipt proves a record", async () => {
  const record = await real.record((await recorded()).answer.start.record);
  const receipt = await real.receipt(record.id);
  // `flipset verify` wants every byte of it.
  assert.equal(JSON.stringify(receipt), `{"receipt":"${receipt.receipt}","salt":"${record.salt}"}`);
  const [head, content, signature] = receipt.receipt.split(".");
  const { keys } = await (await fetch(`${REAL_URL}/.well-known/flipset-keys`)).json();
  const key = createPublicKey({ key: keys[0], format: "jwk" });
  assert.ok(verify(null, Buffer.from(`${head}.${content}`), key, Buffer.from(signature, "base64url")));
  const said = JSON.parse(Buffer.from(content, "base64url").toString());
  assert.deepEqual([said.hash, said.record], [record.hash, record.sealed]);
});

test("a record that is not there has a name", async () => {
  const unknown = refusedWith(NotFound, "unknown-record");
  for (const call of ["record", "receipt", "replay"]) await assert.rejects(real[call]("0".repeat(32)), unknown);
  const wrong = await real.records("two words & more").catch((error) => error);
  assert.ok(wrong instanceof InvalidRequest);
  assert.deepEqual(
    wrong.fields.map(({ field }) => field),
    ["subject"],
  );
});

test("a store that is away is asked again and one that is off is not", async () => {
  assert.equal((await connect().replay("away")).same, true);
  assert.equal(await get("asked/away"), 2);
  await assert.rejects(connect({ retries: 0 }).replay("away:once"), refusedWith(Busy, "records-unavailable"));
  await assert.rejects(connect().record("off"), refusedWith(NotFound, "records-off"));
  assert.equal(await get("asked/off"), 1);
});
