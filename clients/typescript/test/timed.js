// For the bench (lab/benchmarks/requests/clients.py): the processor time that the client takes for an answer, and reading its
// bytes alone.

import { Client } from "../src/index.js";

const [url, model, person, rounds] = process.argv.slice(2);
const instance = JSON.parse(person);
const flipset = new Client(url);

async function bytes() {
  const headers = { "Content-Type": "application/json" };
  const request = { method: "POST", body: JSON.stringify({ instance }), headers };
  const response = await fetch(`${url}/v1/models/${model}/counterfactuals`, request);
  let length = 0;
  for await (const piece of response.body) length += piece.length;
  return length;
}

async function client() {
  let plans = 0;
  for await (const plan of await flipset.counterfactuals(model, instance)) plans += plan.changes.length ? 1 : 0;
  return plans;
}

const told = { plans: await client(), bytes: [], client: [] };
await bytes();
for (let round = 0; round < Number(rounds); round += 1) {
  for (const [name, read] of Object.entries({ bytes, client })) {
    const began = process.cpuUsage();
    await read();
    const { user, system } = process.cpuUsage(began);
    told[name].push((user + system) / 1e6);
  }
}
console.log(JSON.stringify(told));
