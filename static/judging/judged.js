// My judgements by keys and without reloading. Without this file every row has a plain form, and headings sort.
//
// The keys work while the focus is in the list, which has it when the page opens: j and k move between rows, a digit
// changes the grade, u withdraws the judgement, Enter opens the document.

import { showTimes } from "../site/times.js";

const table = document.querySelector("table.judged");
const state = document.getElementById("list-state");

const rowsOf = () => [...table.tBodies[0].rows];
const rowOf = (element) => element?.closest?.("table.judged tbody tr") ?? null;

/** The row that Tab reaches and the keys act on. */
function choose(row, options = {}) {
  for (const each of rowsOf()) each.tabIndex = each === row ? 0 : -1;
  row.focus(options);
}

// One after the other, so that the last press counts.
let queue = Promise.resolve();

async function send(form, button) {
  const body = new FormData(form, button);
  body.set("fragment", "1");
  const answer = await fetch(form.action, { method: "POST", body });
  if (answer.redirected) location.assign(answer.url); // the session has ended: it is the page for signing in
  const text = answer.redirected ? null : await answer.text();
  if (text !== null && !answer.ok) throw new Error(answer.headers.get("Content-Type")?.includes("html") && !text.startsWith("<") ? text : "");
  return text;
}

function replace(row, html) {
  const template = document.createElement("template");
  template.innerHTML = html;
  const fresh = template.content.querySelector("tr");
  const focused = row.contains(document.activeElement) ? document.activeElement : null;
  row.replaceWith(fresh);
  showTimes(fresh);
  fresh.tabIndex = row.tabIndex;
  if (focused?.name) (fresh.querySelector(`button[name="${focused.name}"][value="${focused.value}"]`) ?? fresh).focus();
  else if (focused) fresh.focus();
  return fresh;
}

function tell(row) {
  const values = { document: row.querySelector("th").innerText.split("\n")[0], grade: row.querySelector(".given").textContent.trim() };
  state.textContent = table.dataset.changed.replace(/\{(\w+)\}/g, (_, name) => values[name]);
}

function onSubmit(event) {
  event.preventDefault();
  const id = rowOf(event.target).id;
  const { name, value } = event.submitter;
  queue = queue.then(async () => {
    // The row may have been replaced since the press.
    const row = document.getElementById(id);
    const button = row.querySelector(`button[name="${name}"][value="${value}"]`);
    if (!button) return; // withdrawn meanwhile
    row.classList.remove("failed");
    try {
      const html = await send(button.form, button);
      if (html !== null) tell(replace(row, html));
    } catch (error) {
      row.classList.add("failed");
      state.textContent = error.message && !(error instanceof TypeError) ? error.message : table.dataset.notSaved;
    }
    state.classList.toggle("unseen", !document.querySelector("tr.failed"));
    state.classList.toggle("error", Boolean(document.querySelector("tr.failed")));
  });
}

function move(row, by) {
  const rows = rowsOf();
  const next = rows[rows.indexOf(row) + by];
  if (next) choose(next);
  else document.querySelector(by > 0 ? "a[rel=next]" : "a[rel=prev]")?.click();
}

function onKey(event) {
  const row = rowOf(event.target);
  if (!row || event.ctrlKey || event.metaKey || event.altKey || event.isComposing) return;
  // With a Korean input method switched on, the j key says ㅓ: then the place of the key counts.
  const key = /^[\x21-\x7e]$/.test(event.key) ? event.key.toLowerCase() : event.code.replace(/^(Key|Digit|Numpad)/, "").toLowerCase();
  if (key === "j" || key === "k") move(row, key === "j" ? 1 : -1);
  else if (/^\d$/.test(key)) event.repeat || row.querySelector(`button[name=grade][value="${key}"]`)?.click();
  else if (key === "u") event.repeat || row.querySelector("button[name=withdraw]")?.click();
  else if (event.key === "Enter" && event.target === row) row.querySelector("a.open")?.click();
  else return;
  event.preventDefault();
}

if (table) {
  document.documentElement.classList.add("with-script");
  table.addEventListener("submit", onSubmit);
  table.addEventListener("keydown", onKey);
  table.addEventListener("focusin", ({ target }) => {
    for (const each of rowsOf()) each.tabIndex = each === rowOf(target) ? 0 : -1;
  });
  const opened = rowOf(document.getElementById(location.hash.slice(1)));
  choose(opened ?? rowsOf()[0], { preventScroll: !opened });
}
