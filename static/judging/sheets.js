// The sheets over the page: guidelines, keys, questions. They are popovers, and dialogs in browsers without popovers.

const HAS_POPOVERS = "popover" in HTMLElement.prototype;
const OPEN = HAS_POPOVERS ? "dialog:popover-open, dialog[open]" : "dialog[open]";

/** The sheet or the palette that is open, or null. */
export function openSheet() {
  return document.querySelector(OPEN);
}

/** Let the buttons of sheets work in browsers without popovers. */
export function openSheetsByButtons() {
  if (HAS_POPOVERS) return;
  document.addEventListener("click", (event) => {
    const id = event.target.closest("[popovertarget]")?.getAttribute("popovertarget");
    const sheet = id && document.getElementById(id);
    if (!sheet) return;
    if (sheet.open) sheet.close();
    else sheet.showModal();
  });
}
