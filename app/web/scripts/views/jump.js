// On a narrow screen the plans are far below the values: a button at the edge tells how they stand, and leads there and back.

import { counted } from "../numbers.js";

export function showJump(button, store, plans, values) {
  let below = true;
  new IntersectionObserver(([entry]) => {
    below = !entry.isIntersecting && entry.boundingClientRect.top > 0;
    show();
  }).observe(plans);
  button.addEventListener("click", () => {
    const place = below ? plans : values;
    place.scrollIntoView();
    place.focus({ preventScroll: true });
  });

  function show() {
    const { answer } = store.get();
    button.hidden = answer.phase === "empty";
    button.textContent = below ? `${standing(answer)} ↓` : "Values ↑";
  }

  store.watch((state) => [state.answer], show);
}

function standing({ phase, plans, summary }) {
  if (summary?.outcome === "no_recourse") return "No plan";
  if (summary?.outcome === "already_favourable") return "Favourable as it is";
  return ["incomplete", "refused"].includes(phase) ? "Plans" : counted(plans.length, "plan");
}
