// What the column of the answer shows: the plans, how often each value appears in them, or the picture.

import { button } from "../elements.js";

export function showTabs(place, store, actions, tabs) {
  const column = place.parentElement;
  const buttons = tabs.map(({ name, words }) =>
    button(words, () => actions.changeView({ tab: name }), { "data-tab": name }),
  );
  place.append(...buttons);

  function show() {
    const isThere = ({ section }) => !section.hidden;
    const { tab } = store.get().view;
    const chosen = tabs.find((one) => one.name === tab && isThere(one)) ?? tabs[0];
    column.dataset.tab = chosen.name;
    place.hidden = !tabs.slice(1).some(isThere);
    for (const [index, one] of buttons.entries()) {
      one.hidden = !isThere(tabs[index]);
      one.setAttribute("aria-pressed", String(tabs[index] === chosen));
    }
  }

  store.watch((state) => [state.view.tab], show);
  // Their own views hide sections that have nothing to show.
  const observer = new MutationObserver(show);
  for (const { section } of tabs) observer.observe(section, { attributes: true, attributeFilter: ["hidden"] });
}
