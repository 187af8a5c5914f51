// What is written on a document and not stored yet, its note and its passages: kept for undo and for a reload.

const keyOf = ({ assignment }) => `draft:${assignment}`;
const textOf = ({ note, evidence }) => JSON.stringify([note, evidence.map(({ start, end }) => [start, end])]);
const storedOn = ({ decision }) => ({ note: decision?.note ?? "", evidence: decision?.evidence ?? [] });

/** What stands on a document, stored or not: { note, evidence }. */
export function writtenOn(one) {
  return JSON.parse(sessionStorage.getItem(keyOf(one))) ?? storedOn(one);
}

/** Whether the judge has written something on a document since it was stored. */
export function isRewritten(one) {
  return textOf(writtenOn(one)) !== textOf(storedOn(one));
}

export function keepDraft(one, { note, evidence }) {
  sessionStorage.setItem(keyOf(one), JSON.stringify({ note, evidence }));
}

export function dropDraft(one) {
  sessionStorage.removeItem(keyOf(one));
}
