// Quick looks by single keys and without reloading. Without this file each document is a plain form.

import { showTimes } from "../site/times.js";

const looks = [...document.querySelectorAll(".look")];
const tallies = document.getElementById("tallies");
const notKept = document.getElementById("not-kept");

// The document in hand: the one with the focus, or else the first that nothing was said of.

function inHand() {
  return document.activeElement?.closest(".look") ?? looks.find((look) => !look.classList.contains("done")) ?? looks[0];
}

function goTo(look) {
  if (!look) return;
  look.focus({ preventScroll: true });
  look.scrollIntoView({ block: "nearest" });
}

// Keeping a look

function mark(look, button) {
  for (const each of look.querySelectorAll("button")) each.setAttribute("aria-pressed", String(each === button));
  look.classList.add("done");
}

function unmark(look) {
  for (const each of look.querySelectorAll("button")) each.setAttribute("aria-pressed", "false");
  look.classList.remove("done");
}

async function keep(look, button) {
  const said = new FormData(look.querySelector("form"));
  said.set(button.name, button.value);
  said.set("fragment", "1");
  const answer = await fetch(button.form.action, { method: "POST", body: said });
  if (answer.redirected) location.assign(answer.url); // the session has ended: it is the page for signing in
  else if (!answer.ok) throw new Error(answer.statusText);
  else return answer.text();
}

// One after the other, so that the count that arrives last is the newest.
let queue = Promise.resolve();

function onSubmit(event) {
  event.preventDefault();
  const look = event.target.closest(".look");
  const button = event.submitter;
  mark(look, button);
  goTo(looks[looks.indexOf(look) + 1]);
  queue = queue
    .then(() => keep(look, button))
    .then((counted) => {
      if (counted === undefined) return;
      tallies.innerHTML = counted;
      showTimes(tallies);
    })
    .catch(() => {
      unmark(look);
      notKept.hidden = false;
      goTo(look);
    });
}

// The keys

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.isComposing) return;
  if (event.target.closest("input, textarea, select")) return;
  // With a Korean input method switched on, the j key says ㅓ: then the place of the key counts.
  const key = /^[\x21-\x7e]$/.test(event.key) ? event.key.toLowerCase() : event.code.replace(/^Key|^Digit/, "").toLowerCase();
  const look = inHand();
  const button = look.querySelector(`button[data-key="${CSS.escape(key)}"]`);
  if (button) button.click();
  else if (key === "j") goTo(document.activeElement?.closest(".look") ? looks[looks.indexOf(look) + 1] : look);
  else if (key === "k") goTo(looks[looks.indexOf(look) - 1]);
  else return;
  event.preventDefault();
}

if (looks.length) {
  for (const look of looks) look.addEventListener("submit", onSubmit);
  document.addEventListener("keydown", onKey);
  document.documentElement.classList.add("with-script");
}
