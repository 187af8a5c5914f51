// The names of keys, whatever keyboard and input method they come from.

const WRITTEN_BY_METHODS = new Set(["Process", "Dead"]);
const NAMED = new Set(["Enter", "ArrowLeft", "ArrowRight"]);
const PLACES = new Map([
  ["Backquote", "`"],
  ["BracketLeft", "["],
  ["BracketRight", "]"],
  ["NumpadDecimal", "."],
  ["Slash", "/"],
]);

/** The key's name. With a Korean input method switched on, the u key says ㅕ: then the place of the key counts. */
export function keyOf(event) {
  const key = baseOf(event);
  const isShifted = event.shiftKey && key.length === 1 && (/[a-z]/.test(key) || event.code.startsWith("Numpad"));
  return isShifted ? `Shift-${key.toUpperCase()}` : key;
}

function baseOf(event) {
  // Some countries' number pads have a comma there.
  if (event.code === "NumpadDecimal" && event.key.length === 1) return ".";
  if (/^[\x21-\x7e]$/.test(event.key) && !isShiftedDigit(event)) return event.key.toLowerCase();
  if (NAMED.has(event.key)) return event.key;
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
