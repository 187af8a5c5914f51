// Brings the judging screen to life: what its buttons and keys do. Without it the page is a plain form.

import { beginBeside } from "./beside.js";
import { ignoreBounces } from "./bounces.js";
import { Clarifications } from "./clarifications.js";
import { offerCommands } from "./commands.js";
import { dropOldDrafts } from "./drafts.js";
import { listen } from "./keys.js";
import { Questions, keepTopicNote, keepWords } from "./notes.js";
import { askForOtherReason } from "./other_reason.js";
import { Outbox } from "./outbox.js";
import { keepTopicFolded, listenToMarks, onClicks, pageOf } from "./page.js";
import { leave, listenToEvidence, listenToPanels } from "./panels.js";
import { keepSettings } from "./reading.js";
import { listenToRecent } from "./recent.js";
import { Link } from "./requests.js";
import { offerSearch } from "./searching.js";
import { beginTaken } from "./taken.js";
import { offerToTake } from "./taking.js";
import { Work } from "./work.js";
import { batch, say } from "./words.js";

const SECONDS_BETWEEN_LOOKS = 15;
const MINUTES = 60;
const element = (id) => document.getElementById(id);
const form = element("grading");

function listenToButtons(work, page) {
  form.addEventListener("submit", (event) => {
    event.preventDefault();
    const { name, value } = event.submitter ?? {};
    if (name === "grade") work.act({ kind: "grade", grade: Number(value) });
    else if (name === "cannot_judge") work.act({ kind: "cannot", cannot_judge: value });
    else if (name === "later") work.act({ kind: "later" });
  });
  // The second press of a double click was meant for the document before.
  form.addEventListener("click", (event) => event.detail > 1 && event.target.closest("[name]") && event.preventDefault());
  onClicks("undo", () => work.undo());
  onClicks("redo", () => work.redo());
  onClicks("withdraw", () => work.withdraw());
  onClicks("look-back", () => work.lookBack());
  onClicks("look-forward", () => work.lookForward());
  listenToRecent((assignment) => work.lookBackAt(assignment));
  onClicks("go-on", () => work.goOn());
  onClicks("look-again", () => work.lookAgain());
  onClicks("try-now", () => work.sender.hurry());
  listenToMarks(page);
  listenToEvidence(page);
  element("note").addEventListener("input", () => work.keepDraft());
  page.evidence.onChange = () => work.keepDraft();
  listenToPanels();
  ignoreBounces(form);
  askForOtherReason();
  listen(leave);
}

function showActiveTime(work) {
  const minutes = Math.floor(work.activeToday() / MINUTES);
  const hours = Math.floor(minutes / MINUTES);
  element("active").textContent = say(hours > 0 ? "active_hours" : "active_minutes", { hours, minutes: minutes - hours * MINUTES });
}

async function begin() {
  const link = new Link({ person: batch.person, csrf: batch.csrf, session: batch.urls.session });
  const outbox = await Outbox.open(batch.person);
  await outbox.retry();
  dropOldDrafts();
  await beginTaken();
  const page = pageOf(link);
  const work = new Work({ outbox, link, page });
  page.questions = new Questions(link, () => work.desk.current?.assignment);
  page.clarifications = new Clarifications(link);
  keepSettings();
  keepTopicNote(link);
  keepWords(link, page.marks, () => page.mark());
  keepTopicFolded();
  work.begin();
  listenToButtons(work, page);
  offerCommands();
  offerToTake(link);
  offerSearch(link, work);
  beginBeside({ link, current: () => work.desk.current });
  showActiveTime(work);
  setInterval(() => showActiveTime(work), SECONDS_BETWEEN_LOOKS * 1000);
  addEventListener("online", () => work.sender.hurry());
  document.addEventListener("visibilitychange", () => document.hidden || work.lookUp());
  addEventListener("focus", () => work.lookUp());
  addEventListener("pagehide", () => work.keepTime());
  addEventListener("beforeunload", (event) => outbox.entries.length > 0 && event.preventDefault());
  document.documentElement.classList.add("with-script");
}

// A page that the browser's history brings back shows documents as unjudged that are judged by now.
addEventListener("pageshow", (event) => event.persisted && location.reload());
if (performance.getEntriesByType("navigation")[0]?.type === "back_forward") location.reload();
else begin();
