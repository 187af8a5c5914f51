// What is written on a document and not stored yet, its note and its passages: kept in this browser until it is judged.

import { batch } from "./words.js";

const PREFIX = "draft:";
const DAYS_KEPT = 30;
const A_DAY = 24 * 60 * 60 * 1000;

// By the document and not by its assignment, whose number may be of another document after a restore.
const keyOf = ({ docno }) => `${PREFIX}${batch.person}:${batch.urls.page}:${docno}`;
const textOf = ({ note, evidence }) => JSON.stringify([note, evidence.map(({ start, end }) => [start, end])]);
const storedOn = ({ decision }) => ({ note: decision?.note ?? "", evidence: decision?.evidence ?? [] });

/** The note and passages of a document, stored or not: { note, evidence }. */
export function writtenOn(one) {
  return read(keyOf(one)) ?? storedOn(one);
}

/** Whether the judge has written something on a document since it was stored. */
export function isRewritten(one) {
  return textOf(writtenOn(one)) !== textOf(storedOn(one));
}

export function keepDraft(one, { note, evidence }) {
  localStorage.setItem(keyOf(one), JSON.stringify({ note, evidence, at: Date.now() }));
}

export function dropDraft(one) {
  localStorage.removeItem(keyOf(one));
}

/** Remove drafts that nobody has come back to. */
export function dropOldDrafts() {
  for (const key of Object.keys(localStorage)) {
    if (key.startsWith(PREFIX) && !((read(key)?.at ?? 0) > Date.now() - DAYS_KEPT * A_DAY)) localStorage.removeItem(key);
  }
}

function read(key) {
  return JSON.parse(localStorage.getItem(key));
}
