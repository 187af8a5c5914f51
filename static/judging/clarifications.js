// Public answers and clarifications of the organisers: each is shown once to each judge, until they have seen it.

import { Saving } from "./saving.js";
import { batch, say } from "./words.js";

const element = (id) => document.getElementById(id);

export class Clarifications {
  constructor(link) {
    this.link = link;
    this.newest = batch.clarifications.newest;
    this.rows = batch.clarifications.rows;
    this.isDue = false;
    this.saving = new Saving({
      link,
      url: batch.urls.seen,
      key: `clarifications-seen:${batch.person}:${batch.urls.page}`,
      body: (ids) => ({ ids }),
      onState: () => {},
    });
    element("news").addEventListener("submit", (event) => {
      event.preventDefault();
      this.markSeen();
      element("document").focus({ preventScroll: true });
    });
    element("clarifications").querySelector("summary").addEventListener("click", (event) => {
      event.preventDefault();
      this.toggle();
    });
    // Only with another document or at the end of a topic: nothing moves while the judge reads.
    const observer = new MutationObserver(() => this.isDue && this.show());
    for (const id of ["document-title", "over-title"]) observer.observe(element(id), { childList: true });
    this.show();
    this.saving.send();
  }

  get fresh() {
    const sent = this.saving.left() ?? [];
    return this.rows.filter((row) => row.new && !sent.includes(row.id));
  }

  /** The number of the newest clarification came with an answer of the server. */
  async hear(newest) {
    if (!(newest > this.newest) || this.isAsking) return;
    this.isAsking = true;
    const { data } = await this.link.get(batch.urls.clarifications);
    this.isAsking = false;
    // Without an answer, with the next one.
    if (!data?.clarifications) return;
    Object.assign(this, { newest, rows: data.clarifications, isDue: true });
    if (!element("over").hidden) this.show();
  }

  show() {
    this.isDue = false;
    const { fresh, rows } = this;
    element("clarifications").hidden = rows.length === 0;
    element("clarifications-count").textContent = rows.length;
    element("clarifications-list").replaceChildren(...rows.map(item));
    element("news-list").replaceChildren(...fresh.map(item));
    element("news").hidden = fresh.length === 0;
    element("news-live").textContent = fresh.length === 0 ? "" : say("news", { text: fresh.map(({ text }) => text).join(" ") });
  }

  markSeen() {
    const ids = this.fresh.map(({ id }) => id);
    if (ids.length > 0) {
      this.saving.change([...(this.saving.left() ?? []), ...ids]);
      for (const row of this.rows) row.new &&= !ids.includes(row.id);
      this.saving.send();
    }
    element("news").hidden = true;
    element("news-live").textContent = "";
  }

  /** Open the list beside the topic, which shows all that is new, or fold it. */
  toggle() {
    const panel = element("clarifications");
    const topic = element("topic");
    panel.open = !(panel.open && topic.open);
    topic.open = true;
    if (!panel.open) return;
    if (this.isDue) this.show();
    this.markSeen();
    panel.querySelector("summary").focus({ preventScroll: true });
    panel.scrollIntoView({ block: "nearest" });
  }
}

function item({ question, text }) {
  const made = document.createElement("li");
  if (question) made.append(line("question", question));
  made.append(line(question ? "answer" : "clarification", text));
  return made;
}

function line(name, text) {
  const made = document.createElement("p");
  Object.assign(made, { className: name, textContent: text, dir: "auto" });
  return made;
}
