// One feature of the form: its value, its range, and what may become of it.

import { button, h, newId, sign, svg, unseen } from "../../elements.js";
import { withUnit } from "../../numbers.js";
import { conditionWords, isYesOrNo, rangeWords, STATUS, titleOf, valueWords, whyNot } from "../../words.js";
import { rangeBar } from "./range-bar.js";

const DRAGGED = "text/x-flipset-feature";

// Built once for each model, so that nobody loses their place while typing; `show` brings it up to date.
export function featureRow(feature, word, actions, openRule) {
  const title = titleOf(feature);
  const [help, flaw] = ["help", "flaw"].map((name) => h("p", { class: name, id: newId(name) }));
  const input = valueInput(feature, actions, `${help.id} ${flaw.id}`);
  const status = h("span", { class: "status" });
  const picture = h("div", { class: "picture" });
  const controls = featureControls(feature, title, actions, openRule);
  const name = h(
    "div",
    { class: "name" },
    h("label", { for: input.element.id }, title),
    h("span", { class: "unit" }, nameAndUnit(feature, title)),
    status,
  );
  const entry = h("div", { class: "entry" }, input.element);
  const row = h(
    "li",
    { class: "feature", "data-feature": feature.name },
    name,
    entry,
    picture,
    controls.element,
    help,
    flaw,
  );
  connectByDragging(row, controls.handle, feature.name, openRule);

  function show({ value, text, finding, flawText, doubt, source, expected, ...rules }) {
    input.show(value, text);
    showStatus(row, status, finding);
    const isDrawn = finding && finding.value !== null && feature.type !== "category";
    picture.replaceChildren(...(isDrawn ? [rangeBar(finding, word)] : []));
    help.textContent = helpWords(feature, finding, word, expected);
    help.title = source;
    flaw.textContent = flawText || doubt ? `${title}: ${flawText ?? doubt}` : "";
    flaw.classList.toggle("doubt", !flawText);
    input.element.setAttribute("aria-invalid", String(Boolean(flawText)));
    controls.show(rules);
  }

  return { row, show, feature };
}

function nameAndUnit(feature, title) {
  const unit = feature.unit && feature.unit !== "1" ? feature.unit : "";
  return [title === feature.name ? "" : feature.name, unit].filter(Boolean).join(", ");
}

function valueInput(feature, actions, describedBy) {
  const common = { id: newId("value"), "aria-describedby": describedBy };
  if (feature.type === "category") return categoryInput(feature, actions, common);
  return isYesOrNo(feature) ? yesNoInput(feature, actions, common) : numberInput(feature, actions, common);
}

function yesNoInput(feature, actions, common) {
  const none = feature.may_be_missing ? "missing" : "choose…";
  const onchange = () => actions.choose(feature, element.value === "" ? undefined : Number(element.value));
  const choices = [["", none], ["1", "yes"], ["0", "no"]].map(([value, text]) => h("option", { value }, text));
  const element = h("select", { ...common, onchange }, choices);
  const show = (value) => (element.value = value === undefined || value === null ? "" : String(value));
  return { element, show };
}

// Enter leads to the next value, as on a report.
function goOn(event) {
  if (event.key !== "Enter") return;
  const inputs = [...event.target.closest("ol").querySelectorAll(".feature:not([hidden]) .entry > *")];
  const next = inputs[inputs.indexOf(event.target) + 1];
  if (!next) return;
  event.preventDefault();
  next.focus();
  next.select?.();
}

function numberInput(feature, actions, common) {
  const element = h("input", {
    ...common,
    type: "text",
    inputmode: feature.type === "integer" ? "numeric" : "decimal",
    autocomplete: "off",
    spellcheck: "false",
    oninput: () => actions.edit(feature, element.value),
    onkeydown: goOn,
  });
  // Typing is not interrupted, except by a value that came from elsewhere.
  const isBeingTyped = (value, text) =>
    document.activeElement === element &&
    (text !== undefined || value === undefined || Number(element.value) === value);
  const show = (value, text) => {
    if (!isBeingTyped(value, text)) element.value = text ?? value ?? "";
  };
  return { element, show };
}

function categoryInput(feature, actions, common) {
  const none = feature.may_be_missing ? "missing" : "choose…";
  const choices = feature.categories.map((category, index) => h("option", { value: String(index) }, String(category)));
  const onchange = () => actions.choose(feature, feature.categories[element.value]);
  const element = h("select", { ...common, onchange }, h("option", { value: "-1" }, none), choices);
  const show = (value) => (element.value = String(feature.categories.indexOf(value)));
  return { element, show };
}

