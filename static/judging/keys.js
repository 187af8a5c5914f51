// Keys. Every key is printed on what it presses: the element whose data-key names its command.

import { press } from "./bounces.js";
import { keyOf } from "./key_names.js";
import { layout, showKeys } from "./key_settings.js";
import { openSheet, openSheetsByButtons } from "./sheets.js";

const WHILE_A_SHEET_IS_OPEN = new Set(["g", "?"]);
const REPEATING = new Set(["[", "]"]);

function isTyping(event) {
  return event.isComposing || event.target.closest("input, textarea, select, [contenteditable]") !== null;
}

/** Listen for as long as the page lives; `onEscape` gets what had the focus. */
export function listen(onEscape) {
  openSheetsByButtons();
  showKeys(keyOf);
  document.addEventListener("keydown", (event) => {
    if (event.key === "Escape") onEscape(event.target);
    else onKey(event);
  });
}

function onKey(event) {
  // AltGr writes [ and ] on many keyboards, and says that Control and Alt are down.
  const hasModifier = event.ctrlKey || event.metaKey || event.altKey;
  if ((hasModifier && !event.getModifierState("AltGraph")) || isTyping(event)) return;
  const key = keyOf(event);
  const command = layout.meantBy(key);
  if (event.repeat && !REPEATING.has(command)) return;
  if (key === "Enter" && event.target.closest("button, a, summary")) return;
  // Arrows scroll a wide table, and go from button to button.
  if (key.startsWith("Arrow") && event.target.closest(".body [tabindex], button, a, summary, [role=group]")) return;
  if (openSheet() && !WHILE_A_SHEET_IS_OPEN.has(command)) return;
  const pressed = elementOf(command);
  if (!pressed) return;
  event.preventDefault();
  press(pressed, event);
}

/** What a command presses now: in an open panel before anywhere else. */
function elementOf(command) {
  if (!command) return null;
  const usable = [...document.querySelectorAll(`[data-key="${CSS.escape(command)}"]`)].filter(isUsable);
  return usable.find((element) => element.closest(".panel")) ?? usable[0];
}

function isUsable(element) {
  if (element.matches(":disabled") || element.closest("[hidden], fieldset:disabled details")) return false;
  const folded = element.closest("details:not([open])");
  return !folded || element.tagName === "SUMMARY" || element.dataset.unfolds !== undefined;
}
