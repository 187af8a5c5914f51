// What a judge writes beside the topic: a note on what counts, the words to be marked, a question to the organiser.

import { COLOURS, patternOf, typed } from "./marks.js";
import { Saving } from "./saving.js";
import { show } from "./screen.js";
import { batch, freshId, say } from "./words.js";

const own = (name) => `${name}:${batch.person}:${batch.urls.page}`;

/** The topic note: saved while one types, and kept in the browser as long as it could not be. */
export function keepTopicNote(link) {
  const field = document.getElementById("topic-note");
  const state = document.getElementById("topic-note-state");
  const saving = new Saving({
    link,
    url: batch.urls.note,
    key: own("topic-note"),
    body: (text) => ({ text }),
    onState: (news) => (state.textContent = { saved: say("saved"), unsaved: say("unsaved") }[news] ?? news),
  });
  field.value = saving.left() ?? batch.note;
  field.closest("details").open = field.value !== "";
  field.addEventListener("input", () => saving.change(field.value));
  field.addEventListener("blur", () => saving.send());
  saving.send();
}

// A word of the topic that a judge has taken off is kept among their own words, with this before it.
const OFF = "-";
const isSame = (one, other) => one.localeCompare(other, undefined, { sensitivity: "accent" }) === 0;

/** The words that are marked: the topic's own and those the judge types, which are saved; each can be taken off. */
export function keepWords(link, marks, onChange) {
  const saving = new Saving({
    link,
    url: batch.urls.marks,
    key: own("marks"),
    body: (words) => ({ words }),
    onState: () => {},
  });
  listenToWords(marks, onChange, { added: saving.left() ?? batch.marks, onAdded: (words) => saving.change(words) });
  saving.send();
}

/** The same for words that `onAdded` gets; a function that begins with another topic and the words added to it. */
export function listenToWords(marks, onChange, { added, onAdded }) {
  const list = document.getElementById("marked");
  // The organisers may have switched highlighting off.
  if (!list) return () => {};
  const field = document.getElementById("mark");
  const toggle = document.getElementById("marking-on");
  const switchedOff = `marks-off:${batch.urls.topics}`;
  const isOff = ({ text }) => added.includes(OFF + text);
  const isRemoval = (word) => batch.topic.words.some(({ text }) => word === OFF + text);

  function choose() {
    const isOn = localStorage.getItem(switchedOff) === null;
    const own = added.filter((word) => !isRemoval(word)).map(typed);
    const words = [...batch.topic.words.filter((word) => !isOff(word)), ...own];
    const off = batch.topic.words.filter(isOff);
    marks.choose(isOn ? words : []);
    list.replaceChildren(...(isOn ? [...words.map(chip), ...off.map(offChip)] : []));
    toggle.setAttribute("aria-pressed", String(isOn));
    onChange();
  }

  function chip(word, index) {
    const { text, kind } = word;
    const item = document.createElement("li");
    item.className = `mark-${index % COLOURS}`;
    item.append(kind === "prefix" ? `${text}…` : text, document.createElement("span"));
    const isOfTopic = batch.topic.words.includes(word);
    const without = () => (isOfTopic ? [...added, OFF + text] : added.filter((other) => other !== text));
    item.append(button("×", say("unmark", { word: text }), () => change(without())));
    return item;
  }

  function offChip({ text }) {
    const item = document.createElement("li");
    item.className = "off";
    const words = document.createElement("s");
    words.textContent = text;
    item.append(words, button("+", say("mark_again", { word: text }), () => change(added.filter((other) => other !== OFF + text))));
    return item;
  }

  function button(sign, label, act) {
    const made = document.createElement("button");
    made.type = "button";
    made.textContent = sign;
    made.setAttribute("aria-label", label);
    made.addEventListener("click", act);
    return made;
  }

  function change(words) {
    added = words;
    onAdded(words);
    choose();
  }

  /** A word that the judge typed: none twice, and one of the topic's comes back. */
  function add(text) {
    const ofTopic = batch.topic.words.find((word) => text.match(patternOf([word]))?.[0] === text);
    if (ofTopic && isOff(ofTopic)) change(added.filter((other) => other !== OFF + ofTopic.text));
    else if (ofTopic || added.some((word) => isSame(word, text))) show(say("marked_already", { word: text }));
    else change([...added, text]);
  }

  field.form.addEventListener("submit", (event) => {
    event.preventDefault();
    const text = field.value.trim().replace(/\s+/g, " ");
    field.value = "";
    localStorage.removeItem(switchedOff);
    if (text) add(text);
    choose();
    field.blur();
  });
  toggle.addEventListener("click", () => {
    if (localStorage.getItem(switchedOff) === null) localStorage.setItem(switchedOff, "yes");
    else localStorage.removeItem(switchedOff);
    choose();
  });
  choose();
  return (words) => {
    added = words;
    choose();
  };
}

/** How often each word stands in the document, beside it; of a document that is not loaded whole at least so often. */
export function showCounts(marks, areMore = false) {
  const counts = marks.counts();
  const more = areMore ? "+" : "";
  document
    .querySelectorAll("#marked li > span")
    .forEach((place, index) => (place.textContent = counts[index] ? `${counts[index]}${more}` : ""));
}

/** The sheet on which a judge asks the organisers, and finds their answers. */
export class Questions {
  constructor(link, assignment) {
    Object.assign(this, { link, assignment });
    this.sheet = document.getElementById("questions");
    this.field = document.getElementById("question");
    this.state = document.getElementById("question-state");
    this.draft = own("question");
    this.id = freshId();
    this.field.value = localStorage.getItem(this.draft) ?? "";
    this.field.addEventListener("input", () => localStorage.setItem(this.draft, this.field.value));
    this.field.form.addEventListener("submit", (event) => this.ask(event));
    this.sheet.addEventListener("toggle", (event) => event.newState === "open" && this.open());
    this.count(batch.answers);
  }

  /** So many answers the judge has not seen. */
  count(answers) {
    const place = document.getElementById("answers");
    place.hidden = !answers;
    place.textContent = answers ? say(answers === 1 ? "new_answer" : "new_answers", { count: answers }) : "";
  }

  async open() {
    const { data } = await this.link.get(batch.urls.questions);
    if (!data?.questions) return;
    document.getElementById("asked").replaceChildren(...data.questions.map(entry));
    const ids = data.questions.filter((question) => question.new).map((question) => question.id);
    if (ids.length > 0 && !(await this.link.post(batch.urls.read, { ids })).trouble) this.count(0);
  }

  async ask(event) {
    event.preventDefault();
    const text = this.field.value.trim();
    if (!text) return;
    // The same id until it has arrived, so that it is asked once.
    const body = { id: this.id, text, topic: batch.topic.number, assignment: this.assignment() ?? null };
    const { data, trouble } = await this.link.post(batch.urls.questions, body);
    this.state.textContent = data?.saved ? say("asked") : (trouble?.sentence ?? say("not_asked"));
    if (!data?.saved) return;
    this.id = freshId();
    this.field.value = "";
    localStorage.removeItem(this.draft);
    this.open();
  }
}

function entry({ text, answer, docno }) {
  const item = document.createElement("li");
  const lines = [
    ["question", text],
    ["about", docno ?? ""],
    ["answer", answer || say("no_answer")],
  ];
  for (const [name, words] of lines.filter(([, words]) => words)) {
    const line = document.createElement("p");
    line.className = name;
    line.textContent = words;
    item.append(line);
  }
  return item;
}
