// The page's own data: the batch that came with it, and its sentences in the reader's language.

function read(id) {
  return JSON.parse(document.getElementById(id)?.textContent ?? "null");
}

export const batch = read("batch");
const sentences = read("words") ?? {};

/** The sentence of this name, with {values} put in. */
export function say(name, values = {}) {
  return sentences[name].replace(/\{(\w+)\}/g, (_, key) => values[key] ?? "");
}

/** An id nobody else has. Not by randomUUID, which browsers know on secure addresses only. */
export function freshId() {
  return Array.from(crypto.getRandomValues(new Uint8Array(16)), (byte) => byte.toString(16).padStart(2, "0")).join("");
}
