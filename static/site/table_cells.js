// The cells of a table: what they are sorted by, how they are shortened, and how they leave the page as TSV or CSV.

const LONGEST = 26; // letters of a name before it is shortened
const TAIL = 9;
const FOUND = /[-+−]?\d[\d,]*(?:\.\d+)?(?:e[-+]?\d+)?/i;
export const collator = new Intl.Collator(document.documentElement.lang, { numeric: true, sensitivity: "base" });

export const fill = (text, values) => (text ?? "").replace(/\{(\w+)\}/g, (_, name) => values[name]);
export const textOf = (element) => element.textContent.trim().replace(/\s+/g, " ");
export const make = (name, properties, ...children) => {
  const made = Object.assign(document.createElement(name), properties);
  made.append(...children);
  return made;
};

/** What of a cell is taken away; times in UTC, however they are shown. */
export const namedText = (cell) => cell.dataset.value ?? cell.dataset.name ?? textInUtc(cell);

function textInUtc(cell) {
  if (!cell.querySelector("time")) return textOf(cell);
  const copy = cell.cloneNode(true);
  for (const time of copy.querySelectorAll("time")) time.textContent = time.dateTime;
  return textOf(copy);
}

/** What a cell is sorted by: a number, null without one, or a text. */
export function valueOf(cell, isNumber) {
  const written = cell.dataset.value ?? cell.dataset.name ?? cell.querySelector("time")?.dateTime ?? cell.querySelector("progress")?.position;
  const text = String(written ?? textOf(cell));
  if (!isNumber) return text;
  const found = FOUND.exec(text);
  return found && Number(found[0].replaceAll(",", "").replace("−", "-"));
}

export function compare(first, second) {
  return typeof first === "number" ? first - second : collator.compare(first, second);
}

/** Keep the beginning and the end of a long name in view; its text stays whole. */
export function shorten(cell) {
  const holder = cell.querySelector("a, label") ?? cell;
  const text = [...holder.childNodes].find((node) => node.nodeType === Node.TEXT_NODE && node.data.trim() !== "");
  const name = text?.data.trim() ?? "";
  if (name.length <= LONGEST) return;
  const parts = [name.slice(0, -TAIL), name.slice(-TAIL)].map((part) => make("span", { textContent: part }));
  text.replaceWith(make("span", { className: "long", title: name }, ...parts));
  if (holder !== cell) holder.setAttribute("aria-label", name);
}

export const asTsv = (rows) => rows.map((row) => row.map((cell) => cell.replaceAll("\t", " ")).join("\t")).join("\n");

function quoted(cell) {
  const safe = /^[=+@\t\r-]/.test(cell) && !Number.isFinite(Number(cell)) ? `'${cell}` : cell; // no formulas
  return /[",\n]/.test(safe) ? `"${safe.replaceAll('"', '""')}"` : safe;
}

export const asCsv = (rows) => rows.map((row) => `${row.map(quoted).join(",")}\r\n`).join("");

export async function copyText(text) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    const area = document.body.appendChild(make("textarea", { value: text })); // without https
    area.select();
    document.execCommand("copy");
    area.remove();
  }
}

export function saveFile(name, text) {
  const href = URL.createObjectURL(new Blob([text], { type: "text/csv" }));
  make("a", { href, download: name }).click();
  setTimeout(() => URL.revokeObjectURL(href), 1000);
}
