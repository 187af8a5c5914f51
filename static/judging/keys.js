// Keys. Every key is printed on what it presses: the element whose data-key names it.

const WHILE_A_SHEET_IS_OPEN = new Set(["g", "?"]);
const REPEATING = new Set(["[", "]"]);
const WRITTEN_BY_METHODS = new Set(["Process", "Dead"]);
const PLACES = new Map([
  ["BracketLeft", "["],
  ["BracketRight", "]"],
  ["Slash", "/"],
]);

/** The key's name. With a Korean input method switched on, the u key says ㅕ: then the place of the key counts. */
export function keyOf(event) {
  if (/^[\x21-\x7e]$/.test(event.key) && !isShiftedDigit(event)) return event.key.toLowerCase();
  if (event.key === "Enter") return "Enter";
  // A key with a name, such as the number pad's PageDown while NumLock is off.
  if (event.key.length > 1 && !WRITTEN_BY_METHODS.has(event.key)) return "";
  const [, letter, digit] = /^(?:Key([A-Z])|(?:Digit|Numpad)(\d))$/.exec(event.code) ?? [];
  if (letter) return letter.toLowerCase();
  if (digit && !event.shiftKey) return digit;
  if (event.code === "Slash" && event.shiftKey) return "?";
  return PLACES.get(event.code) ?? "";
}

// On a French keyboard the unshifted keys of the upper row say & é " ', and grade nevertheless.
function isShiftedDigit(event) {
  return /^Digit\d$/.test(event.code) && !event.shiftKey && !/\d/.test(event.key) && !"?/[]".includes(event.key);
}

export function isTyping(event) {
  return event.isComposing || event.target.closest("input, textarea, select, [contenteditable]") !== null;
}

/** Listen for as long as the page lives; `onEscape` gets what had the focus. */
export function listen(onEscape) {
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
  if (event.repeat && !REPEATING.has(key)) return;
  if (key === "Enter" && event.target.closest("button, a, summary")) return;
  if (document.querySelector("dialog:popover-open, dialog[open]") && !WHILE_A_SHEET_IS_OPEN.has(key)) return;
  const pressed = elementOf(key);
  if (!pressed) return;
  event.preventDefault();
  pressed.click();
}

/** What a key presses now: in an open panel before anywhere else, and a digit nowhere else. */
function elementOf(key) {
  if (!key) return null;
  const usable = [...document.querySelectorAll(`[data-key="${CSS.escape(key)}"]`)].filter(isUsable);
  const inPanel = usable.find((element) => element.closest(".panel"));
  const isReason = /\d/.test(key) && document.querySelector(".panel[open]");
  return isReason ? inPanel : (inPanel ?? usable[0]);
}

function isUsable(element) {
  if (element.matches(":disabled") || element.closest("[hidden], fieldset:disabled details")) return false;
  const folded = element.closest("details:not([open])");
  return !folded || element.tagName === "SUMMARY" || element.dataset.unfolds !== undefined;
}
