// The tools below a document that unfold: cannot judge, note, the note on the topic; and what is kept as evidence.

import { onClicks } from "./page.js";

const form = document.getElementById("grading");
const topic = document.getElementById("topic");

/** The button that keeps a passage. */
export function listenToEvidence(page) {
  onClicks("keep", () => page.evidence.keep());
  // A press on the button would take the selection away before it is kept.
  document.getElementById("keep").addEventListener("pointerdown", (event) => event.preventDefault());
}

// At once and not with the toggle event, which comes later: the next key may be the first letter of a note.
export function listenToPanels() {
  for (const summary of document.querySelectorAll(".tools summary, .topic-note summary")) {
    summary.addEventListener("click", (event) => {
      event.preventDefault();
      topic.open ||= topic.contains(summary);
      const panel = summary.parentElement;
      const isInside = panel.open && panel.contains(document.activeElement);
      panel.open = !isInside && !(panel.open && panel.classList.contains("panel"));
      if (panel.open) panel.querySelector("textarea, button").focus();
    });
  }
}

/** Escape leaves a field or a panel; what was typed stays. */
export function leave(where) {
  const panel = where.closest(".tools details, .topic-note") ?? form.querySelector(".panel[open]");
  if (panel && !panel.querySelector("textarea")?.value) panel.open = false;
  if (!panel && !where.matches("input, textarea")) return;
  // At the end of a topic there is no document to go to.
  where.blur();
  document.getElementById("document").focus({ preventScroll: true });
}