// Lock, direction, rules. What always holds is shown, and cannot be taken off here.
function featureControls(feature, title, actions, openRule) {
  const lock = button("", () => actions.toggleLock(feature.name), { class: "lock" });
  const direction = feature.type === "category" ? null : directionSelect(feature, title, actions);
  const hint = "Drag onto another value to connect the two";
  const handle = button("Rule…", () => openRule(feature.name), { class: "rule", draggable: "true", title: hint });
  handle.append(unseen(` for ${title}`));
  const element = h("div", { class: "controls" }, lock, direction, handle);

  function show({ ranged, locked, way, lockedBy, alwaysWay }) {
    const closed = locked || Boolean(lockedBy);
    const by = lockedBy ? `, always, by ${lockedBy}` : "";
    lock.replaceChildren(padlock(closed), closed ? "Locked" : "Lock", unseen(` ${title}${by}`));
    lock.setAttribute("aria-pressed", String(closed));
    lock.disabled = Boolean(lockedBy);
    if (direction) {
      direction.value = alwaysWay ?? way ?? "";
      direction.disabled = Boolean(alwaysWay);
    }
    // Of what has no range nothing can be asked, unless something was.
    handle.hidden = !ranged;
    element.hidden = !ranged && !closed && !way && !alwaysWay;
  }

  return { element, handle, show };
}

function padlock(closed) {
  return svg(
    "svg",
    { class: "padlock", viewBox: "0 0 16 16", width: "14", height: "14", "aria-hidden": "true" },
    svg("rect", { x: "2.5", y: "7", width: "11", height: "7.5", rx: "1.5" }),
    svg("path", { d: closed ? "M5 7V4.5a3 3 0 0 1 6 0V7" : "M5 7V4a3 3 0 0 1 5.6 -1.5", fill: "none" }),
  );
}

function directionSelect(feature, title, actions) {
  const onchange = () => actions.setDirection(feature.name, select.value || null);
  const select = h(
    "select",
    { class: "direction", "aria-label": `Direction of ${title}`, onchange },
    h("option", { value: "" }, "↕ either way"),
    h("option", { value: "increase" }, "↑ only up"),
    h("option", { value: "decrease" }, "↓ only down"),
  );
  return select;
}

function showStatus(row, status, finding) {
  row.dataset.status = finding?.status ?? "";
  status.replaceChildren();
  if (!finding) return;
  const { sign: shape, word } = STATUS[finding.status];
  const isMissing = finding.value === null || finding.why_not === "missing";
  const why = whyNot(finding);
  status.append(sign(shape), isMissing ? "missing" : word, why && h("span", { class: "why-not" }, `, ${why}`));
}

function helpWords(feature, finding, word, expected) {
  const common = [feature.type === "integer" ? "whole number" : "", feature.may_be_missing ? "may be missing" : ""];
  if (!finding) return [generalRange(feature, word, expected), ...common].filter(Boolean).join(", ");
  const condition = conditionWords(finding.when);
  const filled = finding.filled ?? null;
  // Of a feature without a range the status has said so already.
  const hasRange = finding.low !== null || finding.high !== null || finding.allowed;
  const range = hasRange ? `${rangeOf(finding, feature, word)}${condition ? ` (${condition})` : ""}` : "";
  const verb = finding.value === null ? "could be given as" : "would move to";
  const target = finding.target === null ? "" : `${verb} ${valueWords(finding.target, feature)}`;
  const taken = filled === null ? "" : `taken as ${valueWords(filled, feature)}`;
  return [range, target, taken].filter(Boolean).join("; ");
}

// Before the service has said anything: the range that fits what is known of the person so far.
function generalRange(feature, word, expected) {
  const range = feature.allowed.length ? { allowed: feature.allowed } : expected;
  if (!range) return "no known range";
  const condition = conditionWords(range.when);
  return `${rangeOf(range, feature, word)}${condition ? ` (${condition})` : ""}`;
}

// Of two values: the one that lies in the range.
function rangeOf(range, feature, word) {
  const within = [0, 1].filter((value) => value >= (range.low ?? 0) && value <= (range.high ?? 1));
  const isOne = isYesOrNo(feature) && !range.allowed?.length && within.length === 1;
  return isOne ? `${word}: ${valueWords(within[0], feature)}` : rangeWords(range, feature.unit, word);
}

// Dropping one feature's handle on another asks what connects them; the same is behind the button.
function connectByDragging(row, handle, name, openRule) {
  handle.addEventListener("dragstart", (event) => event.dataTransfer.setData(DRAGGED, name));
  row.addEventListener("dragover", (event) => {
    if (event.dataTransfer.types.includes(DRAGGED) && !handle.hidden) event.preventDefault();
  });
  row.addEventListener("drop", (event) => {
    event.preventDefault();
    const other = event.dataTransfer.getData(DRAGGED);
    if (other && other !== name) openRule(other, name);
  });
}
