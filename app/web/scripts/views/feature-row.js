// One feature of the form: its value, its range, and what may become of it.

import { h, newId, sign, svg, unseen } from "../elements.js";
import { withUnit } from "../numbers.js";
import { conditionWords, rangeWords, STATUS, whyNot } from "../words.js";
import { rangeBar } from "./range-bar.js";

// Built once for each model, so that nobody loses their place while typing; `show` brings it up to date.
export function featureRow(feature, actions, openRule) {
  const ids = { input: newId("value"), help: newId("help"), flaw: newId("flaw") };
  const title = feature.title ?? feature.name;
  const input = feature.type === "category" ? categoryInput(feature, ids, actions) : numberInput(feature, ids, actions);
  const status = h("span", { class: "status" });
  const help = h("p", { class: "help", id: ids.help });
  const flaw = h("p", { class: "flaw", id: ids.flaw });
  const picture = h("div", { class: "picture" });
  const lock = h("button", { type: "button", class: "lock", onclick: () => actions.toggleLock(feature.name) });
  const direction = feature.type === "category" ? null : directionSelect(feature, title, actions);
  const rule = h(
    "button",
    {
      type: "button",
      class: "rule",
      draggable: "true",
      title: "Drag onto another feature to connect the two",
      onclick: () => openRule(feature.name),
    },
    "Rule…",
    unseen(` for ${title}`),
  );
  const controls = h("div", { class: "controls" }, lock, direction, rule);
  const row = h(
    "li",
    { class: "feature", "data-feature": feature.name },
    h(
      "div",
      { class: "name" },
      h("label", { for: ids.input }, title),
      h("span", { class: "unit" }, nameAndUnit(feature, title)),
      status,
    ),
    h("div", { class: "entry" }, input),
    picture,
    controls,
    help,
    flaw,
  );
  connectByDragging(row, rule, feature.name, openRule);

  function show({ value, text, finding, flawText, locked, way, source }) {
    const written = text ?? (value === undefined || value === null ? "" : String(value));
    if (feature.type === "category") input.value = String(feature.categories.indexOf(value));
    else if (
      document.activeElement !== input ||
      (text === undefined && value !== undefined && Number(input.value) !== value)
    )
      input.value = written;
    showStatus(row, status, finding);
    picture.replaceChildren(
      ...(finding && finding.value !== null && feature.type !== "category" ? [rangeBar(finding)] : []),
    );
    help.textContent = helpWords(feature, finding);
    help.title = source ?? "";
    flaw.textContent = flawText ? `${title} ${flawText}` : "";
    input.setAttribute("aria-invalid", flawText ? "true" : "false");
    lock.replaceChildren(padlock(locked), locked ? "Locked" : "Lock", unseen(` ${title}`));
    lock.setAttribute("aria-pressed", String(locked));
    if (direction) direction.value = way ?? "";
    // Of what has no range nothing can be asked, unless something was.
    controls.hidden = finding?.why_not === "no_range" && !locked && !way;
  }

  return { row, show, feature };
}

function padlock(closed) {
  return svg(
    "svg",
    { class: "padlock", viewBox: "0 0 16 16", width: "14", height: "14", "aria-hidden": "true" },
    svg("rect", { x: "2.5", y: "7", width: "11", height: "7.5", rx: "1.5" }),
    svg("path", { d: closed ? "M5 7V4.5a3 3 0 0 1 6 0V7" : "M5 7V4a3 3 0 0 1 5.6 -1.5", fill: "none" }),
  );
}

function nameAndUnit(feature, title) {
  const unit = feature.unit && feature.unit !== "1" ? feature.unit : "";
  return [title === feature.name ? "" : feature.name, unit].filter(Boolean).join(", ");
}

function numberInput(feature, ids, actions) {
  return h("input", {
    id: ids.input,
    type: "text",
    inputmode: feature.type === "integer" ? "numeric" : "decimal",
    autocomplete: "off",
    spellcheck: "false",
    "aria-describedby": `${ids.help} ${ids.flaw}`,
    oninput: (event) => actions.edit(feature, event.target.value),
  });
}

function categoryInput(feature, ids, actions) {
  const none = feature.may_be_missing ? "missing" : "choose…";
  return h(
    "select",
    {
      id: ids.input,
      "aria-describedby": `${ids.help} ${ids.flaw}`,
      onchange: (event) => actions.choose(feature, feature.categories[event.target.value]),
    },
    h("option", { value: "-1" }, none),
    feature.categories.map((category, index) => h("option", { value: String(index) }, String(category))),
  );
}

function directionSelect(feature, title, actions) {
  return h(
    "select",
    {
      class: "direction",
      "aria-label": `Direction of ${title}`,
      onchange: (event) => actions.setDirection(feature.name, event.target.value || null),
    },
    h("option", { value: "" }, "↕ either way"),
    h("option", { value: "increase" }, "↑ only up"),
    h("option", { value: "decrease" }, "↓ only down"),
  );
}

function showStatus(row, status, finding) {
  row.dataset.status = finding?.status ?? "";
  status.replaceChildren();
  if (!finding) return;
  const { sign: shape, word } = STATUS[finding.status];
  const why = whyNot(finding);
  status.append(
    sign(shape),
    finding.value === null ? "missing" : word,
    why && finding.why_not !== "missing" ? h("span", { class: "why-not" }, `, ${why}`) : "",
  );
}

function helpWords(feature, finding) {
  if (!finding)
    return [
      generalRange(feature),
      feature.type === "integer" ? "whole number" : "",
      feature.may_be_missing ? "may be missing" : "",
    ]
      .filter(Boolean)
      .join(", ");
  const condition = conditionWords(finding.when);
  const filled =
    finding.filled === null || finding.filled === undefined
      ? ""
      : `, taken as ${withUnit(finding.filled, finding.unit)}`;
  const target = finding.target === null ? "" : `; would move to ${withUnit(finding.target, finding.unit)}`;
  // Of a feature without a range the status has said so already.
  const range =
    finding.status === "unknown" && finding.low === null && finding.high === null && !finding.allowed
      ? ""
      : rangeWords(finding, finding.unit);
  return `${range}${condition ? ` (${condition})` : ""}${target}${filled}`.replace(/^[;,] /, "");
}

// Before anything is known of a person: the range that holds for everyone, the last in the list.
function generalRange(feature) {
  const range = feature.allowed.length ? { allowed: feature.allowed } : feature.ranges.at(-1);
  return range ? rangeWords(range, feature.unit) : "no known range";
}

// Dropping one feature's handle on another asks what connects them; the same is behind the button.
function connectByDragging(row, handle, name, openRule) {
  handle.addEventListener("dragstart", (event) => event.dataTransfer.setData("text/x-flipset-feature", name));
  row.addEventListener("dragover", (event) => {
    if (event.dataTransfer.types.includes("text/x-flipset-feature")) event.preventDefault();
  });
  row.addEventListener("drop", (event) => {
    event.preventDefault();
    const other = event.dataTransfer.getData("text/x-flipset-feature");
    if (other && other !== name) openRule(other, name);
  });
}
