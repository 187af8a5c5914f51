// Finds words in the whole of a document, also in parts that are not loaded; and goes to its end.

import { occurrences, patternOf, point, showFound } from "./marks.js";
import { say } from "./words.js";

const element = (id) => document.getElementById(id);

export class Finding {
  /** `counts(assignment, rendering, words)` promises how often the words occur in each part. */
  constructor(parts, counts) {
    Object.assign(this, { parts, counts, words: "", at: -1, ranges: [], perPart: null });
    this.form = element("finding");
    this.field = element("find");
    this.state = element("find-state");
    element("find-open").addEventListener("click", () => this.open());
    element("find-close").addEventListener("click", () => this.close());
    element("find-previous").addEventListener("click", () => this.go(-1));
    this.form.addEventListener("submit", (event) => {
      event.preventDefault();
      this.go(1);
    });
    this.form.addEventListener("keydown", (event) => this.onKey(event));
    document.addEventListener("keydown", (event) => this.onEnd(event));
  }

  open() {
    this.form.hidden = false;
    this.field.focus();
    this.field.select();
  }

  close() {
    this.form.hidden = true;
    this.forget();
    element("document").focus({ preventScroll: true });
  }

  /** Another document, or another view of it. */
  forget() {
    Object.assign(this, { words: "", at: -1, ranges: [], perPart: null });
    this.state.textContent = "";
    showFound([]);
  }

  onKey(event) {
    if (event.isComposing || !["Escape", "Enter"].includes(event.key)) return;
    if (event.key === "Enter" && !(event.shiftKey && event.target === this.field)) return;
    event.preventDefault();
    event.stopPropagation();
    if (event.key === "Escape") this.close();
    else this.go(-1);
  }

  /** Go to the next (1) or previous (-1) place; at the end from the beginning. */
  async go(direction) {
    const words = this.field.value.trim().replace(/\s+/g, " ");
    if (!words) return;
    if (words !== this.words) await this.begin(words);
    const { total } = this;
    if (total > 0) await this.show((this.at + direction + total) % total);
    else this.state.textContent = say("not_found");
  }

  async begin(words) {
    const { wanted } = this.parts;
    Object.assign(this, { words, at: -1, perPart: null });
    this.look();
    if (!this.parts.areLeft) return;
    const { document: one, rendering } = this.parts;
    const perPart = await this.counts(one.assignment, rendering, words);
    if (wanted === this.parts.wanted && this.words === words) this.perPart = perPart;
  }

  look() {
    this.ranges = occurrences(patternOf([{ text: this.words, kind: "substring" }]), [this.parts.body]).map(({ range }) => range);
    showFound(this.ranges);
  }

  /** The places in what is loaded, and those that the server counted in the rest. */
  get total() {
    const rest = this.perPart?.slice(this.parts.shown) ?? [];
    return this.ranges.length + rest.reduce((sum, count) => sum + count, 0);
  }

  async show(place) {
    const { wanted } = this.parts;
    while (place >= this.ranges.length && this.parts.areLeft) {
      if (!(await this.parts.upTo(this.partOf(place))) || wanted !== this.parts.wanted) return;
      this.look();
    }
    const at = Math.min(place, this.ranges.length - 1);
    if (at < 0) return;
    this.at = at;
    point(this.ranges[at]);
    this.state.textContent = say("found_of", { at: at + 1, of: this.total });
  }

  /** The number of the part in which a place is that is not loaded. */
  partOf(place) {
    let passed = this.ranges.length;
    for (let part = this.parts.shown; part < this.parts.total; part += 1) {
      passed += this.perPart?.[part] ?? 0;
      if (place < passed) return part + 1;
    }
    return this.parts.total;
  }

  /** End goes to the end of the document, not of what is loaded. */
  async onEnd(event) {
    if (event.key !== "End" || event.shiftKey || event.altKey || event.target.closest("input, textarea, select") || !this.parts.areLeft) return;
    event.preventDefault();
    if (await this.parts.upTo(this.parts.total)) element("body").lastElementChild.scrollIntoView({ block: "end" });
  }
}
