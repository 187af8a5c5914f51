// Reading: the size and width of the text, which stay, and long documents that come part by part.

import { fill } from "./filling.js";
import { say } from "./words.js";

const SETTINGS = "reading";
const SIZES = ["0.9375rem", "1.0625rem", "1.1875rem", "1.3125rem", "1.5rem", "1.75rem"];
// About 58, 70 and 92 characters of English.
const WIDTHS = ["48ch", "58ch", "76ch"];
const USUAL = { size: 1, width: 1 };
// More is fetched this far before the reader comes to the end.
const AHEAD = "1500px";
// Parts that are asked for together on the way to the end of a document.
const AT_ONCE = 6;

/** Whether topic and document stand one below the other, as in `judging.css`. */
export const isStacked = () => matchMedia("(max-width: 59.99rem), (max-height: 30rem)").matches;

/** The buttons of size and width. */
export function keepSettings() {
  const settings = { ...USUAL, ...JSON.parse(localStorage.getItem(SETTINGS)) };

  function apply() {
    const style = document.documentElement.style;
    style.setProperty("--text-size", SIZES[settings.size]);
    style.setProperty("--text-width", WIDTHS[settings.width]);
    for (const button of document.querySelectorAll("[data-size]")) {
      button.disabled = SIZES[settings.size + Number(button.dataset.size)] === undefined;
    }
    for (const button of document.querySelectorAll("[data-width]")) {
      button.setAttribute("aria-pressed", String(Number(button.dataset.width) === settings.width));
    }
  }

  document.getElementById("settings").addEventListener("click", ({ target }) => {
    const button = target.closest("[data-size], [data-width]");
    if (!button) return;
    if (button.dataset.size) settings.size += Number(button.dataset.size);
    else settings.width = Number(button.dataset.width);
    localStorage.setItem(SETTINGS, JSON.stringify(settings));
    apply();
  });
  apply();
}

const VIEWS = ["page", "text", "mono"];
const renderingOf = (view) => (view === "mono" ? "text" : view);

/** The views of a document: as it is usually shown, then the others; a text can always be set in one width. */
export function viewsOf({ renderings = [] }) {
  const [usual = "text", ...others] = renderings;
  return usual === "page" ? ["page", "text", "mono"] : ["text", "mono", ...others];
}

/** How documents of a collection are shown: remembered in this browser, and otherwise for one document. */
export class View {
  constructor(key, onChange) {
    Object.assign(this, { key, onChange, now: "text" });
    this.button = document.getElementById("view");
    this.button.addEventListener("click", () => this.turn());
    document.getElementById("settings").addEventListener("click", ({ target }) => {
      const chosen = target.closest("[data-view]")?.dataset.view;
      if (!chosen) return;
      localStorage.setItem(this.key, chosen);
      this.choose(this.preferred(this.document ?? {}));
    });
  }

  /** The view for a document that comes: the remembered one if the document has it, a page only if it is one. */
  preferred(one) {
    const views = viewsOf(one);
    const wanted = localStorage.getItem(this.key) ?? VIEWS[0];
    return wanted !== "page" && views.includes(wanted) ? wanted : views[0];
  }

  begin(one) {
    this.document = one;
    this.now = this.preferred(one);
    this.paint();
    return this.now;
  }

  turn() {
    const views = viewsOf(this.document ?? {});
    this.choose(views[(views.indexOf(this.now) + 1) % views.length]);
  }

  choose(view) {
    this.now = view;
    this.paint();
    if (this.document) this.onChange(view);
  }

  /** Whether offsets of passages refer to what is shown. */
  get isUsual() {
    return renderingOf(this.now) === renderingOf(viewsOf(this.document ?? {})[0]);
  }

  paint() {
    this.button.lastElementChild.textContent = say(`view_${this.now}`);
    document.querySelector(".reading").classList.toggle("mono", this.now === "mono");
    const kept = localStorage.getItem(this.key) ?? VIEWS[0];
    for (const button of document.querySelectorAll("[data-view]")) {
      button.setAttribute("aria-pressed", String(button.dataset.view === kept));
    }
  }
}

