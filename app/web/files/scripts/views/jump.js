// The plans may be out of sight, on a narrow screen far below: a button at the decision tells how they stand, and leads there.

import { h } from "../elements.js";
import { counted } from "../numbers.js";
import { isRunning } from "../state.js";

export function showJump(section, store, plans) {
  const button = h("button", { type: "button", class: "jump", onclick: () => lead(plans()) });
  section.append(button);
  store.watch(
    (state) => [state.answer],
    (answer) => {
      button.hidden = leadsNowhere(answer);
      button.textContent = standing(answer);
    },
  );
}

function lead(place) {
  place.scrollIntoView();
  place.focus({ preventScroll: true });
}

// No values, values that need correcting, or nothing to change: there is no plan to see.
function leadsNowhere({ phase, summary }) {
  return ["empty", "incomplete"].includes(phase) || summary?.outcome === "already_favourable";
}

function standing({ phase, plans, summary }) {
  if (phase === "refused") return "No answer: see why";
  if (summary?.outcome === "no_recourse") return "No plan: see why";
  if (!plans.length) return isRunning(phase) ? "Searching…" : "No plan found: see why";
  return `See ${counted(plans.length, "plan")}`;
}
