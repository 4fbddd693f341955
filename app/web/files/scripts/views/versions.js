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
  const said = `Model ${model.name} ${model.version} (sha256 ${model.sha256.slice(0, 12)})`;
  if (ranges === undefined) return `${said}.`;
  return `${said}, ${ranges ? `normal ranges ${ranges.name} ${ranges.version}` : "no normal ranges"}.`;
}
