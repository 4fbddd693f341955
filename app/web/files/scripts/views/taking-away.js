// Ways to keep or share an answer: curl, a receipt, paper, a link.

import { button, byId, h } from "../elements.js";
import { filterParts } from "../plans/filtering.js";
import { linkWithPerson } from "../person/fragment.js";
import { counted } from "../numbers.js";
import { counterfactualsAddress, hasKey } from "../asking/service.js";
import { hasEnded } from "../state.js";
import { listed } from "../person/items.js";
import { spoken } from "../words.js";

const IN_CURL = "Copied. The command contains this person's values.";
const IN_LINK =
  "Copied. The link contains this person's values: share it only with people who may see them.";
const IN_RECEIPT = "Saved. The receipt contains this person's values.";

export function showTakingAway(section, store, printPlans) {
  const said = h("p", { class: "said", role: "status" });
  const ways = [
    button("Print", () => print()),
    button("Copy link", () => copy(linkWithPerson(store.get()), IN_LINK, said)),
    button("Download receipt", () => download(store.get(), said)),
    button("Copy curl", () => copy(curl(store.get()), IN_CURL, said)),
  ];
  section.append(h("div", { class: "row" }, ways), said);
  store.watch(
    (state) => [state.answer],
    (answer) => {
      section.hidden = !hasEnded(answer.phase);
      said.textContent = "";
    },
  );
  addEventListener("beforeprint", () => {
    for (const one of document.querySelectorAll("details.sources")) one.open = true;
    byId("printed-note").textContent = note(store.get(), printPlans(true));
  });
  addEventListener("afterprint", () => printPlans(false));
}

// Whose values these are, and which answer this is.
function note({ answer, context, view, model }, printed) {
  const said = contextWords(answer.request?.context ?? context);
  if (!answer.askedAt) return said;
  const left = answer.plans.length - printed;
  const wanted = filterParts(view, spoken(model));
  const filter = wanted.length ? ` (printed: only plans ${listed(wanted)})` : "";
  const rest =
    left > 0
      ? ` ${counted(left, "plan")} of ${answer.plans.length.toLocaleString("en")} not printed${filter}; the receipt has all.`
      : "";
  const id = answer.requestId ? ` Request ${answer.requestId}.` : "";
  const asked = answer.askedAt.toLocaleString("en-GB", { dateStyle: "long", timeStyle: "long" });
  return `${said}Asked ${asked}.${id}${rest}`;
}

// What chose the ranges, such as sex and age: its fields are not printed.
function contextWords(context = {}) {
  const said = Object.entries(context).map(([name, value]) => `${name} ${value}`);
  return said.length ? `Context: ${said.join(", ")}. ` : "";
}

function curl({ model, answer }) {
  const body = JSON.stringify(answer.request).replaceAll("'", "'\\''");
  const parts = [
    `curl -s '${counterfactualsAddress(model.name)}'`,
    "-H 'Content-Type: application/json'",
    `-d '${body}'`,
  ];
  // The key itself is nobody's but who has it.
  if (hasKey()) parts.splice(1, 0, '-H "Authorization: Bearer $KEY"');
  return parts.join(" \\\n  ");
}

function receipt({ model, answer }) {
  return {
    receipt: "flipset",
    flipset_version: document.querySelector("meta[name=flipset-version]").content,
    note: "What the model would say, not what will happen.",
    asked_at: answer.askedAt.toISOString(),
    request_id: answer.requestId ?? null,
    ended: answer.phase,
    path: `/v1/models/${model.name}/counterfactuals`,
    request: answer.request,
    start: answer.start,
    counterfactuals: answer.plans,
    summary: answer.summary,
  };
}

function download(state, said) {
  const file = new Blob([JSON.stringify(receipt(state), null, 2), "\n"], { type: "application/json" });
  const time = state.answer.askedAt.toISOString().slice(0, 19).replaceAll(":", "");
  const link = h("a", { href: URL.createObjectURL(file), download: `flipset-${state.model.name}-${time}.json` });
  link.click();
  // Later: the browser reads it after this.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  said.textContent = IN_RECEIPT;
}

async function copy(text, done, said) {
  try {
    await navigator.clipboard.writeText(text);
    said.textContent = done;
  } catch {
    // Without HTTPS, or without leave, there is no clipboard: then to be copied by hand.
    const field = h("textarea", { readonly: true, rows: "5", "aria-label": "To copy" });
    field.value = text;
    said.replaceChildren("Copy this:", field);
    field.select();
  }
}
