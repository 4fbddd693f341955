// All subsets of the movable features, drawn by size: what the model says of each. Figure 2 of the paper, for one person.

import { h, svg } from "../../elements.js";
import { counted, scoreText } from "../../numbers.js";
import { goalOf } from "../../words.js";

const RADIUS = 8;
// Few nodes have their names beside them; of many there is only room for the marks.
const LABELLED = { most: 16, x: 84, y: 92, margin: 42, area: 14, line: 12, below: 28 };
const CLOSE = { x: 25, y: 58, margin: 18, area: 12 };
const SHAPES = {
  minimal: `M${-RADIUS - 1} 0a${RADIUS + 1} ${RADIUS + 1} 0 1 0 ${2 * RADIUS + 2} 0a${RADIUS + 1} ${RADIUS + 1} 0 1 0 ${-2 * RADIUS - 2} 0`,
  maximal_failing: `M${-RADIUS} ${-RADIUS}h${2 * RADIUS}v${2 * RADIUS}h${-2 * RADIUS}z`,
  favourable: `M-6 0a6 6 0 1 0 12 0a6 6 0 1 0 -12 0`,
  failing: `M-5 -5h10v10h-10z`,
};
const TICKS = { minimal: "M-4 0l3 3.5l5.5 -7", maximal_failing: "M-4 -4l8 8M4 -4l-8 8" };

export function hasse(subsets, model, titled, onChoose) {
  const goal = goalOf(subsets.target, model);
  const step = subsets.subsets.length <= LABELLED.most ? LABELLED : CLOSE;
  const nodes = laidOut(subsets.subsets, step);
  const width = Math.max(...nodes.map(({ x }) => x)) + 2 * step.margin;
  const height = subsets.features.length * step.y + 60;
  const said = h("p", { class: "said" }, "Point at a combination, or move through them with the arrow keys.");
  const drawing = svg("svg", {
    class: "hasse",
    viewBox: `${-step.margin} ${-height + 36} ${width} ${height}`,
    width: String(width * 1.1),
    role: "group",
    "aria-label": "All combinations of changes by size, from none at the bottom to all at the top",
  });
  // Marks that are too small to be hit are of no use: where there is no room it is scrolled.
  drawing.style.minWidth = `${width}px`;
  drawing.append(svg("g", { class: "edges", "aria-hidden": "true" }, edges(nodes)));
  const marks = nodes.map((node) => mark(node, words(node, titled, goal), step));
  drawing.append(...marks);
  const tell = (index) => {
    said.textContent = words(nodes[index], titled, goal);
  };
  marks.forEach((element, index) => {
    element.addEventListener("pointerenter", () => tell(index));
    element.addEventListener("focus", () => tell(index));
    element.addEventListener("click", () => choose(nodes[index], onChoose));
    element.addEventListener("keydown", (event) =>
      moveBetween(event, nodes, marks, index, () => choose(nodes[index], onChoose)),
    );
  });
  marks[0].setAttribute("tabindex", "0");
  return [h("figure", {}, scrolled(drawing), h("figcaption", {}, legend())), said];
}

// Where there is no room for the whole picture, its middle is shown, and that there is more.
function scrolled(drawing) {
  const box = h("div", { class: "scrolled" }, drawing);
  const hint = h("p", { class: "help", hidden: true }, "↔ There is more on both sides: scroll the picture sideways.");
  new ResizeObserver(() => {
    const more = box.scrollWidth - box.clientWidth;
    if (hint.hidden && more > 0) box.scrollLeft = more / 2;
    hint.hidden = more <= 0;
  }).observe(box);
  return [hint, box];
}

function choose({ role, features }, onChoose) {
  if (role === "minimal") onChoose(features);
}

// Bottom to top by size; each size centred.
function laidOut(subsets, step) {
  const sizes = new Map();
  for (const subset of subsets)
    sizes.set(subset.features.length, [...(sizes.get(subset.features.length) ?? []), subset]);
  const widest = Math.max(...[...sizes.values()].map((level) => level.length));
  return [...sizes].flatMap(([size, level]) =>
    level.map((subset, index) => ({
      ...subset,
      size,
      x: step.x * (index + (widest - level.length) / 2),
      y: -step.y * size,
      kind: kindOf(subset),
    })),
  );
}

