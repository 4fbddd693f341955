// What the plans share, in groups: pressing one lists its plans.

import { button, h } from "../../elements.js";
import { groupsOf, groupWords } from "../../plans/grouping.js";
import { counted } from "../../numbers.js";
import { hasEnded } from "../../state.js";
import { capital, spoken } from "../../words.js";

export function showGroups(place, store, listPlans) {
  const groups = h("ul", { class: "groups" });
  place.append(h("p", { class: "help" }, "Press a group to list its plans."), groups, h("h3", {}, "How often each value appears"));
  store.watch(
    (state) => [state.shown, state.model, state.view.tab],
    (shown, model, tab) => {
      // Groups of a search that goes on would change under the finger.
      place.hidden = shown.plans.length < 2 || !hasEnded(shown.phase);
      // Grouping thousands of plans takes a moment: do it only while the tab is open.
      if (place.hidden || tab !== "counts") return;
      const names = spoken(model);
      groups.replaceChildren(...groupsOf(shown.plans).map((group) => h("li", {}, opener(group, names, listPlans))));
    },
  );
}

function opener(group, names, listPlans) {
  const open = button("", () => listPlans({ wanted: group.wanted }), { class: "group" });
  open.append(h("span", { class: "what" }, capital(groupWords(group, names))), h("span", { class: "number" }, counted(group.count, "plan")));
  return open;
}
