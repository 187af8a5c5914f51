// Passages of the document that a judge keeps as the evidence of their judgement.

import { showPassages } from "./marks.js";
import { passageOf, rangeOf } from "./text.js";
import { say } from "./words.js";

const LONGEST_PASSAGE = 2000;
const MOST_PASSAGES = 20;

export class Evidence {
  /** `body` is the element that holds the document's text, `list` shows the passages, `tell` says a sentence. */
  constructor(body, list, tell) {
    Object.assign(this, { body, list, tell });
    this.passages = [];
    this.onChange = () => {};
  }

  /** Show what was kept of the document that is on the screen now. */
  show(passages) {
    this.passages = [...passages];
    this.paint();
  }

  /** Keep what is selected. */
  keep() {
    const selection = getSelection();
    const passage = selection.rangeCount > 0 ? passageOf(selection.getRangeAt(0), this.body) : null;
    if (!passage) return this.tell(say("select_first"));
    if (passage.end - passage.start > LONGEST_PASSAGE) return this.tell(say("passage_too_long", { most: LONGEST_PASSAGE }));
    if (this.passages.length >= MOST_PASSAGES) return this.tell(say("too_many_passages", { most: MOST_PASSAGES }));
    const isKnown = this.passages.some(({ start, end }) => start === passage.start && end === passage.end);
    if (!isKnown) this.passages.push(passage);
    this.passages.sort((one, other) => one.start - other.start);
    selection.removeAllRanges();
    this.change();
    return this.tell(say("passage_kept"));
  }

  /** Mark the passages in the text; again when more of a long document has come. */
  mark() {
    showPassages(this.passages.map((passage) => rangeOf(passage, this.body)).filter(Boolean));
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
