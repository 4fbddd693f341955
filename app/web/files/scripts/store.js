// What the page knows, in one place. Views are told when a part that they show has changed.

export function createStore(initial) {
  let state = initial;
  const readers = [];

  return {
    get: () => state,
    set(changes) {
      state = { ...state, ...changes };
      for (const read of readers) guarded(read, state);
    },
    // Calls `show` now, and again whenever one of the things that `pick` lists is another.
    watch(pick, show) {
      let last = null;
      const read = (current) => {
        const picked = pick(current);
        if (last !== null && picked.every((value, index) => value === last[index])) return;
        last = picked;
        show(...picked);
      };
      readers.push(read);
      guarded(read, state);
    },
  };
}

// A view that fails is a mistake of ours, and no reason for the others to show something old.
function guarded(read, state) {
  try {
    read(state);
  } catch (error) {
    reportError(error);
  }
}
