// How series differ, in colour and without it; hatching, legends and the width of texts.

const { d3 } = globalThis;
export const SVG = "http://www.w3.org/2000/svg";
export const FONT_SIZE = 12;
const COLOURS = 6;
const DASHES = ["none", "7 4", "2 3", "9 3 2 3", "14 4", "4 4"];
const SYMBOLS = [d3.symbolCircle, d3.symbolSquare, d3.symbolTriangle, d3.symbolDiamond, d3.symbolTimes, d3.symbolStar, d3.symbolWye];
const STROKES = ["M-2 2 L2 -2 M0 8 L8 0 M6 10 L10 6", "M-2 6 L2 10 M0 0 L8 8 M6 -2 L10 2", "M0 4 L8 4 M4 0 L4 8", "M4 2 L4 6"];
const pen = document.createElement("canvas").getContext("2d");

export const colourOf = (index) => `var(--chart-${(index % COLOURS) + 1})`;
export const dashOf = (index) => DASHES[index % DASHES.length];
export const symbolOf = (index) => SYMBOLS[index % SYMBOLS.length];

/** The width of a text in pixels. */
export function widthOf(text, size = FONT_SIZE) {
  pen.font = `${size}px system-ui, sans-serif`;
  return pen.measureText(text).width;
}

/** A text shortened in its middle to a width. */
export function shortened(text, width, size = FONT_SIZE) {
  if (widthOf(text, size) <= width) return text;
  let kept = text.length - 1;
  const cut = () => `${text.slice(0, Math.ceil(kept / 2))}…${text.slice(text.length - Math.floor(kept / 2))}`;
  while (kept > 2 && widthOf(cut(), size) > width) kept -= 1;
  return cut();
}

/** Fillings of bars by series: full, then hatched one way, the other way, crossed, dotted; `marks` holds their definitions. */
export function hatchings(id) {
  const name = (index) => `${id}-hatch-${index}`;
  const filling = (index) => (index % 5 === 0 ? colourOf(index) : `url(#${name(index)})`);
  const definitions = (indices, stroke = colourOf) => () => {
    const defs = d3.create("svg:defs");
    for (const index of indices.filter((one) => one % 5 !== 0)) {
      const tile = defs.append("pattern").attr("id", name(index)).attr("patternUnits", "userSpaceOnUse");
      tile.attr("width", 8).attr("height", 8);
      tile.append("rect").attr("width", 8).attr("height", 8).attr("fill", "var(--chart-ground)");
      tile.append("path").attr("d", STROKES[(index % 5) - 1]).attr("stroke", stroke(index)).attr("stroke-width", 2);
    }
    return defs.node();
  };
  return { filling, definitions };
}

/** Where each entry of a legend stands, in lines no wider than `width`. */
export function legendOf(names, width) {
  const entries = [];
  let [x, line] = [0, 0];
  names.forEach((text, index) => {
    const needed = 28 + widthOf(text) + 16;
    if (x > 0 && x + needed > width) [x, line] = [0, line + 1];
    entries.push({ text, index, x, y: line * 18 + 9 });
    x += needed;
  });
  return { entries, height: names.length > 0 ? (line + 1) * 18 + 6 : 0 };
}

/** A mark that draws a legend; `sample` draws the entry's sign into a group of 24 by 12 pixels. */
export function legendMark(legend, sample) {
  return () => {
    const group = d3.create("svg:g").attr("aria-hidden", "true").attr("text-anchor", "start");
    for (const entry of legend.entries) {
      const place = group.append("g").attr("transform", `translate(${entry.x},${entry.y})`);
      sample(place, entry.index);
      place.append("text").attr("x", 28).attr("y", 4).attr("fill", "currentColor").text(entry.text);
    }
    return group.node();
  };
}

/** Samples for legends: a line with its symbol, a symbol, a filled box. */
export const samples = {
  line(place, index) {
    place.append("path").attr("d", "M0 0H24").attr("stroke", colourOf(index)).attr("stroke-width", 2)
      .attr("stroke-dasharray", dashOf(index));
    samples.symbol(place, index, "var(--chart-ground)");
  },
  symbol(place, index, fill = colourOf(index)) {
    place.append("path").attr("transform", "translate(12,0)").attr("d", d3.symbol(symbolOf(index), 40)())
      .attr("fill", fill).attr("stroke", colourOf(index)).attr("stroke-width", 1.75);
  },
  box: (filling) => (place, index) =>
    place.append("rect").attr("y", -6).attr("width", 22).attr("height", 12)
      .attr("fill", filling(index)).attr("stroke", colourOf(index)),
};
