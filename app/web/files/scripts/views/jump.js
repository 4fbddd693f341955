// On a narrow screen the plans are far below the decision: a button there tells how they stand, and leads to them.

import { h } from "../elements.js";
import { counted } from "../numbers.js";

export function showJump(section, store, plans) {
  const button = h("button", { type: "button", class: "jump", onclick: () => lead(plans) });
  section.append(button);
  store.watch(
    (state) => [state.answer],
    (answer) => {
      button.hidden = answer.phase === "empty";
      button.textContent = `${standing(answer)} ↓`;
    },
  );
}

function lead(place) {
  place.scrollIntoView();
  place.focus({ preventScroll: true });
}

function standing({ phase, plans, summary }) {
  if (summary?.outcome === "no_recourse") return "No plan: see why";
  if (summary?.outcome === "already_favourable" || ["incomplete", "refused"].includes(phase)) return "To the plans";
  return `See ${counted(plans.length, "plan")}`;
}
