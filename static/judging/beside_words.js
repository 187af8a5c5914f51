// The sentences of the panels beside the document, and numbers and times in the reader's language.

const sentences = JSON.parse(document.getElementById("beside-words")?.textContent ?? "{}");
const language = document.documentElement.lang || "en";
const MINUTES = 60;

/** The sentence of this name, with {values} put in. */
export function say(name, values = {}) {
  return sentences[name].replace(/\{(\w+)\}/g, (_, key) => values[key] ?? "");
}

export const number = (value, digits = 0) => value.toLocaleString(language, { maximumFractionDigits: digits, minimumFractionDigits: digits });
export const percent = (share) => share.toLocaleString(language, { style: "percent" });
export const clockTime = (date) => date.toLocaleTimeString(language, { hour: "2-digit", minute: "2-digit" });

/** A duration in minutes, at least one. */
export function duration(seconds) {
  const all = Math.max(Math.round(seconds / 60), 1);
  const hours = Math.floor(all / MINUTES);
  return hours === 0 ? say("minutes", { minutes: number(all) }) : say("hours", { hours: number(hours), minutes: all - hours * MINUTES });
}

/** An element with text and further elements in it. */
export function made(tag, { text, ...attributes } = {}, ...children) {
  const element = document.createElement(tag);
  if (text !== undefined) element.textContent = text;
  for (const [name, value] of Object.entries(attributes)) element.setAttribute(name, value);
  element.append(...children);
  return element;
}
