// What is on the screen: the document, its decision, the counts, and what a screen reader hears of it.

import { afterNextFrame } from "./frames.js";
import { offerNextTopic, withdrawNextTopic } from "./onward.js";
import { isStacked } from "./reading.js";
import { openSheet } from "./sheets.js";
import { batch, say } from "./words.js";

const element = (id) => document.getElementById(id);
const form = element("grading");
const article = element("document");
const grades = form.querySelector(".grades");
const tools = form.querySelector(".tools");

/** Show what stands round a document, from its beginning, with the decision that stands; its text is there already. */
export function paintDocument(one, { isLookingBack, note }) {
  article.hidden = false;
  element("over").hidden = element("over-links").hidden = true;
  withdrawNextTopic();
  grades.disabled = tools.disabled = false;
  paintHead(one);
  paintDecision(one, isLookingBack);
  paintNote(note);
  form.querySelector(".panel").open = false;
  showBeginning();
}

/** What stands above the text of a document: its id, its title, the grades given. */
export function paintHead(one) {
  element("docno").textContent = one.docno;
  // Without a title it is the heading itself.
  element("docno").hidden = !one.title;
  paintOriginal(one.url);
  const title = element("document-title");
  title.textContent = one.title || one.docno;
  title.lang = one.language ?? "";
  element("body").lang = one.language ?? "";
  element("no-text").hidden = one.html !== "";
  paintGiven(one.given ?? []);
}

/** Show a document from its beginning, with the focus. */
export function showBeginning() {
  // There the page's own header is scrolled out of the way.
  scrollTo({ top: isStacked() ? element("screen").offsetTop : 0, behavior: "instant" });
  if (!isBusyElsewhere()) article.focus({ preventScroll: true });
}

// A document may come while the judge writes a note on the topic or reads the guidelines.
function isBusyElsewhere() {
  return openSheet() !== null || document.querySelector("#topic :is(input, textarea):focus") !== null;
}

/** Whether the judge is asked why the document cannot be judged. */
export function isReasonAsked() {
  return form.querySelector(".panel").open;
}

/** Nothing is left to show: say why, and what to do. */
export function paintOver(title, text, { isWaiting }) {
  article.hidden = true;
  element("more").hidden = true;
  for (const id of ["looking", "go-on", "look-forward", "withdraw"]) element(id).hidden = true;
  grades.disabled = tools.disabled = true;
  element("over").hidden = false;
  element("over").toggleAttribute("aria-busy", isWaiting);
  const isNews = !isWaiting && element("over-links").hidden;
  element("over-links").hidden = isWaiting;
  element("over-title").textContent = title;
  element("over-text").textContent = text;
  if (isWaiting) withdrawNextTopic();
  else if (isNews) offerNextTopic();
}

/** “17 of 84”, also as the name of the page. */
export function paintCounts({ judged, total }, isLookingBack) {
  const whole = Math.max(total, judged);
  const position = isLookingBack || judged >= whole ? "judged_of" : "position";
  const words = say(position, { judged, position: judged + 1, total: whole });
  element("position").textContent = words;
  Object.assign(element("progress"), { max: Math.max(whole, 1), value: judged });
  paintCounts.words = words;
  paintCounts.left = whole - judged;
  afterNextFrame().then(() => (document.title = `${paintCounts.words} · ${batch.topic.title}`));
  return words;
}

/** Announce what cannot be seen; the same text twice is announced twice. */
export function tell(words) {
  const live = element("live");
  live.textContent = live.textContent === words ? `${words}\u00a0` : words;
}

/** Tell what everybody shall see for a moment, too. */
export function show(words) {
  tell(words);
  const toast = element("toast");
  toast.textContent = words;
  toast.hidden = false;
  clearTimeout(show.timer);
  show.timer = setTimeout(() => (toast.hidden = true), 3500);
}

/** The words for a decision, as they stand on its button. */
export function decisionWords({ grade, cannot_judge: reason }) {
  if (reason) return form.querySelector(`[name=cannot_judge][value="${reason}"] .name`)?.textContent ?? batch.reasons?.[reason] ?? reason;
  return batch.scale.find((one) => one.value === grade)?.name ?? String(grade);
}

function paintOriginal(url) {
  const link = element("original");
  link.parentElement.hidden = !/^https?:\/\//.test(url ?? "");
  if (!link.parentElement.hidden) link.href = url;
}

// An adjudicator may see the grades that differ, not whose they are.
function paintGiven(given) {
  const place = element("given");
  if (!place) return;
  const names = batch.scale.filter(({ value }) => given.includes(value)).map(({ name }) => name);
  place.hidden = names.length === 0;
  place.textContent = names.length === 0 ? "" : say("given", { grades: names.join(", ") });
}

/** Mark the button of a decision, or none. */
export function paintChosen(decision) {
  for (const button of form.querySelectorAll("[name=grade], [name=cannot_judge]")) {
    const isChosen = decision !== null && String(decision[button.name] ?? "") === button.value;
    button.classList.toggle("chosen", isChosen);
    if (isChosen) button.setAttribute("aria-current", "true");
    else button.removeAttribute("aria-current");
  }
}

function paintDecision({ decision, isPutOff }, isLookingBack) {
  paintChosen(decision);
  const looking = element("looking");
  looking.hidden = !isLookingBack;
  element("go-on").hidden = element("look-forward").hidden = !isLookingBack;
  element("withdraw").hidden = !isLookingBack || decision === null;
  // What is judged can be judged otherwise, but no longer put off.
  element("later").disabled = decision !== null;
  if (!isLookingBack) return;
  if (decision === null) looking.textContent = isPutOff ? say("was_put_off") : "";
  else if (decision.cannot_judge) looking.textContent = say("was_not_judged", { reason: decisionWords(decision) });
  else looking.textContent = say("was_judged", { grade: decisionWords(decision) });
}

export function paintNote(note) {
  const field = element("note");
  field.value = note;
  field.closest("details").open = note !== "";
}
