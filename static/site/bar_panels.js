// The line above a table: its panels, the columns chosen in one, and its forms, which are sent when a field changes.

import { make } from "./table_cells.js";

/** A panel that opens under its button and closes at Escape or a click elsewhere. */
export function panel(title, ...children) {
  return make("details", { className: "bar-panel" }, make("summary", { textContent: title }), make("div", {}, ...children));
}

/** The columns chosen for a table of this name: {key: whether it is shown}. */
export function rememberedColumns(name) {
  try {
    return JSON.parse(localStorage.getItem(`annotator.columns.${name}`)) ?? {};
  } catch {
    return {}; // no storage: every column as the page has it
  }
}

export function rememberColumns(name, chosen) {
  try {
    localStorage.setItem(`annotator.columns.${name}`, JSON.stringify(chosen));
  } catch {
    // Then the choice holds for this page.
  }
}

for (const name of ["click", "keydown", "focusin"]) {
  document.addEventListener(name, (event) => {
    for (const open of document.querySelectorAll("details.bar-panel[open]")) {
      const isInside = open.contains(event.target);
      if (event.key === "Escape" && isInside) open.querySelector("summary").focus();
      if (event.key === "Escape" || (name !== "keydown" && !isInside)) open.open = false;
    }
  });
}

const EDGE = 8;

/** Move an open panel into the window. */
function fit({ target }) {
  if (!target.matches?.("details.bar-panel[open]")) return;
  const box = target.querySelector(":scope > div");
  box.style.translate = "";
  const { left, right } = box.getBoundingClientRect();
  const room = document.documentElement.clientWidth;
  const shift = right > room - EDGE ? Math.max(room - EDGE - right, EDGE - left) : Math.max(EDGE - left, 0);
  if (shift !== 0) box.style.translate = `${shift}px`;
}

document.addEventListener("toggle", fit, true);

// Several boxes are ticked in one go: a panel of a form is sent when it closes.
for (const form of document.querySelectorAll("form[data-at-once]")) {
  form.addEventListener("change", ({ target }) => {
    const open = target.closest(".bar-panel");
    if (open && target.type === "checkbox") open.ontoggle = () => form.requestSubmit();
    else form.requestSubmit();
  });
}
