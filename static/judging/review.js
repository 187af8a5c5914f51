// A list stepped through on the judging screen: the arrows show the neighbours, which are fetched beforehand. Without
// this file the page has links to them. Adjudicators decide on the documents of their list; nothing else is recorded.

import { ignoreBounces } from "./bounces.js";
import { offerCommands } from "./commands.js";
import { listen } from "./keys.js";
import { listenToWords } from "./notes.js";
import { keepTopicFolded, listenToMarks, onClicks, pageOf } from "./page.js";
import { listenToPanels } from "./panels.js";
import { keepSettings } from "./reading.js";
import { Link } from "./requests.js";
import { paintChosen, paintHead, paintNote, show, showBeginning, tell } from "./screen.js";
import { openSheet } from "./sheets.js";
import { batch, freshId, say } from "./words.js";

const MOST_KEPT = 60; // documents, so that going back and forth loads none
const element = (id) => document.getElementById(id);
const form = element("grading");
const decides = form.querySelector(".grades") !== null;

class Review {
  constructor(link, page) {
    Object.assign(this, { link, page });
    [this.now] = batch.documents;
    // By their keys, which are part of the addresses.
    this.known = new Map();
    this.isBusy = false;
    // Words that were typed, by topic; they last as long as the page.
    this.words = new Map();
    this.chooseWords = listenToWords(page.marks, () => page.mark(), {
      added: [],
      onAdded: (words) => this.words.set(this.now.topic.number, words),
    });
  }

  begin() {
    this.keep(this.now);
    this.paint(this.now);
    this.fetchNeighbours();
  }

  keep(one) {
    this.known.delete(one.assignment);
    this.known.set(one.assignment, one);
    if (this.known.size > MOST_KEPT) this.known.delete(this.known.keys().next().value);
  }

  /** A document by its key, from the server if it is not known; null when none came. */
  async load(key, at) {
    const known = this.known.get(key);
    if (known) return known;
    const address = new URL(batch.urls.item, location);
    for (const [name, value] of new URLSearchParams(`${key}&at=${at}`)) address.searchParams.set(name, value);
    const { status, data } = await this.link.get(address);
    if (status !== 200) {
      this.refusal = data?.sentence ?? say("not_loaded");
      return null;
    }
    this.keep(data);
    return data;
  }

  /** Only the neighbours: a list may have tens of thousands of documents. */
  fetchNeighbours() {
    const { previous, next, position } = this.now;
    if (next) this.load(next, (position ?? 0) + 1);
    if (previous) this.load(previous, Math.max((position ?? 2) - 1, 1));
  }

  /** Show the next (1) or the previous (-1) document. */
  async step(direction) {
    if (this.isBusy) return;
    const key = direction > 0 ? this.now.next : this.now.previous;
    if (!key) {
      show(say(direction > 0 ? "last" : "first"));
      return;
    }
    this.isBusy = true;
    const one = await this.load(key, Math.max((this.now.position ?? 0) + direction, 1));
    this.isBusy = false;
    this.complain(one ? "" : this.refusal);
    if (!one) return;
    this.paint(one);
    history.replaceState(null, "", one.page);
    this.fetchNeighbours();
  }

  paint(one) {
    const hasOtherTopic = one.topic.number !== batch.topic.number;
    this.now = one;
    if (hasOtherTopic) paintTopic(one.topic);
    this.page.show(one);
    paintHead(one);
    this.page.begin([]);
    if (hasOtherTopic) this.chooseWords(this.words.get(one.topic.number) ?? []);
    element("known").textContent = one.known ?? "";
    element("known").hidden = !one.known;
    element("back").href = one.back;
    paintWay("look-back", one.previous, Math.max((one.position ?? 2) - 1, 1));
    paintWay("look-forward", one.next, (one.position ?? 0) + 1);
    if (decides) this.paintDecision(one);
    const words = one.position ? say("position", { position: one.position, total: one.total }) : say("left_list");
    element("position").textContent = words;
    Object.assign(element("progress"), { max: Math.max(one.total, 1), value: one.position ?? 0 });
    document.title = `${words} · ${one.title || one.docno}`;
    showBeginning();
    tell(`${words}: ${one.title || one.docno}`);
  }

  paintDecision(one) {
    form.action = one.page;
    form.elements.client_id.value = freshId();
    paintChosen(one.decision);
    paintNote(one.decision?.note ?? "");
  }

  complain(words) {
    element("trouble").textContent = words;
    element("trouble").hidden = !words;
  }

  /** Store the adjudicator's grade, then show the next document. */
  async decide(button) {
    if (this.isBusy) return;
    this.isBusy = true;
    const body = new FormData(form, button);
    body.set("fragment", "1");
    const { status, data } = await this.link.postForm(form.action, body);
    this.isBusy = false;
    const isStored = status === 200 && data?.assignment !== undefined;
    this.complain(isStored ? "" : (data?.sentence ?? say("not_decided")));
    if (!isStored) return;
    this.keep(data);
    this.now = data;
    const grade = batch.scale.find(({ value }) => String(value) === button.value)?.name ?? button.value;
    show(say("decided", { docno: data.docno, grade }));
    if (data.next) await this.step(1);
    else this.paint(data);
  }
}

function paintTopic(topic) {
  batch.topic = topic;
  element("topic-label").textContent = say("topic", { number: topic.number });
  const title = element("topic-title");
  title.textContent = topic.title;
  title.lang = element("topic-text").lang = topic.language ?? "";
  const lines = ["description", "narrative"].filter((name) => topic[name]);
  element("topic-text").replaceChildren(...lines.flatMap((name) => lineOf(say(name), topic[name])));
}

function lineOf(name, text) {
  const term = document.createElement("dt");
  const words = document.createElement("dd");
  Object.assign(term, { textContent: name, lang: document.documentElement.lang });
  Object.assign(words, { textContent: text, dir: "auto" });
  return [term, words];
}

/** The address of a neighbour, for who opens it in another tab; none at an end of the list, where the key says so. */
function paintWay(id, key, at) {
  const link = element(id);
  if (key === null) {
    link.removeAttribute("href");
    return;
  }
  const address = new URL(location);
  for (const [name, value] of new URLSearchParams(`${key}&at=${at}`)) address.searchParams.set(name, value);
  address.searchParams.delete("part");
  link.href = address;
}

/** Escape leaves a field, or the review. */
function leave(where) {
  if (openSheet()) return;
  if (where.matches("input, textarea")) {
    where.blur();
    element("document").focus({ preventScroll: true });
  } else element("back").click();
}

function begin() {
  const link = new Link({ person: batch.person, csrf: batch.csrf, session: null });
  const page = pageOf(link, (key, part) => {
    const address = new URL(batch.urls.parts.replace("{part}", part), location);
    for (const [name, value] of new URLSearchParams(key)) address.searchParams.set(name, value);
    return address;
  });
  const review = new Review(link, page);
  keepSettings();
  keepTopicFolded();
  review.begin();
  onClicks("look-back", () => review.step(-1));
  onClicks("look-forward", () => review.step(1));
  listenToMarks(page);
  listenToPanels();
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    if (event.submitter?.name === "grade") review.decide(event.submitter);
  });
  ignoreBounces(form);
  listen(leave);
  offerCommands();
  document.documentElement.classList.add("with-script");
}

begin();
