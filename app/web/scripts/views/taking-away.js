// To be kept or passed on: as curl, as a receipt, on paper, as a link.

import { h } from "../elements.js";
import { linkWithPerson } from "../fragment.js";
import { counted } from "../numbers.js";
import { counterfactualsAddress } from "../service.js";

export function showTakingAway(section, store, printPlans) {
  const said = h("p", { class: "said", role: "status" });
  const button = (text, onclick) => h("button", { type: "button", onclick }, text);
  section.append(
    h(
      "div",
      { class: "row" },
      button("Copy as curl", () =>
        copy(curl(store.get()), "The command is in the clipboard. It holds the values of this person.", said),
      ),
      button("Download receipt (JSON)", () => download(store.get(), said)),
      button("Print", () => print()),
      button("Copy link with these values", () =>
        copy(
          linkWithPerson(store.get()),
          "The link is in the clipboard. It holds the values of this person: share it only with who may see them.",
          said,
        ),
      ),
    ),
    said,
    h("p", { class: "only-printed", id: "printed-note" }),
  );
  store.watch(
    (state) => [state.answer.phase],
    (phase) => {
      section.hidden = !["done", "stopped", "cut"].includes(phase);
    },
  );
  addEventListener("beforeprint", () => note(store.get(), printPlans(true)));
  addEventListener("afterprint", () => printPlans(false));
}

function note({ answer }, leftOut) {
  const rest = leftOut ? ` ${counted(leftOut, "further plan")} left out on paper; the receipt has them all.` : "";
  const id = answer.requestId ? ` Request ${answer.requestId}.` : "";
  document.getElementById("printed-note").textContent = `Asked ${answer.askedAt?.toLocaleString() ?? ""}.${id}${rest}`;
}

export function curl({ model, answer }) {
  const body = JSON.stringify(answer.request).replaceAll("'", "'\\''");
  return `curl -s '${counterfactualsAddress(model.name)}' \\\n  -H 'Content-Type: application/json' \\\n  -d '${body}'`;
}

export function receipt({ model, answer }) {
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
  const link = h("a", {
    href: URL.createObjectURL(file),
    download: `flipset-${state.model.name}-${state.answer.askedAt.toISOString().slice(0, 19).replaceAll(":", "")}.json`,
  });
  link.click();
  // Later: the browser reads it after this.
  setTimeout(() => URL.revokeObjectURL(link.href), 10_000);
  said.textContent = "The receipt was saved. It holds the values of this person.";
}

async function copy(text, done, said) {
  try {
    await navigator.clipboard.writeText(text);
    said.textContent = done;
  } catch {
    // Without HTTPS, or without leave, there is no clipboard: then to be copied by hand.
    const field = h("textarea", { readonly: true, rows: "5", "aria-label": "To copy" });
    field.value = text;
    said.replaceChildren("Copy this by hand:", field);
    field.select();
  }
}
