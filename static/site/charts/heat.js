// Heat maps: a matrix of numbers as colours, with the numbers written in the cells where wanted.

import { ROW_HEIGHT, hoverMark, numeric } from "./axes.js";
import { hatchings, shortened, widthOf } from "./style.js";

const { Plot, d3 } = globalThis;
const DARK_ENOUGH = 0.5; // from here on, numbers are written in the colour of the page
const LEGEND = 26;
const STEPS = 5;
const NAMED_CELL = 13; // the narrowest column whose name fits; of narrower ones, only some are named
const LEAST_CELL = 3;

/** Where a value lies: the share of its colour, and whether it is below the middle. */
function scaleOf(read) {
  const values = read.cells.values.flat().filter((value) => value !== null);
  const [least, most] = [read.least ?? d3.min(values) ?? 0, read.most ?? d3.max(values) ?? 1];
  const middle = read.middle ?? Math.min(least, most);
  const reach = Math.max(most - middle, middle - least) || 1;
  const at = (value) => ({ share: Math.min(Math.abs(value - middle) / reach, 1), below: value < middle });
  const ends = read.middle === null ? [least, most] : [middle - reach, middle + reach];
  return { at, ends };
}

const colour = ({ share, below }) =>
  `color-mix(in srgb, var(--chart-${below ? "below" : "above"}) ${Math.round(share * 100)}%, var(--chart-ground))`;
const ink = ({ share }) => (share > DARK_ENOUGH ? "var(--chart-ground)" : "var(--chart-ink)");

export function heat(read, width, id) {
  const { columns, rows, values, texts, links } = read.cells;
  const scale = scaleOf(read);
  const widest = Math.min(Math.max(...rows.map((name) => widthOf(name))) + 2, width * 0.4);
  const numbersWidth = read.numbers ? Math.max(...texts.flat().map((text) => widthOf(text, 11))) + 6 : LEAST_CELL;
  const cell = Math.max((width - widest - 24) / columns.length, numbersWidth);
  const [wide, high] = [Math.min(cell, 90), read.numbers ? 24 : ROW_HEIGHT - 4];
  const foot = headingsOf(columns, wide);
  const cells = values.flatMap((row, y) => row.map((value, x) => ({
    ...{ x, y, value, number: texts[y][x], text: `${rows[y]} · ${columns[x]}\n${texts[y][x] || "–"}`, link: links[y][x] },
    ...(value === null ? {} : scale.at(value)),
  })));
  const full = cells.filter((one) => one.value !== null);
  const hatching = hatchings(id);
  const [top, left] = [(read.plain ? 4 : LEGEND) + foot.height, widest + 14];
  return {
    width: left + columns.length * wide + 10,
    height: top + rows.length * high + 8,
    marginTop: top, marginLeft: left, marginRight: 10, marginBottom: 8,
    x: { type: "band", domain: d3.range(columns.length), padding: 0, axis: null },
    y: { type: "band", domain: d3.range(rows.length), padding: 0, label: null, tickSize: 0, tickFormat: (y) => shortened(rows[y], widest) },
    marks: [
      hatching.definitions([1], () => "var(--chart-below)"),
      Plot.cell(full, { x: "x", y: "y", inset: wide < NAMED_CELL ? 0 : 0.5, fill: { value: colour, scale: null }, stroke: "var(--chart-line)", strokeWidth: wide < NAMED_CELL ? 0 : 0.5 }),
      ...(read.numbers
        ? [Plot.text(full, { x: "x", y: "y", text: "number", fontSize: 11, fill: { value: ink, scale: null } })]
        : (wide < NAMED_CELL ? [] : [belowMark(full)])),
      foot.mark,
      ...(read.plain ? [] : [legend(scale, left)]),
      hoverMark(cells),
    ],
  };
}

/** A stroke through every cell below the middle, so that both sides differ without colour. */
function belowMark(full) {
  const below = full.filter((one) => one.below && one.share > 0.05);
  return Plot.text(below, { x: "x", y: "y", text: () => "−", fontSize: 11, fill: { value: ink, scale: null } });
}

/** The headings above the columns, upright where they are wider than a column. */
function headingsOf(columns, wide) {
  const upright = Math.max(...columns.map((name) => widthOf(name, 11))) > wide - 2;
  const short = columns.map((name) => (upright ? shortened(name, 150, 11) : name));
  const height = upright ? Math.max(...short.map((name) => widthOf(name, 11))) + 10 : 22;
  const data = d3.range(0, columns.length, Math.ceil(NAMED_CELL / wide));
  const side = upright ? { rotate: -90, textAnchor: "start", dy: -5 } : { dy: -12 };
  const mark = Plot.text(data, { x: (x) => x, text: (x) => short[x], frameAnchor: "top", fontSize: 11, fill: "currentColor", ...side });
  return { height, mark };
}

/** The colours of five values from the one end to the other. */
function legend({ at, ends }, left) {
  const format = numeric();
  const values = d3.range(STEPS).map((step) => ends[0] + ((ends[1] - ends[0]) * step) / (STEPS - 1));
  return () => {
    const group = d3.create("svg:g").attr("aria-hidden", "true").attr("font-size", 11).attr("transform", `translate(${left},2)`);
    values.forEach((value, step) => {
      group.append("rect").attr("x", step * 52).attr("width", 52).attr("height", 16)
        .attr("fill", colour(at(value))).attr("stroke", "var(--chart-line)");
      group.append("text").attr("x", step * 52 + 26).attr("y", 12).attr("fill", ink(at(value))).text(format(Number(value.toPrecision(2))));
    });
    return group.node();
  };
}
