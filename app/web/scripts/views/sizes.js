// Where there are too many subsets to draw: the plans by how many changes they need and what score they reach.

import { h, svg } from "../elements.js";
import { counted, scoreText } from "../numbers.js";
import { goalOf } from "../words.js";

const STEPS = 12;
const CELL = { width: 64, height: 18 };
const LEFT = 66;

export function sizesAndScores(plans, start, model) {
  const goal = goalOf(start.target, model.classes);
  const cells = cellsOf(plans);
  const height = STEPS * CELL.height;
  const drawing = svg("svg", {
    class: "sizes",
    viewBox: `0 0 ${LEFT + cells.sizes.length * CELL.width + 10} ${height + 46}`,
    role: "img",
    "aria-label": summary(cells, goal),
  });
  const y = (step) => height - (step + 0.5) * CELL.height + 8;
  for (const [index, size] of cells.sizes.entries()) {
    const x = LEFT + (index + 0.5) * CELL.width;
    drawing.append(svg("text", { x, y: height + 24, "text-anchor": "middle" }, String(size)));
    for (let step = 0; step < STEPS; step += 1) {
      const count = cells.counts.get(`${size},${step}`) ?? 0;
      if (count) drawing.append(bubble(x, y(step), count, cells, size, step, goal));
    }
  }
  drawing.append(
    svg(
      "text",
      { x: LEFT + (cells.sizes.length * CELL.width) / 2, y: height + 42, "text-anchor": "middle" },
      "number of changes",
    ),
  );
  for (const step of [0, STEPS - 1])
    drawing.append(
      svg("text", { x: LEFT - 10, y: y(step) + 4, "text-anchor": "end" }, scoreText(cells.score(step), goal.low)),
    );
  drawing.append(svg("text", { x: 0, y: y(STEPS / 2) + 8 }, "score"));
  return [
    h(
      "figure",
      {},
      h("div", { class: "scrolled", tabindex: "0", role: "region", "aria-label": "Plans by size and score" }, drawing),
      h(
        "figcaption",
        {},
        "Each circle stands for plans of one size and about one score; the larger, the more of them. There are too many combinations to draw every one.",
      ),
    ),
  ];
}

function cellsOf(plans) {
  const sizes = [...new Set(plans.map(({ changes }) => changes.length))].sort((one, other) => one - other);
  let [low, high] = [Infinity, -Infinity];
  for (const {
    prediction: { score },
  } of plans)
    [low, high] = [Math.min(low, score), Math.max(high, score)];
  const width = (high - low || 1) / STEPS;
  const counts = new Map();
  const bySize = new Map();
  for (const { changes, prediction } of plans) {
    const step = Math.min(Math.floor((prediction.score - low) / width), STEPS - 1);
    const cell = `${changes.length},${step}`;
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
    score: (step) => low + (step + 0.5) * width,
  };
}

function bubble(x, y, count, { most, score }, size, step, goal) {
  return svg(
    "circle",
    { cx: x, cy: y, r: String(2 + 7 * Math.sqrt(count / most)) },
    svg(
      "title",
      {},
      `${counted(count, "plan")} of ${counted(size, "change")} with a score of about ${scoreText(score(step), goal.low)}`,
    ),
  );
}

function summary({ sizes, bySize, low, high }, goal) {
  const parts = sizes.map((size) => `${counted(bySize.get(size), "plan")} of ${counted(size, "change")}`);
  return `${parts.join(", ")}; scores from ${scoreText(low, goal.low)} to ${scoreText(high, goal.low)}`;
}
