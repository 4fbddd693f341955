// Elements of the page, made without markup: what somebody has written can only ever be text.

const SVG = "http://www.w3.org/2000/svg";

export function h(tag, properties = {}, ...children) {
  return filled(document.createElement(tag), properties, children);
}

export function svg(tag, properties = {}, ...children) {
  return filled(document.createElementNS(SVG, tag), properties, children);
}

function filled(element, properties, children) {
  for (const [name, value] of Object.entries(properties)) {
    if (value === null || value === undefined || value === false) continue;
    if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
    else if (name === "value") element.value = value;
    else element.setAttribute(name, value === true ? "" : value);
  }
  element.append(
    ...children.flat(Infinity).filter((child) => child !== null && child !== undefined && child !== false),
  );
  return element;
}

export function button(text, onclick, properties = {}) {
  return h("button", { type: "button", onclick, ...properties }, text);
}

// An input with its label above it, and a place for what is wrong with it.
export function field(label, input) {
  input.id = newId("field");
  const flaw = h("p", { class: "flaw", id: newId("flaw") });
  input.setAttribute("aria-describedby", flaw.id);
  return h("div", { class: "field" }, h("label", { for: input.id }, label), input, flaw);
}

// Says, or no longer says, what is wrong with the input of a field.
export function mark(input, flaw) {
  input.setAttribute("aria-invalid", String(Boolean(flaw)));
  byId(input.getAttribute("aria-describedby")).textContent = flaw ?? "";
}

export function byId(id) {
  return document.getElementById(id);
}

// Text for those who listen, in place of a sign for those who look.
export function unseen(text) {
  return h("span", { class: "unseen" }, text);
}

export function sign(text) {
  return h("span", { "aria-hidden": "true", class: "sign" }, text);
}

let names = 0;

export function newId(prefix) {
  names += 1;
  return `${prefix}-${names}`;
}

// Choices of a select, [[value, text], ...]; the one that is set stays chosen.
export function fillSelect(select, choices, chosen) {
  select.replaceChildren(...choices.map(([value, text]) => h("option", { value }, text)));
  select.value = chosen;
}
