// Why a document is on the screen, in one sentence: judged before, deferred before, or to be judged again.

import { batch, say } from "./words.js";

const DEFERRED = `annotator:deferred:${batch.person}`;
const element = (id) => document.getElementById(id);

/** Remember that a document was deferred in this tab, or no longer is. */
export function rememberDeferred(assignment, isDeferred) {
  const others = deferred().filter((one) => one !== assignment);
  sessionStorage.setItem(DEFERRED, JSON.stringify(isDeferred ? [...others, assignment] : others));
}

/**
 * Show why the document is on the screen, and return the sentence. A document that was deferred comes again when no
 * other is left: `left` of them are.
 */
export function paintAbout(one, { isLookingBack, left }) {
  const place = element("about");
  const isNew = !isLookingBack && !one.decision;
  const isDeferred = isNew && deferred().includes(one.assignment);
  const reasons = [
    ...(isNew && one.again ? [say(one.again)] : []),
    ...(isDeferred ? [say(left > 1 ? "only_deferred" : "last_deferred", { count: left })] : []),
  ];
  place.textContent = reasons.join(" ");
  place.hidden = reasons.length === 0;
  return isLookingBack ? element("looking").textContent : place.textContent;
}

/** Show the reason when the server refuses judgements or hands out no more documents, as in a closed collection. */
export function paintHalt({ stopped, refused, acknowledged }, drew) {
  const place = element("halt");
  const reasons = new Set([...refused.map(({ sentence }) => sentence), ...(stopped ? [stopped] : [])]);
  if (reasons.size === 0 && !drew && acknowledged.length === 0) return;
  const words = [...reasons].join(" ");
  place.hidden = words === "";
  // Only when it is another, for it is read out.
  if (place.textContent !== words) place.textContent = words;
}

function deferred() {
  return JSON.parse(sessionStorage.getItem(DEFERRED)) ?? [];
}
