// The judging screen's keys, clock and guard against double clicks. Without this file the page is a plain form.

const form = document.getElementById("grading");
const topic = document.querySelector("details.topic");
const keyed = new Map([...document.querySelectorAll("[data-key]")].map((element) => [element.dataset.key, element]));
const WHILE_A_SHEET_IS_OPEN = new Set(["g", "?"]);
const UNSENT = `unsent:${form.action}`;
const TOPIC_FOLDED = `topic-folded:${topic.querySelector(".label").textContent}`;

// The keys

function keyOf(event) {
  // With a Korean input method switched on, the u key says ㅕ: then the place of the key counts.
  if (/^[\x21-\x7e]$/.test(event.key)) return event.key.toLowerCase();
  return event.code.startsWith("Key") ? event.code.slice(3).toLowerCase() : "";
}

function isTyping(event) {
  return event.isComposing || event.target.closest("input, textarea, select, [contenteditable]") !== null;
}

function onKey(event) {
  if (event.key === "Escape" && event.target.closest("details")) {
    leave(event.target.closest("details"));
    return;
  }
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || isTyping(event)) return;
  const key = keyOf(event);
  const sheetIsOpen = document.querySelector("dialog:popover-open") !== null;
  if (!keyed.has(key) || (sheetIsOpen && !WHILE_A_SHEET_IS_OPEN.has(key))) return;
  event.preventDefault();
  keyed.get(key).click();
  // At once and not with the toggle event, which comes later: the next key may be the first letter of a note.
  focusInside(keyed.get(key).closest(".asides details"));
}

function leave(details) {
  document.activeElement.blur();
  if (!details.querySelector("textarea")?.value) details.open = false;
}

function focusInside(details) {
  if (details?.open) details.querySelector("textarea, button").focus();
}

// The clock: seconds during which the page could be seen

let seenSince = document.hidden ? null : performance.now();
let seenFor = 0;

function stopClock() {
  if (seenSince !== null) seenFor += performance.now() - seenSince;
  seenSince = null;
}

function onVisibility() {
  stopClock();
  if (!document.hidden) seenSince = performance.now();
}

// One judgement a page

let isSent = false;

// Not with randomUUID, which browsers know on secure addresses only. The server's id would come again with a page
// that is sent again by way of the history, and a judgement of its own needs an id of its own.
function freshId() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}

function onSubmit(event) {
  if (isSent) {
    event.preventDefault();
    return;
  }
  isSent = true;
  stopClock();
  form.elements.seconds.value = (seenFor / 1000).toFixed(1);
  form.elements.client_id.value = freshId();
  form.setAttribute("aria-busy", "true");
  sessionStorage.setItem(UNSENT, form.elements.note.value);
}

// A judgement whose page answers with a refusal, or with the sign-in page, has not arrived: the next time its document
// is shown, its note is back and the judge is told. Where it has arrived, the next document clears it away.

function recallUnsent() {
  const note = sessionStorage.getItem(UNSENT);
  for (const key of Object.keys(sessionStorage)) if (key.startsWith("unsent:")) sessionStorage.removeItem(key);
  if (note === null || document.querySelector(".notice:not(#unsent)")) return;
  document.getElementById("unsent").hidden = false;
  if (!note) return;
  form.elements.note.value = note;
  form.elements.note.closest("details").open = true;
}

// The browser's back button leads to each document by its own address, where its present grade is marked.

function onShow(event) {
  if (event.persisted) location.reload();
}

// On a narrow screen the topic is folded once its first document is judged, unless the judge wants it otherwise.

function keepFold() {
  sessionStorage.setItem(TOPIC_FOLDED, topic.open ? "yes" : "no");
}

function foldTopic() {
  const wish = sessionStorage.getItem(TOPIC_FOLDED);
  const isUnderWay = document.querySelector(".position progress")?.value > 0;
  topic.open = !(wish === "yes" || (wish === null && isUnderWay));
}

if (matchMedia("(max-width: 59.99rem)").matches) foldTopic();
topic.querySelector("summary").addEventListener("click", keepFold);
recallUnsent();
history.replaceState(history.state, "", form.action);
document.documentElement.classList.add("with-script");
document.addEventListener("keydown", onKey);
document.addEventListener("visibilitychange", onVisibility);
form.addEventListener("submit", onSubmit);
form.querySelectorAll("summary").forEach((summary) => {
  // Not by the toggle event: a page that opens with a note to be seen fires it too, and its keys would be dead.
  summary.addEventListener("click", () => setTimeout(focusInside, 0, summary.parentElement));
});
addEventListener("pageshow", onShow);
