// The search of this topic in place: hits over the document on the screen, graded without leaving.

import { keyOf } from "./key_names.js";
import { layout } from "./key_settings.js";
import { decisionWords } from "./screen.js";
import { batch } from "./words.js";

const BOUNCE = 120;
const element = (id) => document.getElementById(id);
const sentences = JSON.parse(element("searching-words")?.textContent ?? "{}");
const say = (name, values = {}) => sentences[name].replace(/\{(\w+)\}/g, (_, key) => values[key] ?? "");

/** Offer the search where judges may search. */
export function offerSearch(link, work) {
  if (element("searching")) new Searching(link, work);
}

class Searching {
  constructor(link, work) {
    Object.assign(this, { link, work, query: "", hits: [], total: 0, at: 0, gradedAt: 0 });
    this.panel = element("searching");
    this.field = element("searching-query");
    this.list = element("found");
    this.document = element("found-document");
    element("search-open").addEventListener("click", () => this.open());
    element("searching-close").addEventListener("click", () => this.panel.close());
    element("found-back").addEventListener("click", () => this.leaveDocument());
    element("found-more").addEventListener("click", () => this.readOn());
    element("found-undo").addEventListener("click", () => this.undo());
    element("searching-form").addEventListener("submit", (event) => {
      event.preventDefault();
      this.search();
    });
    element("found-grades").addEventListener("click", (event) => {
      const button = event.target.closest("[value]");
      if (button?.value) this.grade(Number(button.value));
    });
    this.list.addEventListener("focusin", (event) => this.notePlace(event.target.closest("li")));
    this.list.addEventListener("click", (event) => event.target.closest("h3") && this.read());
    this.panel.addEventListener("keydown", (event) => this.onKey(event));
    this.panel.addEventListener("close", () => this.onClose());
  }

  /** At the same query and the same hit as before. */
  open() {
    for (const key of this.panel.querySelectorAll("[data-of]")) key.textContent = layout.keyOf(key.dataset.of);
    this.work.countSeconds();
    this.panel.showModal();
    if (this.hits.length === 0) this.field.focus();
    else if (this.document.hidden) this.goTo(this.at);
    else this.document.focus();
  }

  onClose() {
    // The time of the search belongs to no document of the queue.
    this.work.lapOfHit();
    element("document").focus({ preventScroll: true });
  }

  onKey(event) {
    event.stopPropagation();
    if (event.key === "Escape") {
      event.preventDefault();
      if (this.document.hidden) this.panel.close();
      else this.leaveDocument();
      return;
    }
    if (event.isComposing || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.matches("input") && event.key !== "ArrowDown") return;
    const act = this.actOf(event);
    if (!act) return;
    event.preventDefault();
    act();
  }

  actOf(event) {
    const key = keyOf(event);
    if (key === "Enter" && event.target.closest("button")) return null;
    const isReading = !this.document.hidden;
    const command = layout.commandOf(key);
    if (!isReading && key === "ArrowDown") return () => this.goTo(event.target.matches("input") ? this.at : this.at + 1);
    if (!isReading && key === "ArrowUp") return () => this.goTo(this.at - 1);
    if (command === "j" || command === "k") return () => this.step(command === "j" ? 1 : -1, isReading);
    if (event.repeat) return null;
    if (key === "Enter" && !isReading) return () => this.read();
    if (command === "s" || command === "/") return () => this.toQuery();
    if (command === "u") return () => this.undo();
    const grade = batch.scale.find(({ value }) => String(value) === command);
    return grade ? () => this.grade(grade.value) : null;
  }

  step(direction, isReading) {
    if (isReading) this.read(this.at + direction);
    else this.goTo(this.at + direction);
  }

  toQuery() {
    if (!this.document.hidden) this.leaveDocument();
    this.field.select();
    this.field.focus();
  }

  async search() {
    const query = this.field.value.trim();
    if (!query) return;
    this.tell(say("searching"));
    const data = await this.asked(query, 0);
    if (!data) return;
    Object.assign(this, { query, hits: data.hits, total: data.total, at: 0 });
    this.list.replaceChildren(...this.hits.map(itemOf));
    this.offerMore();
    this.tell(this.total === 0 ? say("none") : say(data.more ? "found_more" : "found", { total: this.total }));
    this.leaveDocument();
  }

  async asked(query, first) {
    const { status, data } = await this.link.get(`${batch.urls.search}?${new URLSearchParams({ q: query, first })}`);
    if (status === 200 && data?.hits) return { ...data, hits: data.hits.map((hit) => this.withUnsent(hit)) };
    this.tell(data?.sentence ?? say("unreachable"));
    return null;
  }

