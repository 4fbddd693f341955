// What an answer was made with.

export function showVersions(place, store) {
  store.watch(
    (state) => [state.start, state.model],
    (start, model) => {
      place.textContent = model ? versions(start ?? { model, normal_ranges: undefined }) : "";
    },
  );
}

function versions({ model, normal_ranges: ranges }) {
  const said = `Model ${identity(model)}`;
  if (ranges === undefined) return `${said}.`;
  return `${said}, ${ranges ? `normal ranges ${identity(ranges)}` : "no normal ranges"}.`;
}

function identity({ name, version, sha256 }) {
  return `${name} ${version}${sha256 ? ` (sha256 ${sha256.slice(0, 12)})` : ""}`;
}
