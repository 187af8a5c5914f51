// Taking a picture away: as SVG and PNG in the colours of paper, its table as CSV.

import { partsOf } from "./reading.js";
import { SVG } from "./style.js";

const PNG_SCALE = 2;
const PAINTS = ["fill", "stroke"];
// A spreadsheet runs text that begins so as a formula; numbers are left as they are.
const FORMULA = /^(?=[=+\-@\t\n\uff1d\uff0b\uff0d\uff20])/;

/** A colour as every program reads it: `color-mix` and `var` are resolved by painting it. */
function plainColour(colour, pen) {
  pen.clearRect(0, 0, 1, 1);
  pen.fillStyle = colour;
  pen.fillRect(0, 0, 1, 1);
  const [red, green, blue, alpha] = pen.getImageData(0, 0, 1, 1).data;
  return alpha === 255 ? `rgb(${red},${green},${blue})` : `rgba(${red},${green},${blue},${(alpha / 255).toFixed(3)})`;
}

/** The picture of a figure as the text of an SVG file that needs no style sheet. */
export function svgText(figure) {
  const svg = figure.querySelector("svg");
  figure.dataset.paper = "";
  const copy = svg.cloneNode(true);
  const pen = Object.assign(document.createElement("canvas"), { width: 1, height: 1 }).getContext("2d", { willReadFrequently: true });
  const seen = new Map();
  const plain = (colour) => seen.get(colour) ?? seen.set(colour, plainColour(colour, pen)).get(colour);
  const [originals, copies] = [svg, copy].map((root) => [root, ...root.querySelectorAll("*")]);
  originals.forEach((original, index) => {
    for (const paint of PAINTS) {
      const said = original.getAttribute(paint);
      if (said === null || said === "none" || said.startsWith("url(")) continue;
      copies[index].setAttribute(paint, plain(getComputedStyle(original)[paint]));
    }
  });
  const ground = document.createElementNS(SVG, "rect");
  for (const side of ["width", "height"]) ground.setAttribute(side, svg.getAttribute(side));
  ground.setAttribute("fill", plain(getComputedStyle(figure).backgroundColor));
  delete figure.dataset.paper;
  copy.querySelectorAll(".chart-tip").forEach((tip) => tip.remove());
  copy.removeAttribute("style");
  const title = document.createElementNS(SVG, "title");
  title.textContent = svg.getAttribute("aria-label");
  copy.prepend(title, ground);
  copy.setAttribute("font-family", "system-ui, sans-serif");
  copy.setAttribute("font-size", "12");
  copy.setAttribute("xmlns", SVG);
  return new XMLSerializer().serializeToString(copy);
}

/** Some rows of a table, or those that are not hidden, as CSV. */
export function csvText(table, given = null) {
  const { headings, rows } = partsOf(table, given);
  const quoted = (cell, isHeading) => {
    const bare = isHeading ? undefined : cell.dataset.value;
    const text = (bare ?? cell.textContent).trim().replace(/\s+/g, " ");
    return `"${(text !== "" && Number.isFinite(Number(text)) ? text : text.replace(FORMULA, "'")).replaceAll('"', '""')}"`;
  };
  const lines = [headings.map((cell) => quoted(cell, true)), ...rows.map((row) => [...row.cells].map((cell) => quoted(cell, false)))];
  return lines.map((line) => `${line.join(",")}\n`).join("");
}

async function pngOf(figure) {
  const { width, height } = figure.querySelector("svg").viewBox.baseVal;
  const image = new Image();
  image.src = `data:image/svg+xml,${encodeURIComponent(svgText(figure))}`;
  await image.decode();
  const canvas = Object.assign(document.createElement("canvas"), { width: width * PNG_SCALE, height: height * PNG_SCALE });
  canvas.getContext("2d").drawImage(image, 0, 0, canvas.width, canvas.height);
  return new Promise((done) => canvas.toBlob(done, "image/png"));
}

function offer(blob, name) {
  const link = document.createElement("a");
  link.href = URL.createObjectURL(blob);
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(link.href), 60_000);
}

/** The buttons that save a figure's picture and the rows drawn (`rowsNow`); their names need no translation. */
export function savingButtons(figure, table, title, rowsNow) {
  const name = title.toLowerCase().replace(/[^\p{L}\p{N}]+/gu, "-").replace(/^-|-$/g, "") || "chart";
  const kinds = {
    SVG: () => new Blob([svgText(figure)], { type: "image/svg+xml" }),
    PNG: () => pngOf(figure),
    CSV: () => new Blob([csvText(table, rowsNow())], { type: "text/csv" }),
  };
  const group = document.createElement("div");
  group.className = "chart-saving";
  for (const [kind, make] of Object.entries(kinds)) {
    const button = Object.assign(document.createElement("button"), { type: "button", textContent: kind });
    button.setAttribute("aria-label", `${kind}: ${title}`);
    button.addEventListener("click", async () => offer(await make(), `${name}.${kind.toLowerCase()}`));
    group.append(button);
  }
  return group;
}
