// What a judge writes beside the topic: a note on what counts, the words to be marked, a question to the organiser.

import { typed } from "./marks.js";
import { Saving } from "./saving.js";
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

/** The words that are marked: the topic's own and those the judge types, with a way to take the latter back. */
export function keepWords(link, marks, onChange) {
  const list = document.getElementById("marked");
  const field = document.getElementById("mark");
  const saving = new Saving({
    link,
    url: batch.urls.marks,
    key: own("marks"),
    body: (words) => ({ words }),
    onState: () => {},
  });
  let added = saving.left() ?? batch.marks;

  function choose() {
    marks.choose([...batch.topic.words, ...added.map(typed)]);
    list.replaceChildren(...marks.words.map(chip));
    onChange();
  }

  function chip({ text, kind }, index) {
    const item = document.createElement("li");
    item.className = `mark-${index % 8}`;
    item.append(kind === "prefix" ? `${text}…` : text, document.createElement("span"));
    if (index < batch.topic.words.length) return item;
    const button = document.createElement("button");
    button.type = "button";
    button.textContent = "×";
    button.setAttribute("aria-label", say("unmark", { word: text }));
    button.addEventListener("click", () => change(added.filter((other) => other !== text)));
    item.append(button);
    return item;
  }

  function change(words) {
    added = words;
    saving.change(words);
    choose();
  }

  field.form.addEventListener("submit", (event) => {
    event.preventDefault();
    const text = field.value.trim().replace(/\s+/g, " ");
    field.value = "";
    if (text && !added.includes(text)) change([...added, text]);
    field.blur();
  });
  choose();
  saving.send();
}

/** How often each word stands in the document, beside it. */
export function showCounts(marks) {
  const counts = marks.counts();
  document.querySelectorAll("#marked li > span").forEach((place, index) => (place.textContent = counts[index] || ""));
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
