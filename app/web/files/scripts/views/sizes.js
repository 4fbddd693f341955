// Where there are too many subsets to draw: the plans by how many changes they need and what score they reach.

import { h, svg } from "../elements.js";
import { counted, scoreText } from "../numbers.js";
import { goalOf } from "../words.js";

const STEPS = 12;
const MIDDLE = 6;
const CELL = { width: 64, height: 18 };
const LEFT = 66;
const CAPTION = "Each circle stands for plans of one size and about one score; the larger, the more of them.";

export function sizesAndScores(plans, start, model) {
  const goal = goalOf(start.target, model);
  const cells = cellsOf(plans);
  const [right, height] = [LEFT + cells.sizes.length * CELL.width, STEPS * CELL.height];
  const width = right + 10;
  const drawing = svg("svg", {
    class: "sizes",
    viewBox: `0 0 ${width} ${height + 46}`,
    width: String(width * 1.2),
    role: "img",
    "aria-label": summary(cells, goal),
  });
  const y = (step) => height - (step + 0.5) * CELL.height;
  drawing.append(...axes(right, height));
  for (const [index, size] of cells.sizes.entries()) {
    const x = LEFT + (index + 0.5) * CELL.width;
    drawing.append(text(x, height + 18, String(size)));
    for (let step = 0; step < STEPS; step += 1) {
      const count = cells.counts.get(`${size},${step}`) ?? 0;
      if (count) drawing.append(bubble(x, y(step), count, cells, size, step, goal));
    }
  }
  drawing.append(text((LEFT + right) / 2, height + 38, "number of changes"), upright(14, height / 2, "score"));
  for (const [step, score] of cells.labelled) drawing.append(text(LEFT / 2 + 6, y(step) + 4, scoreText(score, goal)));
  const movable = start.features.filter((feature) => feature.movable).length;
  const rest = `The other combinations of the ${movable} features that can change are too many to draw.`;
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
  const bySize = new Map();
  for (const { changes, prediction } of plans) {
    const cell = `${changes.length},${stepOf(prediction.score)}`;
    counts.set(cell, (counts.get(cell) ?? 0) + 1);
    bySize.set(changes.length, (bySize.get(changes.length) ?? 0) + 1);
  }
  return {
    sizes,
    counts,
    bySize,
    most: Math.max(...counts.values()),
    low,
    high,
    // The ends of the axis are the least and the best score.
    labelled: span
      ? [
          [0, low],
          [STEPS - 1, high],
        ]
      : [[MIDDLE, low]],
    score: (step) => (span ? low + ((step + 0.5) * span) / STEPS : low),
  };
}

function bubble(x, y, count, { most, score }, size, step, goal) {
  return svg(
    "circle",
    { cx: x, cy: y, r: String(2 + 7 * Math.sqrt(count / most)) },
    svg(
      "title",
      {},
      `${counted(count, "plan")} of ${counted(size, "change")} with a score of about ${scoreText(score(step), goal)}`,
    ),
  );
}

function summary({ sizes, bySize, low, high }, goal) {
  const parts = sizes
    .filter((size) => bySize.has(size))
    .map((size) => `${counted(bySize.get(size), "plan")} of ${counted(size, "change")}`);
  return `${parts.join(", ")}; scores from ${scoreText(low, goal)} to ${scoreText(high, goal)}`;
}
