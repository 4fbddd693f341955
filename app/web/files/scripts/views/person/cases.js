// Cases that were saved here, and receipts: opened again, by a button or by dropping a file on the page.

import { forgetCase, readReceipt, saveCase, savedCases, wantedOf } from "../../person/cases.js";
import { button, field, h, newId } from "../../elements.js";
import { isEmpty } from "../../person/request.js";

const NOTE = "Cases are saved in this browser, on this computer, and nowhere else. Do not save them on a shared computer.";

export function showCases(place, store, open, announce) {
  const title = h("h2", { id: newId("dialog") }, "Cases");
  const reference = h("input", { type: "text", autocomplete: "off", maxlength: "80" });
  const flaw = h("p", { class: "flaw", role: "alert" });
  const list = h("ul", { class: "relaxations" });
  const file = h("input", { type: "file", accept: "application/json,.json", onchange: () => readFiles(file.files) });
  const form = h(
    "form",
    { method: "dialog", onsubmit: save },
    title,
    field("Reference", reference),
    h("button", { type: "submit", class: "primary" }, "Save this case here"),
    flaw,
    h("p", { class: "help" }, NOTE),
    list,
    field("Open a receipt", file),
    button("Close", () => element.close()),
  );
  const element = h("dialog", { "aria-labelledby": title.id }, form);
  document.body.append(element);
  place.append(button("Cases…", show));

  function show() {
    const cases = savedCases();
    flaw.textContent = "";
    list.replaceChildren(...cases.map((one) => h("li", { class: "row" }, opener(one), remover(one))));
    form.querySelector("[type=submit]").disabled = !store.get().model || isEmpty(store.get());
    if (!element.open) element.showModal();
  }

  function save(event) {
    event.preventDefault();
    if (!reference.value.trim()) return reference.focus();
    try {
      saveCase(reference.value.trim(), store.get());
    } catch {
      flaw.textContent = "Not saved: this browser does not let the page keep anything, or has no room left.";
      return undefined;
    }
    store.set({ saved: savedState(store.get()) });
    reference.value = "";
    return show();
  }

  function opener({ reference: name, model, request, kept }) {
    return button(`Open ${name}`, () => {
      element.close();
      open(model, wantedOf(request, kept));
    });
  }

  function remover({ reference: name }) {
    return button(`Delete ${name}`, () => {
      forgetCase(name);
      show();
    });
  }

  async function readFiles([first]) {
    if (!first) return;
    const { model, request, flaw } = readReceipt(await first.text());
    file.value = "";
    if (element.open) element.close();
    if (flaw) announce(flaw);
    else open(model, wantedOf(request));
  }

  addEventListener("dragover", (event) => event.dataTransfer.types.includes("Files") && event.preventDefault());
  addEventListener("drop", (event) => {
    if (!event.dataTransfer.files.length) return;
    event.preventDefault();
    readFiles(event.dataTransfer.files);
  });
  // Values that were typed or pasted are lost with the page, unless they were saved.
  addEventListener("beforeunload", (event) => {
    if (hasUnsaved(store.get())) event.preventDefault();
  });
}

function savedState({ instance, context, question }) {
  return JSON.stringify([instance, context, question]);
}

// Whether there are values that nothing here would bring back.
export function hasUnsaved(state) {
  return Boolean(state.model) && !state.example && !isEmpty(state) && state.saved !== savedState(state);
}
