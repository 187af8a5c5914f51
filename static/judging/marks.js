// Words marked in the document by the CSS Custom Highlight API, which leaves the document itself as it is.

import { textNodes } from "./text.js";

// The second half has the colours of the first, underlined.
export const COLOURS = 16;
const LETTER = String.raw`[\p{L}\p{M}\p{N}_]`;
const NOT_SPACED = /[\p{sc=Han}\p{sc=Hiragana}\p{sc=Katakana}\p{sc=Hangul}\p{sc=Thai}\p{sc=Lao}\p{sc=Khmer}]/u;
const SHORTEST_BEGINNING = 4;
const canMark = "highlights" in CSS;

/** How a word that a judge types is looked for: CJK anywhere, a longer word with any ending, a short one alone. */
export function typed(text) {
  const kind = NOT_SPACED.test(text) ? "substring" : text.length < SHORTEST_BEGINNING ? "whole" : "prefix";
  return { text, kind };
}

/** One pattern for all words, a group for each, the longest first; null when there are none. */
export function patternOf(words) {
  if (words.length === 0) return null;
  const groups = words.map((word, index) => ({ length: word.text.length, source: `(?<w${index}>${sourceOf(word)})` }));
  groups.sort((one, other) => other.length - one.length);
  return new RegExp(groups.map(({ source }) => source).join("|"), "giu");
}

function sourceOf({ text, kind }) {
  const literal = text
    .trim()
    .split(/\s+/)
    .map((piece) => piece.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&"))
    .join(String.raw`\s+`);
  if (kind === "substring") return literal;
  // Signs at the ends, as in C++, have no word boundary beside them.
  const before = /^[\p{L}\p{N}]/u.test(text) ? `(?<!${LETTER})` : "";
  // “as” is no plural of “a”.
  const plural = text.length > 1 ? "(?:['’]?e?s)?" : "(?:['’]s)?";
  const end = kind === "prefix" ? `${LETTER}*` : `${plural}(?!${LETTER})`;
  return before + literal + (/[\p{L}\p{N}]$/u.test(text) ? end : "");
}

/** The places of the words in some elements: [{ word, range }] in the order of reading. */
export function occurrences(pattern, roots) {
  const found = [];
  if (!pattern) return found;
  for (const node of roots.flatMap(textNodes)) {
    for (const match of node.data.matchAll(pattern)) {
      if (!match[0]) continue;
      const range = document.createRange();
      range.setStart(node, match.index);
      range.setEnd(node, match.index + match[0].length);
      const [name] = Object.entries(match.groups).find(([, group]) => group !== undefined);
      found.push({ word: Number(name.slice(1)), range });
    }
  }
  return found;
}

export class Marks {
  constructor(words) {
    this.clear();
    this.choose(words);
  }

  /** Other words from now on; `show` marks them. */
  choose(words) {
    this.words = words;
    this.pattern = patternOf(words);
  }

  clear() {
    this.found = [];
    this.at = -1;
    if (canMark) for (const name of names()) CSS.highlights.delete(name);
  }

  /** Mark the words in these elements and nowhere else. */
  show(roots) {
    this.clear();
    this.extend(roots);
  }

  /** Mark the words in these elements, too. */
  extend(roots) {
    const more = occurrences(this.pattern, roots);
    this.found.push(...more);
    if (!canMark) return;
    for (const { word, range } of more) highlight(`mark-${word % COLOURS}`).add(range);
  }

  counts() {
    const counts = this.words.map(() => 0);
    for (const { word } of this.found) counts[word] += 1;
    return counts;
  }

  /** Go to the next (1) or previous (-1) place and show it; false when there is none in that direction. */
  step(direction) {
    const next = this.at < 0 && direction < 0 ? this.found.length - 1 : this.at + direction;
    if (next < 0 || next >= this.found.length) return false;
    this.at = next;
    point(this.found[next].range);
    return true;
  }
}

/** Show one place in the document, as the one that the judge is at. */
export function point(range) {
  if (canMark) CSS.highlights.set("mark-now", priority(new Highlight(range), 4));
  scrollBy({ top: range.getBoundingClientRect().top - innerHeight * 0.4 });
}

/** Mark the places that were searched for; none ends it. */
export function showFound(ranges) {
  if (!canMark) return;
  CSS.highlights.set("found", priority(new Highlight(...ranges), 3));
  if (ranges.length === 0) CSS.highlights.delete("mark-now");
}

function names() {
  return ["mark-now", ...Array.from({ length: COLOURS }, (_, colour) => `mark-${colour}`)];
}

function highlight(name) {
  if (!CSS.highlights.has(name)) CSS.highlights.set(name, new Highlight());
  return CSS.highlights.get(name);
}

function priority(one, value) {
  one.priority = value;
  return one;
}

/** Mark the passages that are kept as evidence. */
export function showPassages(ranges) {
  if (canMark) CSS.highlights.set("evidence", priority(new Highlight(...ranges), 1));
}

/** Mark the passages that the judges of the document kept. */
export function showJudgesPassages(ranges) {
  if (canMark) CSS.highlights.set("judges-evidence", priority(new Highlight(...ranges), 0));
}
