// Panels that a key opens beside the document: the judge's pace, and their own judgements of similar documents.

import { keepPace } from "./pace.js";
import { compareBeside } from "./similar.js";

/** Begin all of it; `current()` is the document on the screen. */
export function beginBeside({ link, current }) {
  const parts = [keepPace(link), compareBeside(link, current)];
  // Each document that is shown puts its title there, even when the title is the same.
  const title = document.getElementById("document-title");
  new MutationObserver(() => parts.forEach((part) => part.onDocument())).observe(title, { childList: true });
}
