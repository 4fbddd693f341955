// Where there are too many subsets to draw: the plans by how many changes they need and what score they reach.

import { h, svg } from "../../elements.js";
import { counted, scoreText } from "../../numbers.js";
import { goalOf } from "../../words.js";

const STEPS = 12;
const MIDDLE = 6;
const CELL = { width: 64, height: 18 };
const LEFT = 66;
const CAPTION = "Each circle is a group of plans with the same number of changes and a similar score. Larger means more plans. Press one to list them.";

// `list` shows the plans of a circle: {size, low, high}.
export function sizesAndScores(plans, start, model, list) {
  const goal = goalOf(start.target, model);
  const cells = cellsOf(plans);
  const [right, height] = [LEFT + cells.sizes.length * CELL.width, STEPS * CELL.height];
  const width = right + 10;
  const drawing = svg("svg", {
    class: "sizes",
    viewBox: `0 -8 ${width} ${height + 54}`,
    width: String(width * 1.2),
    role: "group",
    "aria-label": summary(cells, goal),
  });
  const y = (step) => height - (step + 0.5) * CELL.height;
  drawing.append(...axes(right, height));
  for (const [index, size] of cells.sizes.entries()) {
    const x = LEFT + (index + 0.5) * CELL.width;
    drawing.append(text(x, height + 18, String(size)));
    for (let step = 0; step < STEPS; step += 1) {
      const count = cells.counts.get(`${size},${step}`) ?? 0;
      if (count) drawing.append(bubble(x, y(step), { count, size, step }, cells, goal, list));
    }
  }
  drawing.append(text((LEFT + right) / 2, height + 38, "number of changes"), upright(14, height / 2, "score"));
  for (const [share, score] of cells.labelled) drawing.append(...tick(height * (1 - share), scoreText(score, goal)));
  const movable = start.features.filter((feature) => feature.movable).length;
  const rest = `With ${movable} values that can change, there are too many combinations to draw each one.`;
  return [h("figure", {}, h("div", { class: "scrolled" }, drawing), h("figcaption", {}, `${CAPTION} ${rest}`))];
}

function axes(right, height) {
  const lines = [
    { x1: LEFT, x2: right, y1: height, y2: height },
    { x1: LEFT, x2: LEFT, y1: 0, y2: height },
  ];
  return lines.map((line) => svg("line", line));
}

function text(x, y, words) {
  return svg("text", { x, y, "text-anchor": "middle" }, words);
}

// An end of the axis, where it is, with its score.
function tick(y, words) {
  return [svg("line", { x1: LEFT - 5, x2: LEFT, y1: y, y2: y }), text(LEFT / 2 + 6, y + 4, words)];
}

function upright(x, y, words) {
  return svg("text", { x: 0, y: 0, transform: `translate(${x} ${y}) rotate(-90)`, "text-anchor": "middle" }, words);
}

function cellsOf(plans) {
  // Those without a plan have their place too: how many changes it takes is to be seen.
  const largest = plans.reduce((most, { changes }) => Math.max(most, changes.length), 0);
  const sizes = Array.from({ length: largest }, (_, index) => index + 1);
  let [low, high] = [Infinity, -Infinity];
  for (const {
    prediction: { score },
  } of plans)
    [low, high] = [Math.min(low, score), Math.max(high, score)];
  const span = high - low;
  // Where all scores are the same, they stand in the middle.
  const stepOf = (score) => (span ? Math.min(Math.floor((STEPS * (score - low)) / span), STEPS - 1) : MIDDLE);
  const counts = new Map();
  // The scores that stand in each.
  const bands = new Map();
  const bySize = new Map();
  for (const { changes, prediction } of plans) {
    const cell = `${changes.length},${stepOf(prediction.score)}`;
    counts.set(cell, (counts.get(cell) ?? 0) + 1);
    const band = bands.get(cell) ?? { low: Infinity, high: -Infinity };
    bands.set(cell, { low: Math.min(band.low, prediction.score), high: Math.max(band.high, prediction.score) });
    bySize.set(changes.length, (bySize.get(changes.length) ?? 0) + 1);
  }
  return {
    sizes,
    counts,
    bands,
    bySize,
    most: Math.max(...counts.values()),
    low,
    high,
    // The ends of the axis are the least and the best score.
    labelled: span
      ? [
          [0, low],
          [1, high],
        ]
      : [[(MIDDLE + 0.5) / STEPS, low]],
    score: (step) => (span ? low + ((step + 0.5) * span) / STEPS : low),
  };
}

function bubble(x, y, { count, size, step }, { most, score, bands }, goal, list) {
  const words = `${counted(count, "plan")} of ${counted(size, "change")} with a score of about ${scoreText(score(step), goal)}`;
  const press = () => list({ size, ...bands.get(`${size},${step}`) });
  const onkeydown = (event) => {
    if (event.key !== "Enter" && event.key !== " ") return;
    event.preventDefault();
    press();
  };
  return svg(
    "g",
    { class: "group", role: "button", tabindex: "0", "aria-label": `List ${words}`, onclick: press, onkeydown },
    svg("title", {}, words),
    // As large as a finger.
    svg("rect", { class: "target-area", x: x - 24, y: y - CELL.height / 2, width: 48, height: CELL.height }),
    svg("circle", { cx: x, cy: y, r: String(2 + 7 * Math.sqrt(count / most)) }),
  );
}

function summary({ sizes, bySize, low, high }, goal) {
  const parts = sizes
    .filter((size) => bySize.has(size))
    .map((size) => `${counted(bySize.get(size), "plan")} of ${counted(size, "change")}`);
  return `${parts.join(", ")}; scores from ${scoreText(low, goal)} to ${scoreText(high, goal)}`;
}
