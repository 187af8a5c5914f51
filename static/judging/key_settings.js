// The sheet “Keys”: shows which key means what, and lets a person change them or switch them off. Every <kbd> follows.

import { isCharacter, KeyLayout } from "./key_layout.js";
import { batch, say } from "./words.js";

const NAMES = new Map([
  ["Enter", "⏎"],
  ["ArrowLeft", "←"],
  ["ArrowRight", "→"],
]);
const element = (id) => document.getElementById(id);
const sheet = element("keys");
const changers = [...sheet.querySelectorAll("[data-changes]")];
let changing = null;

const commands = new Set([...document.querySelectorAll("[data-key]")].map((one) => one.dataset.key));
for (const changer of changers) commands.add(changer.dataset.changes);
const usual = Object.fromEntries(changers.map(({ dataset }) => [dataset.changes, dataset.usual ?? dataset.changes]));
export const layout = new KeyLayout(batch.person, [...commands], usual);

/** Show the keys, and listen to the controls of the sheet; `read` tells the key of an event. */
export function showKeys(read) {
  paint();
  element("keys-on").addEventListener("change", ({ target }) => update(() => layout.switch(!target.checked)));
  element("key-layout").addEventListener("change", ({ target }) => update(() => layout.choose(target.value)));
  for (const changer of changers) changer.addEventListener("click", () => ask(changer));
  sheet.addEventListener("toggle", end);
  // Before anything else on the page hears of the key.
  document.addEventListener("keydown", (event) => changing && take(event, read(event)), { capture: true });
}

function update(change) {
  change();
  end();
  paint();
}

function ask(changer) {
  end();
  changing = changer;
  changer.setAttribute("aria-pressed", "true");
  tell(say("key_wanted", { command: meaningOf(changer.dataset.changes) }));
}

function end() {
  changing?.removeAttribute("aria-pressed");
  changing = null;
  tell("");
}

function take(event, key) {
  if (event.key === "Tab" || event.key === "Shift") return;
  event.preventDefault();
  event.stopImmediatePropagation();
  if (event.key === "Escape") end();
  else if (!isCharacter(key)) tell(say("key_unfit"));
  else if (event.isComposing || event.repeat) return;
  else change(changing.dataset.changes, key);
}

function change(command, key) {
  const holder = layout.change(command, key);
  if (holder !== null) tell(say("key_taken", { key: nameOf(key), command: meaningOf(holder) }));
  else {
    update(() => null);
    tell(say("key_changed", { key: nameOf(key), command: meaningOf(command) }));
  }
}

function paint() {
  for (const place of document.querySelectorAll("[data-key]")) paintKey(place, place.dataset.key, layout.isOff);
  for (const changer of changers) paintKey(changer, changer.dataset.changes, false);
  element("keys-on").checked = !layout.isOff;
  element("key-layout").value = layout.layout;
}

function paintKey(place, command, isOff) {
  const mark = place.querySelector("kbd");
  if (!mark) return;
  const key = layout.keyOf(command);
  mark.textContent = nameOf(key);
  mark.hidden = key === "" || (isOff && isCharacter(key));
}

function nameOf(key) {
  return NAMES.get(key) ?? key.replace(/^Shift-(.)$/, (_, character) => `⇧${character.toLowerCase()}`);
}

/** What a command does, in the words of the sheet, or of the button that it presses. */
function meaningOf(command) {
  const changer = changers.find((one) => one.dataset.changes === command);
  const place = changer?.closest("div") ?? document.querySelector(`[data-key="${CSS.escape(command)}"]`);
  const words = place?.querySelector("dd, .name") ?? place;
  return (words?.textContent ?? command).trim();
}

function tell(words) {
  element("keys-state").textContent = words;
}
