// Places in the text of an element, counted in characters as the server counts them.

export function textNodes(root) {
  if (root.nodeType === Node.TEXT_NODE) return [root];
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  const nodes = [];
  while (walker.nextNode()) nodes.push(walker.currentNode);
  return nodes;
}

/** Characters, not the halves of which JavaScript makes some of them. */
export function lengthOf(text) {
  let length = text.length;
  for (const _ of text.matchAll(/[\ud800-\udbff][\udc00-\udfff]/g)) length -= 1;
  return length;
}

/** The part of a range that lies in `root`, as { start, end, text }; null when nothing of it does. */
export function passageOf(range, root) {
  if (!range.intersectsNode(root)) return null;
  const inside = document.createRange();
  inside.selectNodeContents(root);
  const before = inside.cloneRange();
  if (inside.compareBoundaryPoints(Range.START_TO_START, range) < 0) inside.setStart(range.startContainer, range.startOffset);
  if (inside.compareBoundaryPoints(Range.END_TO_END, range) > 0) inside.setEnd(range.endContainer, range.endOffset);
  const text = inside.toString();
  if (!text.trim()) return null;
  before.setEnd(inside.startContainer, inside.startOffset);
  const start = lengthOf(before.toString());
  return { start, end: start + lengthOf(text), text };
}

/** The range of a passage in `root`; null where its end is not loaded yet. */
export function rangeOf({ start, end }, root) {
  const range = document.createRange();
  let passed = 0;
  for (const node of textNodes(root)) {
    const length = lengthOf(node.data);
    if (passed <= start && start < passed + length) range.setStart(node, unitsUpTo(node.data, start - passed));
    if (passed < end && end <= passed + length) {
      range.setEnd(node, unitsUpTo(node.data, end - passed));
      return range;
    }
    passed += length;
  }
  return null;
}

/** The text of a passage that is given by its first character and the one after its last; null beyond the text. */
export function passageAt(start, end, root) {
  const range = rangeOf({ start, end }, root);
  return range && { start, end, text: range.toString() };
}

/** The range of a kept passage; where the text has moved since, the nearest place with the same words. */
export function placeOf(passage, root) {
  const range = rangeOf(passage, root);
  if (range?.toString() === passage.text) return range;
  const text = root.textContent;
  let best = null;
  for (let at = text.indexOf(passage.text); at >= 0; at = text.indexOf(passage.text, at + 1)) {
    const start = lengthOf(text.slice(0, at));
    if (best === null || Math.abs(start - passage.start) < Math.abs(best - passage.start)) best = start;
  }
  return best === null ? null : rangeOf({ start: best, end: best + lengthOf(passage.text) }, root);
}

function unitsUpTo(text, characters) {
  if (lengthOf(text) === text.length) return characters;
  return [...text].slice(0, characters).join("").length;
}
