// The strip of the last judgements: each with its grade, and a press looks back at it.

import { decisionWords } from "./screen.js";
import { say } from "./words.js";

const MOST_SHOWN = 10;
const place = document.getElementById("recent");

/** Show the end of the trail; `shown` is the assignment on the screen. */
export function paintRecent(trail, shown) {
  const judged = trail.filter((one) => one.decision).slice(-MOST_SHOWN);
  place.hidden = judged.length === 0;
  place.replaceChildren(...judged.map((one) => itemOf(one, one.assignment === shown)));
}

/** Listen to presses; `lookAt` gets the assignment. */
export function listenToRecent(lookAt) {
  place.addEventListener("click", ({ target }) => {
    const button = target.closest("button");
    if (button) lookAt(Number(button.value));
  });
}

function itemOf({ assignment, title, docno, decision }, isShown) {
  const button = document.createElement("button");
  const name = say("recent_one", { grade: decisionWords(decision), title: title || docno });
  button.type = "button";
  button.value = String(assignment);
  button.title = name;
  button.setAttribute("aria-label", name);
  button.textContent = decision.cannot_judge ? "×" : String(decision.grade);
  if (isShown) button.setAttribute("aria-current", "true");
  const item = document.createElement("li");
  item.append(button);
  return item;
}
