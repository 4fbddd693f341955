// For those who listen: how the answer stands, once it has come to rest, and not every step on the way.

import { announcement, goalOf } from "../words.js";

const REST_MS = 400;

export function showAnnouncements(place, store) {
  let timer = 0;
  store.watch(
    (state) => [state.answer],
    (answer) => {
      clearTimeout(timer);
      timer = setTimeout(() => {
        const { start, model } = store.get();
        place.textContent = announcement(answer, start, start && goalOf(start.target, model));
      }, REST_MS);
    },
  );
}
