// The picture of an answer: every combination where that can be drawn, else the plans by size and score.

import { isDrawn } from "../../asking/asking.js";
import { button, h } from "../../elements.js";
import { hasEnded, isRunning } from "../../state.js";
import { titles } from "../../words.js";
import { hasse } from "./hasse.js";
import { sizesAndScores } from "./sizes.js";

export function showPicture(section, store, actions, { reveal, list }) {
  const title = section.querySelector("h2");
  const place = section.appendChild(h("div"));

  function draw({ answer, subsets, model }) {
    const choose = (features) => reveal(rankOf(answer.plans, features));
    if (!isDrawn(answer.start)) {
      title.textContent = "Plans by size and score";
      return answer.plans.length > 1 ? sizesAndScores(answer.plans, answer.start, model, list) : [];
    }
    title.textContent = "All combinations";
    if (subsets?.request !== answer.request) return null;
    if (subsets.problem)
      return [h("p", {}, `There is no picture: ${subsets.problem.message}`), button("Try again", actions.askAgain)];
    return hasse(subsets, model, titles(model), choose);
  }

  store.watch(
    (state) => [state.subsets, state.answer],
    (subsets, answer) => {
      // The one before stays, faded, for as long as another may be on its way.
      const waits = isRunning(answer.phase) || (answer.phase === "done" && isDrawn(answer.start));
      const drawn = hasEnded(answer.phase) && answer.start ? draw(store.get()) : null;
      section.classList.toggle("fading", drawn === null);
      if (drawn) place.replaceChildren(...drawn);
      else if (!waits) place.replaceChildren();
      section.hidden = !place.children.length;
    },
  );
}

function rankOf(plans, features) {
  const isSame = ({ changes }) =>
    changes.length === features.length && changes.every(({ feature }) => features.includes(feature));
  return plans.find(isSame)?.rank;
}
