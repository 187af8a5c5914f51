// The palette on the judging screen has the screen's commands, too: whatever a key presses, by its name.

import { say } from "./words.js";

/** Add the commands to the targets that the palette finds. */
export function offerCommands() {
  document.getElementById("palette").addEventListener("palette-find", ({ detail: { text, targets } }) => {
    const wanted = text.toLocaleLowerCase();
    for (const { element, ...command } of commands()) {
      // Enter in the empty field must not grade the document.
      if (wanted === "" && element.matches("button[name]")) continue;
      if (command.name.toLocaleLowerCase().includes(wanted)) targets.push(command);
    }
  });
}

function commands() {
  return [...document.querySelectorAll("[data-key]")].filter(isUsable).map((element) => ({
    element,
    name: nameOf(element),
    about: element.querySelector("kbd")?.textContent ?? element.dataset.key,
    kind: say("command"),
    run: () => element.click(),
  }));
}

function nameOf(element) {
  if (element.ariaLabel) return element.ariaLabel;
  const copy = element.cloneNode(true);
  for (const beside of copy.querySelectorAll("kbd, .badge")) beside.remove();
  return copy.textContent.trim();
}

function isUsable(element) {
  return !element.matches(":disabled, fieldset:disabled *") && element.checkVisibility() && nameOf(element) !== "";
}
