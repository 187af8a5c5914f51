// Puts a document on the page: its beginning at once, the rest of a long one after the frame that shows the beginning.

import { afterNextFrame } from "./frames.js";

const CHARACTERS_AT_ONCE = 8000;
// A little more than that is not worth a second step.
const CHARACTERS_WORTH_CUTTING = 12_000;
// No word is cut in two, but for a text without blanks.
const LONGEST_WORD = 200;

/** Show `html` in `body`; a promise of the nodes that came later, or of null when another document came meanwhile. */
export function fill(body, html, isStillWanted) {
  const template = document.createElement("template");
  template.innerHTML = html;
  const frame = template.content.firstElementChild;
  const rest = frame && frame.textContent.length > CHARACTERS_WORTH_CUTTING ? takenAfter(frame) : [];
  body.replaceChildren(template.content);
  if (rest.length === 0) return Promise.resolve([]);
  return afterNextFrame().then(() => {
    if (!isStillWanted()) return null;
    frame.append(...rest);
    return rest;
  });
}

/** Take out of an element what comes after its first characters. */
function takenAfter(frame) {
  let shown = 0;
  for (const node of [...frame.childNodes]) {
    const length = node.textContent.length;
    if (shown + length > CHARACTERS_AT_ONCE && node.nodeType === Node.TEXT_NODE) cut(node, CHARACTERS_AT_ONCE - shown);
    shown += node.textContent.length;
    if (shown >= CHARACTERS_AT_ONCE) return taken(node.nextSibling);
  }
  return [];
}

/** Cut a text at the first blank after so many characters. */
function cut(text, from) {
  const blank = text.data.slice(from, from + LONGEST_WORD).search(/\s/);
  let at = from + Math.max(blank, 0);
  // Never between the two halves of a character.
  if (/[\udc00-\udfff]/.test(text.data.charAt(at))) at += 1;
  if (at > 0 && at < text.data.length) text.splitText(at);
}

function taken(first) {
  const nodes = [];
  for (let node = first; node; node = node.nextSibling) nodes.push(node);
  for (const node of nodes) node.remove();
  return nodes;
}
