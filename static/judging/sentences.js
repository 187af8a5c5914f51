// Words and sentences of a document, in any language: where they begin and end, as ranges of its text.

import { textNodes } from "./text.js";

const BLOCKS = "p, li, dt, dd, td, th, caption, figcaption, h3, h4, h5, h6, pre, blockquote, div";
// Around the end of a selection, which is moved to the end of a word.
const NEARBY = 100;

const segmenter = (granularity, root) => new Intl.Segmenter(root.lang || undefined, { granularity });

/** The sentences of a document, in the order of reading; a line that is only wrapped ends none. */
export function sentencesOf(root) {
  const sentences = segmenter("sentence", root);
  return blocksOf(root).flatMap((nodes) => {
    const text = nodes.map((node) => node.data).join("");
    const unwrapped = text.replace(/(?<!\n[^\S\n]*)\n(?![^\S\n]*\n)/g, " ");
    const found = [];
    for (const { segment, index } of sentences.segment(unwrapped)) {
      const words = segment.trim();
      if (words === "") continue;
      const start = index + segment.indexOf(words);
      found.push(rangeIn(nodes, start, start + words.length));
    }
    return found;
  });
}

/** A range from the beginning of its first word to the end of its last. */
export function wholeWords(range, root) {
  const words = segmenter("word", root);
  const whole = range.cloneRange();
  const [first, last] = [range.startContainer, range.endContainer];
  if (first.nodeType === Node.TEXT_NODE) {
    const from = Math.max(range.startOffset - NEARBY, 0);
    const word = words.segment(first.data.slice(from, range.startOffset + NEARBY)).containing(range.startOffset - from);
    if (word?.isWordLike) whole.setStart(first, from + word.index);
  }
  if (last.nodeType === Node.TEXT_NODE && range.endOffset > 0) {
    const from = Math.max(range.endOffset - NEARBY, 0);
    const word = words.segment(last.data.slice(from, range.endOffset + NEARBY)).containing(range.endOffset - 1 - from);
    if (word?.isWordLike) whole.setEnd(last, from + word.index + word.segment.length);
  }
  return withoutBlanks(whole);
}

function withoutBlanks(range) {
  const text = range.toString();
  const [before, after] = [text.length - text.trimStart().length, text.length - text.trimEnd().length];
  if (range.startContainer.nodeType === Node.TEXT_NODE && range.startOffset + before < range.startContainer.length) {
    range.setStart(range.startContainer, range.startOffset + before);
  }
  if (range.endContainer.nodeType === Node.TEXT_NODE && range.endOffset - after > 0) {
    range.setEnd(range.endContainer, range.endOffset - after);
  }
  return range;
}

/** The texts of each block, which no sentence leaves. */
function blocksOf(root) {
  const blocks = [];
  let block = null;
  for (const node of textNodes(root)) {
    const own = node.parentElement.closest(BLOCKS);
    if (own === block) blocks.at(-1).push(node);
    else blocks.push([node]);
    block = own;
  }
  return blocks;
}

function rangeIn(nodes, start, end) {
  const range = document.createRange();
  let passed = 0;
  for (const node of nodes) {
    if (passed <= start && start < passed + node.length) range.setStart(node, start - passed);
    if (passed < end && end <= passed + node.length) range.setEnd(node, end - passed);
    passed += node.length;
  }
  return range;
}
