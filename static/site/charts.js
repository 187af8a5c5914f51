// Draws tables as pictures, with Observable Plot. The table stays: it is the picture's text form, and all there is
// without script.
//
//   <table data-chart="line" data-across="Documents" data-up="Kappa" data-least="0" data-most="1">
//     <caption>Kappa as judging went on</caption>
//     <thead><tr><th data-column="across">…</th><th data-column="up">ana, ben</th><th data-column="low">…</th> …
//     <tbody><tr><td data-value="1200">1,200</td><td data-value="0.4213">0.421</td> …
//
// On the table
//   data-chart   line: one line a series; across are numbers, or else names in the order of rows
//                bar: one bar a series and row; across are names
//                points: one point a series and row, for values with a range; across are names
//                scatter: one point a row and series; across are numbers
//                heat: a matrix, one row of cells a row; the row's first th names it
//                slope: one line a row over the series, which are in the order of the columns
//                box: one box a row, from the columns least, first (quartile), median, third (quartile) and most
//   data-lies    present: names down the side, values across; as high as it has rows (bar, points and box)
//   data-across, data-up   names of the axes; else the heading of the column across, and none
//   data-least, data-most  bounds of the values' axis or colours; the data may go beyond those of an axis
//   data-reference, data-reference-name   a line at a value of the values' axis, and its name
//   data-marked  a number across that is marked (line)
//   data-stacked present: bars of one row on top of each other
//   data-signed  present: negative bars in a second colour
//   data-diagonal present: the line on which both numbers are equal (scatter)
//   data-middle  the number in the middle of two colours (heat); else one colour from the least to the most
//   data-numbers present: the cells' texts in the cells (heat)
//   data-link    the address that a click on a cell opens, with {row} and {column} for their names (heat)
//   data-plain   present: without the key of colours (heat)
//   data-order   rank: 1 is on top (slope)
//   data-title   name of the picture; else the caption
// On the headings of columns: data-column
//   across       where a row stands: the first column, when none says so
//   up           a series of values, named by the heading
//   low, high    ends of the range of the series to their left: a band beside a line, else whiskers
//   name         who a point is, when across is a number
//   hollow       other than 0: the row's points are hollow (points and scatter)
//   group        colour and symbol by this text (points and scatter)
//   cell         a column of the matrix (heat)
//   least, first, median, third, most   see box
// On headings of series of a scatter: data-join: before (or after) joins its points by a line that goes across before
//   it goes up or down (or after), for rows in the order of their places
// On cells and headings: data-value, the bare number where the text has separators, signs or words; without a number
//   there is no point, and a line goes straight on to the next. data-name, or the title of an element within: the full
//   name where the text is shortened.
//
// `{{ chart_assets() }}` of templates/site/_charts.html, in the block `head`, loads everything; the picture stands before
// the table, before the region it scrolls in, or before the <details> that folds it. Rows that are hidden are not drawn,
// but for those on another page of the table (data-elsewhere); a `table:changed` event of the table draws again, the rows
// of its `detail.rows` if it has them. Colours are the variables of charts.css, for light, dark, print and forced
// colours; series differ by dash, symbol and hatching too. A click follows the first link of the nearest row
// (heat: of the nearest cell); with Ctrl or Cmd in a new tab.

import { heat } from "./charts/heat.js";
import { bar, box, points } from "./charts/named.js";
import { line, scatter, slope } from "./charts/numeric.js";
import { isEmpty, readTable } from "./charts/reading.js";
import { savingButtons } from "./charts/saving.js";
import { FONT_SIZE } from "./charts/style.js";

const { Plot } = globalThis;
const KINDS = { line, bar, points, scatter, heat, slope, box };
const NARROWEST = 320; // pixels; a narrower page scrolls the picture
let drawn = 0;

/** The picture of a description, as an SVG element of a width. */
export function picture(read, width) {
  drawn += 1;
  const { after, ...options } = KINDS[read.kind](read, Math.max(width, NARROWEST), `chart-${drawn}`);
  const svg = Plot.plot({ ...options, style: { fontSize: `${FONT_SIZE}px`, fontFamily: "inherit" } });
  // Plot's own rules are in charts.css: the Content-Security-Policy does not apply style elements.
  svg.querySelectorAll("style").forEach((style) => style.remove());
  svg.querySelectorAll("[aria-label]").forEach((part) => {
    part.dataset.mark = part.getAttribute("aria-label"); // an image has no named parts
    part.removeAttribute("aria-label");
  });
  svg.setAttribute("role", "img");
  svg.setAttribute("aria-label", read.title);
  after?.(svg);
  return svg;
}

/** Let the nearest point's link be followed by a click. */
function followLinks(svg) {
  svg.addEventListener("input", () => svg.classList.toggle("has-link", Boolean(svg.value?.link)));
  svg.addEventListener("click", (event) => {
    const link = svg.value?.link;
    if (!link) return;
    if (event.ctrlKey || event.metaKey) open(link, "_blank", "noopener");
    else location.assign(link);
  });
}

/** Draw one table, again whenever its rows or the width change. */
export function draw(table) {
  if (isEmpty(readTable(table))) return null;
  let rows = null; // those that match a filter, of all pages of the table
  const figure = document.createElement("div");
  figure.className = "chart";
  const head = document.createElement("div");
  head.className = "chart-head";
  const title = document.createElement("strong");
  title.textContent = readTable(table).title;
  const region = document.createElement("div");
  region.className = "chart-region";
  head.append(title, savingButtons(figure, table, title.textContent, () => rows));
  figure.append(head, region);
  const place = table.closest("details") ?? table.closest(".scrolling") ?? table;
  const tools = place.previousElementSibling?.matches(".table-bar") ? place.previousElementSibling : place;
  tools.before(figure);
  let width = 0;
  const redraw = () => {
    const read = readTable(table, rows);
    figure.hidden = isEmpty(read);
    width = region.clientWidth;
    if (figure.hidden || width === 0) return;
    const svg = picture(read, width);
    if (table.id) svg.setAttribute("aria-describedby", table.id);
    followLinks(svg);
    region.replaceChildren(svg);
    const isWider = svg.viewBox.baseVal.width > width + 1;
    if (isWider) region.tabIndex = 0;
    else region.removeAttribute("tabindex");
  };
  redraw();
  table.addEventListener("table:changed", (event) => {
    rows = event.detail?.rows ?? null;
    redraw();
  });
  new ResizeObserver(() => region.clientWidth !== width && redraw()).observe(region);
  return figure;
}

for (const table of document.querySelectorAll("table[data-chart]")) draw(table);
