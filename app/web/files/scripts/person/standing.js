// Rules that always hold, whatever is asked: whose they are, and what stands before their paths in an answer.

export function standing(model, registry) {
  const rules = (prefix, by, constraints) => ({ prefix, by, constraints: constraints ?? {} });
  return [
    rules("model:", "the model", model?.constraints),
    rules("key:", "the key", model?.key?.constraints),
    rules("registry:", "the registry", registry?.constraints),
  ];
}

// The policies of the model and of the key: they say what the caller may not choose.
function policies(model) {
  return [model.policy, ...(model.key?.policies ?? [])];
}

export function mayDoWithoutRegistry(model) {
  return policies(model).every(({ registries, without_registry: without }) => without ?? registries === null);
}

export function isTargetFixed(model) {
  return policies(model).some(({ target }) => target === "fixed");
}

// The owner of an item; undefined for one of the request's own.
export function ownerOf(path, owners) {
  return owners.find(({ prefix }) => path.startsWith(prefix));
}
