// One feature at a glance: its normal range, where the person stands, and where a plan would move them. Shapes say the
// same as colours.

import { svg } from "../../elements.js";
import { withUnit } from "../../numbers.js";
import { rangeWords, STATUS } from "../../words.js";

const SHAPES = {
  normal: "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0",
  low: "M-6 -5h12l-6 11z",
  high: "M-6 5h12l-6 -11z",
  not_allowed: "M-5 -5l10 10M5 -5l-10 10",
  unknown: "M-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0",
};
const TARGET = "M0 -6l6 6l-6 6l-6 -6z";

// `finding` is the feature in `start`; only numbers have a bar. `enough` is a value short of the target that would do.
export function rangeBar(finding, word, enough) {
  const bar = svg("svg", {
    class: `bar ${finding.status}`,
    role: "img",
    "aria-label": barWords(finding, word),
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
  if (enough !== undefined) bar.append(svg("line", { class: "least", x1: `${place(enough)}%`, x2: `${place(enough)}%`, y1: "3", y2: "23" }));
  bar.append(mark(at, SHAPES[finding.status], "value"), ...breaks(place, finding.value));
  return bar;
}

// A value that is drawn nearer than it lies: the bar is broken beside it.
function breaks(place, value) {
  const off = place.beyond(value);
  if (!off) return [];
  return [svg("text", { class: "break", x: off > 0 ? "88%" : "12%", y: "18", "text-anchor": "middle" }, off > 0 ? "≫" : "≪")];
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
  const place = (number) => 3 + 94 * Math.min(Math.max((number - least) / (to - least), 0), 1);
  place.beyond = (number) => (number < least ? -1 : number > to ? 1 : 0);
  return place;
}

function barWords(finding, word) {
  const target = finding.target === null ? "" : `; target ${withUnit(finding.target, finding.unit)}`;
  const off = scaleOf(finding).beyond(finding.value) ? ", off the scale" : "";
  return `${withUnit(finding.value, finding.unit)}${off}, ${STATUS[finding.status].word}; ${rangeWords(finding, finding.unit, word)}${target}`;
}
