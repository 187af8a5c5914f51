// My judgements by keys and without reloading. Without this file every row has a plain form, and headings sort.
//
// The keys work while the focus is in the list, which has it when the page opens. They are those of the judging screen,
// in the layout that the person chose: the commands of grades, `w` to withdraw, and two to move between rows.

import { showTimes } from "../site/times.js";
import { keyOf } from "./key_names.js";
import { layout, showKeys } from "./key_settings.js";
import { openSheet, openSheetsByButtons } from "./sheets.js";

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
  if (!row || event.ctrlKey || event.metaKey || event.altKey || event.isComposing || openSheet()) return;
  const key = keyOf(event);
  const command = layout.meantBy(key);
  if (command === "list-next" || command === "list-previous") move(row, command === "list-next" ? 1 : -1);
  else if (/^\d$/.test(command)) event.repeat || row.querySelector(`button[name=grade][value="${command}"]`)?.click();
  else if (command === "w") event.repeat || row.querySelector("button[name=withdraw]")?.click();
  else if (key === "Enter" && event.target === row) row.querySelector("a.open")?.click();
  else return;
  event.preventDefault();
}

/** The sheet of keys is there for the whole page. */
function onKeyOfPage(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.isComposing || event.target.closest("input, textarea, select")) return;
  if (layout.meantBy(keyOf(event)) !== "?") return;
  event.preventDefault();
  document.querySelector("[popovertarget=keys]").click();
}

if (table) {
  document.documentElement.classList.add("with-script");
  table.addEventListener("submit", onSubmit);
  table.addEventListener("keydown", onKey);
  document.addEventListener("keydown", onKeyOfPage);
  openSheetsByButtons();
  showKeys(keyOf);
  table.addEventListener("focusin", ({ target }) => {
    for (const each of rowsOf()) each.tabIndex = each === rowOf(target) ? 0 : -1;
  });
  const opened = rowOf(document.getElementById(location.hash.slice(1)));
  choose(opened ?? rowsOf()[0], { preventScroll: !opened });
}
