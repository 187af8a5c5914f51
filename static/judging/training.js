// The training by single keys. Without this file each document is a plain form.

const keyed = new Map([...document.querySelectorAll("[data-key]")].map((element) => [element.dataset.key, element]));
let pressed = false;

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || event.repeat || event.isComposing || pressed) return;
  if (event.target.closest("input, textarea, select, a, button, summary") && event.key === "Enter") return;
  const element = keyed.get(event.key);
  if (!element) return;
  event.preventDefault();
  pressed = true;
  element.click();
}

document.addEventListener("keydown", onKey);
// The browser's back button may bring this very page again.
addEventListener("pageshow", () => (pressed = false));
