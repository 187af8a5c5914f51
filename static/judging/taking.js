// The sheet for taking a topic along and giving it back.

import { canTake, giveBack, isOffline, take, takenAlong } from "./taken.js";
import { batch, say } from "./words.js";

const element = (id) => document.getElementById(id);

/** Offer it where the browser can do it. */
export function offerToTake(link) {
  if (!canTake) return;
  element("taking-open").hidden = false;
  element("take").disabled = isOffline;
  paint();
  element("taking").addEventListener("toggle", () => paint());
  element("take").addEventListener("click", () => busy(() => takeNow(link)));
  element("give-back").addEventListener("click", () => busy(() => giveBackNow(link)));
}

async function takeNow(link) {
  const { isTaken, sentence } = await take(link, (done, total) => tell(say("taking", { done, total })));
  if (isTaken) paint();
  else tell(sentence ?? say("not_taken"));
}

async function giveBackNow(link) {
  const isReturned = await giveBack(link);
  batch.along = isReturned ? null : batch.along;
  paint();
  tell(say(isReturned ? "given_back" : "not_given_back"));
}

async function busy(act) {
  element("take").disabled = element("give-back").disabled = true;
  await act();
  element("take").disabled = isOffline;
  element("give-back").disabled = false;
}

function paint() {
  const here = takenAlong();
  const held = here ?? batch.along;
  element("taking-open").lastElementChild.textContent = here ? say("offline_count", { count: here.documents }) : say("offline");
  element("give-back").hidden = !held;
  if (!held) return tell("");
  const until = new Date(held.until).toLocaleString(document.documentElement.lang, { dateStyle: "medium", timeStyle: "short" });
  return tell(say(here ? "taken" : "taken_elsewhere", { count: held.documents, until }));
}

function tell(words) {
  element("taking-state").textContent = words;
}
