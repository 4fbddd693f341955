// The state of the page in the fragment of its address, so that a reload or a bookmark finds it again. The values of a
// person, their context, and what else a request says of them stand there only in a link that was made to be shared.

const OF_THE_PERSON = ["guide", "normal_ranges", "weights"];

export function readFragment() {
  const parts = new URLSearchParams(location.hash.slice(1));
  const [question, person] = ["question", "person"].map((name) => parsed(parts.get(name)));
  return {
    model: parts.get("model"),
    example: parts.get("example"),
    question: question ?? {},
    person: person ?? null,
    sort: parts.get("sort"),
    // What stands there and cannot be read.
    unreadable: Object.entries({ question, person }).flatMap(([name, value]) => (value === undefined ? [name] : [])),
  };
}

export function writeFragment(state) {
  const question = Object.fromEntries(
    Object.entries(state.question).filter(([field]) => !OF_THE_PERSON.includes(field)),
  );
  const text = `#${fragmentOf({ ...state, question })}`;
  if (text !== location.hash) history.replaceState(null, "", text);
}

export function linkWithPerson(state) {
  const link = new URL(location.href);
  const { instance, context } = state;
  link.hash = fragmentOf({ ...state, example: null }, { instance, context });
  return link.href;
}

function fragmentOf({ model, example, question, view }, person = null) {
  const parts = new URLSearchParams();
  parts.set("model", model.name);
  if (example) parts.set("example", example);
  const isSaid = ([, value]) => value === null || typeof value !== "object" || Object.keys(value).length;
  const asked = Object.fromEntries(Object.entries(question).filter(isSaid));
  if (Object.keys(asked).length) parts.set("question", JSON.stringify(asked));
  if (view.sort !== "size") parts.set("sort", view.sort);
  if (person) parts.set("person", JSON.stringify(person));
  return parts.toString();
}

// An object; null if there is none, undefined if it is something else.
function parsed(text) {
  try {
    const value = JSON.parse(text);
    return typeof value === "object" && !Array.isArray(value) ? value : undefined;
  } catch {
    return undefined;
  }
}
