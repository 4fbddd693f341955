// The plans may be out of sight, on a narrow screen far below: a button at the decision tells how they stand, and leads there.

import { h } from "../elements.js";
import { counted } from "../numbers.js";

export function showJump(section, store, plans) {
  const button = h("button", { type: "button", class: "jump", onclick: () => lead(plans) });
  section.append(button);
  store.watch(
    (state) => [state.answer],
    (answer) => {
      button.hidden = answer.phase === "empty";
      button.textContent = standing(answer);
    },
  );
}

function lead(place) {
  place.scrollIntoView();
  place.focus({ preventScroll: true });
}

function standing({ phase, plans, summary }) {
  if (summary?.outcome === "no_recourse") return "No plan: see why";
  if (phase === "refused") return "No answer: see why";
  if (summary?.outcome === "already_favourable" || phase === "incomplete") return "To the plans";
  return `See ${counted(plans.length, "plan")}`;
}
