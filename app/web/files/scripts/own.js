// The value that an object itself holds by a name: a feature may be called `constructor`.

export function own(values, name) {
  return values && Object.hasOwn(values, name) ? values[name] : undefined;
}

export function without(values, name) {
  return Object.fromEntries(Object.entries(values).filter(([one]) => one !== name));
}
