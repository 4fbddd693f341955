// The state of the page in the fragment of its address, so that a reload or a bookmark finds it again. The values of a
// person and their context stand there only in a link that was made to be shared.

export function readFragment() {
  const parts = new URLSearchParams(location.hash.slice(1));
  return {
    model: parts.get("model"),
    example: parts.get("example"),
    question: parsed(parts.get("question")) ?? {},
    person: parsed(parts.get("person")),
    sort: parts.get("sort"),
  };
}

export function writeFragment(state) {
  const text = `#${fragmentOf(state)}`;
  if (text !== location.hash) history.replaceState(null, "", text);
}

export function linkWithPerson(state) {
  const link = new URL(location.href);
  link.hash = `${fragmentOf({ ...state, example: null }, { instance: state.instance, context: state.context })}`;
  return link.href;
}

function fragmentOf({ model, example, question, view }, person = null) {
  const parts = new URLSearchParams();
  if (model) parts.set("model", model.name);
  if (example) parts.set("example", example);
  const asked = Object.fromEntries(
    Object.entries(question).filter(
      ([, value]) => value === null || typeof value !== "object" || Object.keys(value).length,
    ),
  );
  if (Object.keys(asked).length) parts.set("question", JSON.stringify(asked));
  if (view.sort !== "rank") parts.set("sort", view.sort);
  if (person) parts.set("person", JSON.stringify(person));
  return parts.toString();
}

function parsed(text) {
  try {
    const value = JSON.parse(text);
    return typeof value === "object" ? value : null;
  } catch {
    return null;
  }
}