/** A document on the page: its first part, and the further ones as the reader comes near the end of what is there. */
export class Parts {
  /** `fetchPart(assignment, number, rendering)` promises { html, parts } or null; `onMore(nodes)` gets what came later. */
  constructor(body, fetchPart, onMore) {
    Object.assign(this, { body, fetchPart, onMore });
    this.foot = document.getElementById("more");
    this.word = this.foot.querySelector("span");
    this.empty = document.getElementById("empty");
    this.document = null;
    this.shown = 1;
    this.total = 1;
    this.isFetching = false;
    new IntersectionObserver(([entry]) => entry.isIntersecting && this.more(), { rootMargin: AHEAD }).observe(this.foot);
    this.foot.querySelector("button").addEventListener("click", () => this.more());
  }

  get areLeft() {
    return this.document !== null && this.shown < this.total;
  }

  /** Show a document from its beginning. */
  begin(one, view = viewsOf(one)[0]) {
    this.document = one;
    this.shown = 1;
    this.total = one.parts;
    // Null for the usual one, whose parts are also kept for judging offline.
    this.rendering = renderingOf(view) === renderingOf(viewsOf(one)[0]) ? null : renderingOf(view);
    this.isFetching = true;
    // Another object each time: what comes for an earlier view of the same document is dropped.
    const wanted = (this.wanted = {});
    this.empty.hidden = true;
    this.tell();
    if (this.rendering === null) this.put(one.html, wanted);
    else this.fetchFirst(one, wanted);
  }

  async fetchFirst(one, wanted) {
    this.body.replaceChildren();
    const first = await this.fetchPart(one.assignment, 1, this.rendering);
    if (this.wanted !== wanted) return;
    this.total = first?.parts ?? 1;
    this.put(first?.html ?? "", wanted);
    this.onMore([...this.body.childNodes]);
    if (first === null) this.word.textContent = say("part_missing");
  }

  put(html, wanted) {
    fill(this.body, html, () => this.wanted === wanted).then((nodes) => {
      if (nodes === null || this.wanted !== wanted) return;
      if (nodes.length > 0) this.onMore(nodes);
      this.isFetching = false;
      this.tell();
    });
    // Nothing to be read, though something was imported: a page made by a script, or of images.
    const isBlank = !this.body.textContent.trim() && !this.body.querySelector("[aria-label]");
    this.empty.hidden = html === "" || !isBlank;
  }

  end() {
    this.document = null;
    this.wanted = null;
    this.empty.hidden = true;
    this.tell();
  }

  /** Fetch one more part; whether it came. */
  async more() {
    return this.upTo(this.shown + 1);
  }

  /** Fetch the parts up to one; whether they came. */
  async upTo(last) {
    if (!this.areLeft || this.isFetching) return false;
    const { wanted, document: one, rendering } = this;
    this.isFetching = true;
    while (this.shown < Math.min(last, this.total)) {
      const numbers = [];
      for (let number = this.shown + 1; number <= Math.min(last, this.total, this.shown + AT_ONCE); number += 1) numbers.push(number);
      const came = await Promise.all(numbers.map((number) => this.fetchPart(one.assignment, number, rendering)));
      if (wanted !== this.wanted) return false;
      if (came.includes(null)) {
        this.isFetching = false;
        this.word.textContent = say("part_missing");
        return false;
      }
      for (const { html } of came) this.add(html);
    }
    this.isFetching = false;
    this.tell();
    return true;
  }

  add(html) {
    const part = document.createElement("div");
    part.className = "part";
    part.innerHTML = html;
    this.body.append(part);
    this.shown += 1;
    this.onMore([part]);
  }

  tell() {
    this.word.textContent = this.areLeft ? say("part", { part: this.shown, parts: this.total }) : "";
    // Hidden and shown again, so that the observer looks anew whether the end is near.
    this.foot.hidden = true;
    if (this.areLeft && !this.isFetching) requestAnimationFrame(() => (this.foot.hidden = !this.areLeft));
  }
}
