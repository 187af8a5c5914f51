// “Another reason” is said in the note: the note opens first, and is stored with the reason.

const form = document.getElementById("grading");
const note = document.getElementById("note");
const panel = note.closest("details");
const confirm = document.getElementById("confirm-other");
const other = form.querySelector(".reasons [value=other]");

/** Ask for a note before “another reason” is stored without one. */
export function askForOtherReason() {
  form.addEventListener("click", onClick, { capture: true });
  form.addEventListener("submit", close);
  panel.addEventListener("toggle", () => panel.open || close());
  note.addEventListener("keydown", (event) => {
    if (confirm.hidden || event.key !== "Enter" || event.shiftKey || event.isComposing) return;
    event.preventDefault();
    confirm.querySelector("button").click();
  });
}

function onClick(event) {
  const button = event.target.closest("button, a, summary");
  if (button?.value === "other" && note.value.trim() === "") {
    event.preventDefault();
    event.stopImmediatePropagation();
    other.closest("details").open = false;
    panel.open = true;
    confirm.hidden = false;
    note.focus();
  } else if (button && button.name !== "cannot_judge") close();
}

function close() {
  confirm.hidden = true;
}
