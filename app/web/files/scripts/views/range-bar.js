// One feature at a glance: its normal range, where the person stands, and where a plan would move them. Shapes say the
// same as colours.

import { svg } from "../elements.js";
import { withUnit } from "../numbers.js";
import { rangeWords, STATUS } from "../words.js";

const SHAPES = {
  normal: "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0",
  low: "M-6 -5h12l-6 11z",
  high: "M-6 5h12l-6 -11z",
  not_allowed: "M-5 -5l10 10M5 -5l-10 10",
  unknown: "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0",
};
const TARGET = "M0 -6l6 6l-6 6l-6 -6z";

// `finding` is the feature in `start`; only numbers have a bar.
export function rangeBar(finding) {
  const bar = svg("svg", {
    class: `bar ${finding.status}`,
    role: "img",
    "aria-label": barWords(finding),
    height: "26",
  });
  const place = scaleOf(finding);
  bar.append(svg("rect", { class: "ground", x: "0", y: "9", width: "100%", height: "8", rx: "4" }));
  if (finding.low !== null || finding.high !== null) {
    const from = finding.low === null ? 0 : place(finding.low);
    const to = finding.high === null ? 100 : place(finding.high);
    bar.append(
      svg("rect", {
        class: "normal-range",
        x: `${from}%`,
        y: "7",
        width: `${Math.max(to - from, 0.8)}%`,
        height: "12",
        rx: "3",
      }),
    );
  }
  const at = place(finding.value);
  if (finding.target !== null) {
    const target = place(finding.target);
    bar.append(
      svg("line", { class: "way", x1: `${at}%`, x2: `${target}%`, y1: "13", y2: "13" }),
      mark(target, TARGET, "target"),
    );
  }
  bar.append(mark(at, SHAPES[finding.status], "value"));
  return bar;
}

function mark(percent, path, name) {
  return svg("svg", { x: `${percent}%`, y: "13", class: "mark" }, svg("path", { d: path, class: name }));
}

// From a value to percent of the width: the range in the middle, room on both sides, what is far off at the edge.
function scaleOf({ low, high, value, target }) {
  const known = [low, high, value, target].filter((one) => one !== null);
  const width = low !== null && high !== null && high > low ? high - low : Math.max(...known.map(Math.abs)) || 1;
  const from = Math.max(Math.min(...known), (low ?? high ?? value) - 2 * width) - width * 0.12;
  const to = Math.min(Math.max(...known), (high ?? low ?? value) + 2 * width) + width * 0.12;
  const least = low === null && from > 0 ? 0 : from;
  return (number) => 3 + 94 * Math.min(Math.max((number - least) / (to - least), 0), 1);
}

function barWords(finding) {
  const target = finding.target === null ? "" : `; target ${withUnit(finding.target, finding.unit)}`;
  return `${withUnit(finding.value, finding.unit)}, ${STATUS[finding.status].word}; ${rangeWords(finding, finding.unit)}${target}`;
}
