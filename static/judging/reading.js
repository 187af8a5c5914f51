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

/** A document on the page: its first part, and the further ones as the reader comes near the end of what is there. */
export class Parts {
  /** `fetchPart(assignment, number)` promises the HTML of a part, or null; `onMore(nodes)` gets what came later. */
  constructor(body, fetchPart, onMore) {
    Object.assign(this, { body, fetchPart, onMore });
    this.foot = document.getElementById("more");
    this.word = this.foot.querySelector("span");
    this.document = null;
    this.shown = 1;
    this.isFetching = false;
    new IntersectionObserver(([entry]) => entry.isIntersecting && this.more(), { rootMargin: AHEAD }).observe(this.foot);
    this.foot.querySelector("button").addEventListener("click", () => this.more());
  }

  get areLeft() {
    return this.document !== null && this.shown < this.document.parts;
  }

  /** Show a document from its beginning. */
  begin(one) {
    this.document = one;
    this.shown = 1;
    this.isFetching = true;
    this.tell();
    fill(this.body, one.html, () => this.document === one).then((nodes) => {
      if (nodes === null || this.document !== one) return;
      if (nodes.length > 0) this.onMore(nodes);
      this.isFetching = false;
      this.tell();
    });
  }

  end() {
    this.document = null;
    this.tell();
  }

  /** Fetch one more part; whether it came. */
  async more() {
    if (!this.areLeft || this.isFetching) return false;
    const one = this.document;
    this.isFetching = true;
    const html = await this.fetchPart(one.assignment, this.shown + 1);
    if (one !== this.document) return false;
    this.isFetching = false;
    if (html === null) {
      this.word.textContent = say("part_missing");
      return false;
    }
    const part = document.createElement("div");
    part.className = "part";
    part.innerHTML = html;
    this.body.append(part);
    this.shown += 1;
    this.tell();
    this.onMore([part]);
    return true;
  }

  tell() {
    this.word.textContent = this.areLeft ? say("part", { part: this.shown, parts: this.document.parts }) : "";
    // Hidden and shown again, so that the observer looks anew whether the end is near.
    this.foot.hidden = true;
    if (this.areLeft && !this.isFetching) requestAnimationFrame(() => (this.foot.hidden = !this.areLeft));
  }
}
