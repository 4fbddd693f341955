// What concerns the page as a whole.

import { byId } from "../elements.js";

export function notice(text) {
  const place = byId("notice");
  place.textContent = text;
  place.hidden = !text;
}
