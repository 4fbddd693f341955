// How often each feature appears in the plans; pressing one shows only those with it, again those without it.

import { h } from "../../elements.js";
import { filterWords, isFiltered, passesIn } from "../../plans/filtering.js";
import { counted } from "../../numbers.js";
import { own, without } from "../../own.js";
import { hasEnded } from "../../state.js";
import { spoken, titles } from "../../words.js";

const NEXT = { any: "with", with: "without", without: "any" };
const WORDS = { any: "", with: "only with", without: "only without" };

export function showFrequency(place, store, actions) {
  const counts = createCounts();
  const list = h("ul", { class: "counts" });
  const said = h("p", { role: "status" });
  place.append(
    h("p", { class: "help" }, "Press a value to list only the plans with it. Press it again for those without it."),
    list,
    said,
  );
  let buttons = new Map();

  store.watch(
    (state) => [state.shown, state.model, state.view],
    (shown, model, view) => {
      const { wanted } = view;
      place.hidden = shown.plans.length < 2 && !Object.keys(wanted).length;
      const numbers = counts(shown.plans);
      // A filter that no plan passes any more would only hide them all.
      const left = Object.entries(wanted).filter(([name, how]) => how === "without" || numbers.has(name));
      if (hasEnded(shown.phase) && left.length < Object.keys(wanted).length) {
        actions.changeView({ wanted: Object.fromEntries(left) });
        return;
      }
      if (place.hidden) return;
      said.textContent = isFiltered(view) ? filterWords(shown.plans.filter(passesIn(view, model)), shown.plans, view, spoken(model)) : "";
      const titled = titles(model);
      const found = new Map([...Object.keys(wanted).map((name) => [name, 0]), ...numbers]);
      const positions = new Map(model.features.map(({ name }, index) => [name, index]));
      const all = [...found].sort(([one, a], [other, b]) => b - a || positions.get(one) - positions.get(other));
      if (all.length !== buttons.size || all.some(([name]) => !buttons.has(name))) {
        buttons = new Map(all.map(([name]) => [name, countButton(name, titled(name), cycle)]));
      }
      const focus = document.activeElement;
      const order = all.map(([name]) => buttons.get(name).element);
      if (order.some((element, index) => list.children[index] !== element) || list.children.length !== order.length)
        list.replaceChildren(...order);
      if (order.some((element) => element.contains(focus))) focus.focus();
      for (const [name, count] of all) buttons.get(name).show(count, shown.plans.length, own(wanted, name) ?? "any");
    },
  );

  function cycle(name) {
    const { wanted } = store.get().view;
    const others = without(wanted, name);
    const next = NEXT[own(wanted, name) ?? "any"];
    actions.changeView({ wanted: next === "any" ? others : { ...others, [name]: next } });
  }
}

function countButton(name, title, onPress) {
  const filled = h("span", { class: "filled" });
  const how = h("span", { class: "how" });
  const number = h("span", { class: "number" });
  const what = h("span", { class: "what" }, title);
  const button = h("button", { type: "button", onclick: () => onPress(name) }, filled, what, how, number);
  return {
    element: h("li", {}, button),
    show(count, total, wanted) {
      filled.style.width = `${(100 * count) / (total || 1)}%`;
      number.textContent = `${count.toLocaleString("en")}`;
      how.textContent = WORDS[wanted];
      button.dataset.wanted = wanted;
      const shown = wanted === "any" ? "" : `; showing ${WORDS[wanted]} it`;
      button.setAttribute("aria-label", `${title}: in ${count} of ${counted(total, "plan")}${shown}`);
    },
  };
}

// Counted on as plans come in, not from the start each time.
function createCounts() {
  let owner = null;
  let done = 0;
  let counts = new Map();
  return (plans) => {
    if (plans !== owner) [owner, done, counts] = [plans, 0, new Map()];
    for (; done < plans.length; done += 1) {
      for (const { feature } of plans[done].changes) counts.set(feature, (counts.get(feature) ?? 0) + 1);
    }
    return counts;
  };
}