  /** What was graded here and is still on its way. */
  withUnsent(hit) {
    const decision = this.work.unsentDecision(hit.docno);
    return decision === undefined ? hit : { ...hit, decision };
  }

  async more() {
    const first = this.hits.length;
    const data = await this.asked(this.query, first);
    if (!data || first !== this.hits.length) return;
    this.hits.push(...data.hits);
    this.list.querySelector(".more")?.remove();
    this.list.append(...data.hits.map(itemOf));
    this.offerMore();
    this.goTo(first);
  }

  offerMore() {
    if (this.hits.length >= this.total) return;
    const button = made("button", { type: "button", className: "link", textContent: say("more") });
    button.addEventListener("click", () => this.more());
    const place = made("li", { className: "more" });
    place.append(button);
    this.list.append(place);
  }

  get items() {
    return [...this.list.querySelectorAll("li:not(.more)")];
  }

  notePlace(item) {
    const index = this.items.indexOf(item);
    if (index < 0) return;
    this.at = index;
    for (const [place, one] of this.items.entries()) {
      one.classList.toggle("at", place === index);
      one.tabIndex = place === index ? 0 : -1;
    }
  }

  goTo(index) {
    if (index >= this.hits.length && this.hits.length < this.total) return void this.more();
    const item = this.items[Math.min(Math.max(index, 0), this.hits.length - 1)];
    if (!item) return undefined;
    this.notePlace(item);
    item.focus();
    item.scrollIntoView({ block: "nearest" });
    return undefined;
  }

  read(index = this.at) {
    const hit = this.hits[index];
    if (!hit) return undefined;
    this.notePlace(this.items[index]);
    this.part = 0;
    element("found-title").textContent = titleOf(hit);
    element("found-body").replaceChildren();
    element("found-more").hidden = true;
    this.list.hidden = true;
    this.document.hidden = false;
    this.document.focus();
    return this.readOn();
  }

  /** The next part of the document that is read. */
  async readOn() {
    const hit = this.hits[this.at];
    const part = this.part + 1;
    const { status, data } = await this.link.get(`${batch.urls.found}?${new URLSearchParams({ docno: hit.docno, part })}`);
    if (hit !== this.hits[this.at] || this.document.hidden || this.part !== part - 1) return;
    if (status !== 200) {
      this.tell(data?.sentence ?? say("unreachable"));
      return;
    }
    this.part = part;
    const template = document.createElement("template");
    template.innerHTML = data.html;
    element("found-body").append(template.content);
    element("found-more").hidden = part >= data.parts;
  }

  leaveDocument() {
    this.document.hidden = true;
    this.list.hidden = false;
    this.goTo(this.at);
  }

  grade(grade) {
    const hit = this.hits[this.at];
    if (!hit || performance.now() - this.gradedAt < BOUNCE) return;
    this.gradedAt = performance.now();
    const decision = this.work.judgeFound({ ...hit, title: titleOf(hit) }, grade, this.query);
    if (!decision) return;
    hit.decision = decision;
    paintOwn(this.items[this.at], hit);
    this.tell(say("graded", { title: titleOf(hit), grade: decisionWords(decision) }));
  }

  /** Take back the last judgement when it was one of a hit; others are undone on the screen itself. */
  undo() {
    const { docno, decision, sentence } = this.work.undoFound();
    const index = this.hits.findIndex((hit) => hit.docno === docno);
    if (index >= 0) {
      this.hits[index].decision = decision;
      paintOwn(this.items[index], this.hits[index]);
    }
    this.tell(sentence);
  }

  tell(words) {
    element("searching-state").textContent = words;
  }
}

function itemOf(hit) {
  const item = made("li", { tabIndex: -1 });
  const heading = made("h3", { dir: "auto", lang: hit.language ?? "" });
  heading.append(...(hit.title.length > 0 ? marked(hit.title) : [hit.docno]));
  const snippet = made("p", { className: "hint", dir: "auto", lang: hit.language ?? "" });
  snippet.append(...marked(hit.snippet));
  item.append(heading, made("p", { className: "own" }), snippet);
  paintOwn(item, hit);
  return item;
}

function titleOf({ title, docno }) {
  return title.map(([text]) => text).join("") || docno;
}

function paintOwn(item, { decision }) {
  item.querySelector(".own").textContent = decision ? say("own", { grade: decisionWords(decision) }) : "";
}

function marked(parts) {
  return parts.map(([text, isMarked]) => (isMarked ? made("mark", { textContent: text }) : text));
}

function made(tag, properties) {
  return Object.assign(document.createElement(tag), properties);
}
