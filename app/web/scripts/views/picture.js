// The picture of an answer: every combination where that can be drawn, else the plans by size and score.

import { titles } from "../words.js";
import { hasse } from "./hasse.js";
import { sizesAndScores } from "./sizes.js";

export function showPicture(section, store, reveal) {
  const title = section.querySelector("h2");
  const place = section.appendChild(document.createElement("div"));
  store.watch(
    (state) => [state.subsets, state.answer],
    (subsets, answer) => {
      if (["asking", "streaming"].includes(answer.phase)) return;
      const { model } = store.get();
      section.hidden = !subsets && answer.plans.length < 2;
      if (section.hidden) return;
      title.textContent = subsets ? "All combinations" : "Plans by size and score";
      place.replaceChildren(
        ...(subsets
          ? hasse(subsets, model, titles(model), (features) => reveal(rankOf(answer.plans, features)))
          : sizesAndScores(answer.plans, answer.start, model)),
      );
    },
  );
}

function rankOf(plans, features) {
  return plans.find(
    ({ changes }) => changes.length === features.length && changes.every(({ feature }) => features.includes(feature)),
  )?.rank;
}
