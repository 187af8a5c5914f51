// A second grade that follows too fast was not meant: the key bounced, or the hand trembled.

const MILLISECONDS = 120;
let keyAt = null;
let lastAt = -Infinity;

/** Press a button for a key: the time of the key counts, not the time at which the page came to it. */
export function press(element, event) {
  keyAt = event.timeStamp;
  element.click();
  keyAt = null;
}

/** Ignore a decision on a document that comes within 120 ms of the one before, by key, mouse or touch. */
export function ignoreBounces(form) {
  form.addEventListener(
    "click",
    (event) => {
      if (!event.target.closest("[name=grade], [name=cannot_judge], [name=later]")) return;
      const at = keyAt ?? event.timeStamp;
      if (at - lastAt >= MILLISECONDS) lastAt = at;
      else {
        event.preventDefault();
        event.stopImmediatePropagation();
      }
    },
    { capture: true },
  );
}
