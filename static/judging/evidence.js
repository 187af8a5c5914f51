// Passages of the document that a judge keeps as the evidence of their judgement: selected, or sentence by sentence.

import { showPassages } from "./marks.js";
import { sentencesOf, wholeWords } from "./sentences.js";
import { passageAt, passageOf, placeOf } from "./text.js";
import { say } from "./words.js";

const LONGEST_PASSAGE = 2000;
const MOST_PASSAGES = 20;
const STEPS = new Map([
  ["ArrowDown", 1],
  ["ArrowRight", 1],
  ["ArrowUp", -1],
  ["ArrowLeft", -1],
]);

/** The passages in order, those that overlap made one. */
export function merged(passages, root) {
  const whole = [];
  for (const passage of [...passages].sort((one, other) => one.start - other.start)) {
    const last = whole.at(-1);
    const both = last && passage.start < last.end && passageAt(last.start, Math.max(last.end, passage.end), root);
    if (both) whole[whole.length - 1] = both;
    else whole.push(passage);
  }
  return whole;
}

export class Evidence {
  /** `body` is the element that holds the document's text, `list` shows the passages, `tell` says a sentence. */
  constructor(body, list, tell) {
    Object.assign(this, { body, list, tell });
    this.passages = [];
    // Whether the text on the screen is the one that offsets refer to.
    this.counts = true;
    this.onChange = () => {};
    this.sentences = null;
    // Before any other key of the screen: the arrows choose sentences now.
    addEventListener("keydown", (event) => this.onKey(event), { capture: true });
  }

  /** Show what was kept of the document that is on the screen now. */
  show(passages) {
    this.sentences = null;
    this.passages = [...passages];
    this.paint();
  }

  /** Keep what is selected; when nothing is, choose a sentence first. */
  keep() {
    if (!this.counts) return this.tell(say("evidence_elsewhere"));
    const selection = getSelection();
    const range = selection.rangeCount > 0 && !selection.isCollapsed ? selection.getRangeAt(0) : null;
    if (!range) return this.chooseSentences();
    if (!range.intersectsNode(this.body)) {
      const isTitle = range.intersectsNode(document.getElementById("document-title"));
      return isTitle ? this.tell(say("evidence_not_title")) : this.chooseSentences();
    }
    return this.keepRange(range, selection);
  }

  keepRange(range, selection) {
    const passage = passageOf(this.sentences ? range : wholeWords(range, this.body), this.body);
    if (!passage) return this.tell(say("select_first"));
    const passages = merged([...this.passages, passage], this.body);
    if (passages.some(({ start, end }) => end - start > LONGEST_PASSAGE)) {
      return this.tell(say("passage_too_long", { most: LONGEST_PASSAGE }));
    }
    if (passages.length > MOST_PASSAGES) return this.tell(say("too_many_passages", { most: MOST_PASSAGES }));
    this.passages = passages;
    selection.removeAllRanges();
    this.change();
    this.tell(say("passage_kept"));
    if (this.sentences && this.last + 1 < this.sentences.length) this.choose(this.last + 1, this.last + 1, { isQuiet: true });
    return undefined;
  }

  /** Begin with the first sentence in sight. */
  chooseSentences() {
    this.sentences = sentencesOf(this.body);
    const inSight = this.sentences.findIndex((range) => range.getBoundingClientRect().top >= 0);
    if (this.sentences.length === 0) return this.tell(say("select_first"));
    return this.choose(Math.max(inSight, 0), Math.max(inSight, 0));
  }

  /** Select the sentences from one to another. */
  choose(first, last, { isQuiet = false } = {}) {
    Object.assign(this, { first, last });
    const range = this.sentences[first].cloneRange();
    const end = this.sentences[last];
    range.setEnd(end.endContainer, end.endOffset);
    const selection = getSelection();
    selection.removeAllRanges();
    selection.addRange(range);
    const place = end.getBoundingClientRect();
    if (place.top < 60 || place.bottom > innerHeight * 0.7) scrollBy({ top: place.top - innerHeight * 0.35 });
    if (!isQuiet) document.getElementById("live").textContent = range.toString();
  }

  onKey(event) {
    if (!this.sentences || event.ctrlKey || event.metaKey || event.altKey || event.target.closest("input, textarea")) return;
    const step = STEPS.get(event.key);
    if (step) this.step(step, event.shiftKey);
    else if (event.key === "Enter") this.keep();
    else if (event.key === "Escape") this.leave();
    else return;
    event.preventDefault();
    event.stopImmediatePropagation();
  }

  step(step, isLonger) {
    if (getSelection().isCollapsed) return this.choose(this.first, this.last);
    const to = this.last + step;
    if (isLonger) return to >= this.first && to < this.sentences.length ? this.choose(this.first, to) : undefined;
    const next = step > 0 ? to : this.first - 1;
    return next >= 0 && next < this.sentences.length ? this.choose(next, next) : undefined;
  }

  leave() {
    this.sentences = null;
    getSelection().removeAllRanges();
  }

  /** Mark the passages in the text; again when more of a long document has come. */
  mark() {
    const passages = this.counts ? this.passages : [];
    showPassages(passages.map((passage) => placeOf(passage, this.body)).filter(Boolean));
  }

  change() {
    this.paint();
    this.onChange();
  }

  paint() {
    this.mark();
    this.list.hidden = this.passages.length === 0;
    this.list.replaceChildren(...this.passages.map((passage) => this.itemOf(passage)));
  }

  itemOf(passage) {
    const item = document.createElement("li");
    const words = document.createElement("q");
    words.textContent = passage.text;
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "×";
    button.setAttribute("aria-label", say("remove_passage", { text: passage.text.slice(0, 60) }));
    button.addEventListener("click", () => {
      this.passages = this.passages.filter((other) => other !== passage);
      this.change();
    });
    item.append(words, button);
    return item;
  }
}