function kindOf({ role, favourable }) {
  return role ?? (favourable ? "favourable" : "failing");
}

function edges(nodes) {
  return nodes.flatMap((upper) =>
    nodes
      .filter((lower) => lower.size === upper.size - 1 && lower.features.every((name) => upper.features.includes(name)))
      .map((lower) => svg("line", { x1: lower.x, y1: lower.y, x2: upper.x, y2: upper.y })),
  );
}

function mark(node, words, step) {
  const element = svg(
    "g",
    {
      class: `node ${node.kind}${node.allowed ? "" : " forbidden"}`,
      transform: `translate(${node.x} ${node.y})`,
      tabindex: "-1",
      role: node.role === "minimal" ? "button" : "img",
      "aria-label": words,
    },
    svg("circle", { class: "target-area", r: step.area }),
    svg("path", { d: SHAPES[node.kind] }),
  );
  if (node.role) element.append(tick(node.role));
  if (step === LABELLED) element.append(...label(node.features), reach(node.features.length));
  return element;
}

function tick(role) {
  return svg("path", { class: "tick", d: TICKS[role] });
}

function label(features) {
  return (features.length ? features : ["as it is"]).map((name, place) =>
    svg("text", { y: String(LABELLED.below + LABELLED.line * place), "text-anchor": "middle" }, shortened(name)),
  );
}

// Pointing at the names means the node above them.
function reach(names) {
  const height = 2 * RADIUS + LABELLED.below + LABELLED.line * Math.max(names - 1, 0);
  return svg("rect", { x: "-38", y: "-14", width: "76", height, fill: "none", "pointer-events": "all" });
}

function shortened(name) {
  return name.length > 12 ? `${name.slice(0, 11)}…` : name;
}

function words({ features, score, favourable, allowed, role }, titled, goal) {
  const what = features.length
    ? `${counted(features.length, "change")}: ${features.map(titled).join(", ")}`
    : "nothing changed";
  const outcome = favourable ? "changes the decision" : "does not change it";
  const part =
    { minimal: ", and no allowed part of it does: a plan", maximal_failing: ", and everything allowed above it does" }[
      role
    ] ?? "";
  return `${what}. Score ${scoreText(score, goal)}: ${outcome}${part}${allowed ? "" : "; not allowed by the rules"}.`;
}

function moveBetween(event, nodes, marks, index, onEnter) {
  if (["Enter", " "].includes(event.key)) {
    event.preventDefault();
    onEnter();
    return;
  }
  const next = neighbour(event.key, nodes, index);
  if (next === undefined) return;
  event.preventDefault();
  marks[index].setAttribute("tabindex", "-1");
  marks[next].setAttribute("tabindex", "0");
  marks[next].focus();
}

function neighbour(key, nodes, index) {
  const here = nodes[index];
  const step = { ArrowLeft: -1, ArrowRight: 1 }[key];
  if (step) return nodes[index + step]?.size === here.size ? index + step : undefined;
  const rise = { ArrowUp: 1, ArrowDown: -1 }[key];
  if (!rise) return undefined;
  const level = nodes
    .map((node, place) => [Math.abs(node.x - here.x), place, node.size])
    .filter(([, , size]) => size === here.size + rise);
  return level.sort(([one], [other]) => one - other)[0]?.[1];
}

function legend() {
  return [
    ["minimal", "a plan: no part of it would be enough"],
    ["favourable", "changes the decision, but is not minimal"],
    ["maximal_failing", "a largest set that still fails"],
    ["failing", "fails"],
    ["failing forbidden", "not allowed by the rules"],
  ].map(([kind, text]) =>
    h(
      "span",
      { class: "key" },
      svg(
        "svg",
        { class: "hasse", width: "22", height: "22", viewBox: "-11 -11 22 22", "aria-hidden": "true" },
        svg("g", { class: `node ${kind}` }, svg("path", { d: SHAPES[kind.split(" ")[0]] }), TICKS[kind] && tick(kind)),
      ),
      text,
    ),
  );
}
