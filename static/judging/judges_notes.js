// The judges' notes and evidence beside the document, which adjudicators and reviewers see; no judge is sent any.

import { showTimes } from "../site/times.js";
import { made } from "./beside_words.js";
import { point, showJudgesPassages } from "./marks.js";
import { isStacked } from "./reading.js";
import { decisionWords } from "./screen.js";
import { placeOf } from "./text.js";

const UNFOLDED = "annotator:judges-notes"; // of this browser: "yes" or "no"
const element = (id) => document.getElementById(id);

export class JudgesNotes {
  /** `body` holds the text; the page may have no place for notes. */
  constructor(body) {
    Object.assign(this, { body, notes: [], counts: true, parts: null });
    this.panel = element("judges-notes");
    if (!this.panel) return;
    // On a small screen the document comes first, but for who reviews what the judges made of it.
    const isFirst = "first" in this.panel.dataset || !isStacked();
    this.panel.open = (localStorage.getItem(UNFOLDED) ?? (isFirst ? "yes" : "no")) === "yes";
    // Before it opens or closes.
    this.panel.firstElementChild.addEventListener("click", () => localStorage.setItem(UNFOLDED, this.panel.open ? "no" : "yes"));
  }

  /** Show what the judges of the document on the screen wrote. */
  show(notes) {
    if (!this.panel) return;
    this.notes = notes;
    this.panel.hidden = notes.length === 0;
    element("judges-notes-count").textContent = notes.length;
    element("judges-notes-list").replaceChildren(...notes.map((one) => this.itemOf(one)));
    this.mark();
  }

  /** Underline their passages in what is loaded of the text. */
  mark() {
    if (!this.panel) return;
    const passages = this.counts ? this.notes.flatMap(({ evidence }) => evidence) : [];
    showJudgesPassages(passages.map((passage) => placeOf(passage, this.body)).filter(Boolean));
  }

  itemOf({ who, state, at, note, evidence, ...decision }) {
    const item = made("li");
    if (who) item.append(made("p", { class: "who" }, made("strong", { text: who }), ...[...state, ""].map((text) => made("span", { text, class: "hint" }))));
    if (at) item.querySelector(".who").lastChild.append(made("time", { datetime: at, text: at }));
    if ("grade" in decision) item.append(made("p", { class: "decided", text: decisionWords(decision) }));
    if (note) item.append(made("p", { class: "written", text: note, dir: "auto" }));
    if (evidence.length > 0) item.append(made("ul", {}, ...evidence.map((passage) => this.quoteOf(passage))));
    showTimes(item);
    return item;
  }

  quoteOf(passage) {
    const button = made("button", { type: "button", class: "quote", dir: "auto" }, made("q", { text: passage.text }));
    button.addEventListener("click", () => this.goTo(passage));
    return made("li", {}, button);
  }

  /** Show a passage in the text; a long document is fetched up to it. */
  async goTo(passage) {
    let place = placeOf(passage, this.body);
    while (!place && (await this.parts.more())) place = placeOf(passage, this.body);
    if (place) point(place);
  }
}
