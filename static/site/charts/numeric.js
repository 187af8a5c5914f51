// Pictures of lines and of points between two numbers: lines with bands, scatter, and slopes of ranks.

import { hoverMark, namedFrame, numericFrame, guideMarks, seriesValues } from "./axes.js";
import { colourOf, dashOf, legendMark, samples, shortened, symbolOf, widthOf } from "./style.js";

const { Plot, d3 } = globalThis;
const MOST_SYMBOLS = 12; // on one line, more would hide it
const CURVES = { before: "step-after", after: "step-before" };
const SLOPE_ROW = 13;
const STOP_WIDTH = 70; // from one place of a slope graph to the next, at least

/** The points of a series with a value: a line goes straight on over those without. */
function pointsOf(read, one, isNumeric) {
  const at = (place) => (isNumeric ? read.across[place] : place);
  return one.values
    .map((value, place) => ({
      ...{ x: at(place), y: value, low: one.low?.[place] ?? null, high: one.high?.[place] ?? null, place },
      text: [[read.names?.[place], read.places[place]].filter(Boolean).join(" · "), `${one.name}: ${one.texts[place]}`].join("\n"),
      link: read.links[place],
    }))
    .filter((point) => point.x !== null && point.y !== null);
}

export function line(read, width) {
  const isNumeric = read.across.every((number) => number !== null);
  const legend = read.series.length > 1 ? read.series.map((one) => one.name) : [];
  const standing = { ...read, lies: false };
  const frame = isNumeric
    ? numericFrame(read, width, { across: read.across, up: seriesValues(read), legend })
    : namedFrame(standing, width, { values: seriesValues(read), legend });
  const marks = read.series.flatMap((one, index) => {
    const points = pointsOf(read, one, isNumeric);
    const every = Math.ceil(points.length / MOST_SYMBOLS);
    const banded = points.filter((point) => point.low !== null && point.high !== null);
    const colour = colourOf(index);
    return [
      Plot.areaY(banded, { x: "x", y1: "low", y2: "high", fill: colour, fillOpacity: 0.15 }),
      Plot.lineY(points, { x: "x", y: "y", stroke: colour, strokeWidth: 2, strokeDasharray: dashOf(index) }),
      Plot.dot(points.filter((_, place) => place % every === 0), {
        x: "x", y: "y", r: 3.5, symbol: symbolOf(index), stroke: colour, fill: "var(--chart-ground)", strokeWidth: 1.75,
      }),
    ];
  });
  const marked = isNumeric && read.marked !== null ? markOf(read) : [];
  const hover = hoverMark(read.series.flatMap((one) => pointsOf(read, one, isNumeric)));
  return { ...frame.options, marks: [...guideMarks(standing), ...marks, ...marked, legendMark(frame.legend, samples.line), hover] };
}

/** The marked number across, and each line's point there. */
function markOf(read) {
  const points = read.series.flatMap((one) => pointsOf(read, one, true)).filter((point) => point.x === read.marked);
  return [
    Plot.ruleX([read.marked], { stroke: "var(--chart-ink)", strokeDasharray: "1 3" }),
    Plot.dot(points, { x: "x", y: "y", r: 5, fill: "var(--chart-ink)" }),
  ];
}

export function scatter(read, width) {
  const groups = read.groups && [...new Set(read.groups)];
  const legend = groups ?? (read.series.length > 1 ? read.series.map((one) => one.name) : []);
  const all = read.series.map((one) => pointsOf(read, one, true));
  const frame = numericFrame(read, width, { across: read.across, up: seriesValues(read), legend });
  const marks = all.flatMap((points, index) => {
    const look = (point) => (groups ? groups.indexOf(read.groups[point.place]) : index);
    const join = read.series[index].join;
    const joined = Plot.line(points, { x: "x", y: "y", stroke: colourOf(index), strokeWidth: 2, curve: CURVES[join] });
    const isFull = (point) => !(read.hollow?.[point.place] ?? false);
    return [
      ...(join === null ? [] : [joined]),
      Plot.dot(points, {
        x: "x", y: "y", r: 4.5, strokeWidth: 1.75,
        symbol: { value: (point) => symbolOf(look(point)), scale: null },
        stroke: { value: (point) => colourOf(look(point)), scale: null },
        fill: { value: (point) => (isFull(point) ? colourOf(look(point)) : "var(--chart-ground)"), scale: null },
        fillOpacity: 0.8,
      }),
    ];
  });
  const points = all.flat();
  const diagonal = read.diagonal ? [diagonalMark(frame.options, points)] : [];
  const key = legendMark(frame.legend, samples.symbol);
  const options = { ...frame.options, marks: [...guideMarks({ ...read, lies: false }), ...diagonal, ...marks, key, hoverMark(points)] };
  return { ...options, after: (svg) => nameWhereFree(svg, read, points) };
}

/** The line on which both numbers are equal. */
function diagonalMark({ x, y }, points) {
  const [least, most] = d3.extent([...points.map((point) => point.x), ...points.map((point) => point.y), ...x.domain, ...y.domain]);
  x.domain = y.domain = d3.scaleLinear([least, most], [0, 1]).nice().domain();
  const ends = x.domain.map((end) => ({ x: end, y: end }));
  return Plot.line(ends, { x: "x", y: "y", stroke: "var(--chart-ink)", strokeDasharray: "5 3" });
}

/** Write the names of points beside them, those that meet no other point or name. */
function nameWhereFree(svg, read, points) {
  if (!read.names) return;
  const [x, y] = [svg.scale("x"), svg.scale("y")];
  const at = points.map((point) => ({ point, cx: x.apply(point.x), cy: y.apply(point.y) }));
  const taken = at.map(({ cx, cy }) => [cx - 5, cy - 5, cx + 5, cy + 5]);
  const meets = (a) => taken.some((b) => a[0] < b[2] && b[0] < a[2] && a[1] < b[3] && b[1] < a[3]);
  const isInside = ([left, , right]) => left >= x.range[0] && right <= Number(svg.getAttribute("width"));
  const group = textsIn(svg, 11);
  for (const { point, cx, cy } of at) {
    const name = read.names[point.place];
    const length = widthOf(name, 11);
    const beside = [[cx + 7, -8], [cx - 7 - length, -8], [cx + 8, 0], [cx - 8 - length, 0], [cx + 7, 9], [cx - 7 - length, 9]];
    const rooms = beside.map(([left, off]) => [left, cy + off - 6, left + length, cy + off + 6]);
    const room = rooms.find((one) => isInside(one) && !meets(one));
    if (!room) continue;
    taken.push(room);
    group.append("text").attr("x", room[0]).attr("y", room[3] - 2).attr("text-anchor", "start").text(name);
  }
}

const textsIn = (svg, size) =>
  d3.select(svg).append("g").attr("aria-hidden", "true").attr("font-size", size).attr("fill", "currentColor");

export function slope(read, width) {
  const stops = read.series.map((one) => one.name);
  const names = read.names ?? read.places;
  const widest = Math.min(Math.max(...names.map((name) => widthOf(name, 10))) + 4, width * 0.36);
  const lines = names.map((name, place) => {
    const values = read.series.map((one) => one.values[place]);
    const [first, last] = [values.at(0), values.at(-1)];
    const rise = first === null || last === null ? 0 : Math.sign(read.ranked ? first - last : last - first);
    const text = [name, ...read.series.map((one) => `${one.name}: ${one.texts[place]}`)].join("\n");
    return { name, values, rise, text, link: read.links[place] };
  });
  const points = lines.flatMap((one) => one.values.map((y, x) => ({ ...one, x, y })).filter((point) => point.y !== null));
  const looks = [
    { rise: 0, stroke: "var(--chart-quiet)", strokeDasharray: "none", strokeWidth: 1 },
    { rise: 1, stroke: colourOf(0), strokeDasharray: "none", strokeWidth: 2 },
    { rise: -1, stroke: colourOf(1), strokeDasharray: "6 3", strokeWidth: 1.5 },
  ];
  const marks = looks.flatMap(({ rise, ...look }) => {
    const mine = points.filter((point) => point.rise === rise);
    return [Plot.line(mine, { x: "x", y: "y", z: "name", ...look }), Plot.dot(mine, { x: "x", y: "y", r: 2, fill: look.stroke })];
  });
  const wide = Math.max(width, 2 * widest + 32 + (stops.length - 1) * STOP_WIDTH);
  const between = (wide - 2 * widest - 32) / Math.max(stops.length - 1, 1);
  return {
    width: wide, height: 60 + Math.max(lines.length * SLOPE_ROW, 160),
    marginTop: 40, marginBottom: 20, marginLeft: widest + 16, marginRight: widest + 16,
    x: { type: "point", domain: stops.map((_, x) => x), axis: "top", label: null, tickSize: 0, padding: 0, 
      tickFormat: (x) => shortened(stops[x], between) },
    y: { reverse: read.ranked, axis: null, inset: 6 },
    marks: [...marks, hoverMark(points)],
    after: (svg) => {
      nameEnds(svg, points.filter((point) => point.x === 0), { anchor: "end", off: -7, widest });
      nameEnds(svg, points.filter((point) => point.x === stops.length - 1), { anchor: "start", off: 7, widest });
    },
  };
}

/** Write names beside the ends of lines, moved down where they would meet the name above, then up where they end too low. */
function nameEnds(svg, points, { anchor, off, widest }) {
  const [x, y] = [svg.scale("x"), svg.scale("y")];
  const places = points.map((point) => ({ point, at: y.apply(point.y) })).sort((a, b) => a.at - b.at);
  const lowest = Number(svg.getAttribute("height")) - 8;
  places.forEach((one, index) => (one.at = Math.max(one.at, index > 0 ? places[index - 1].at + 11 : -Infinity)));
  places.reverse().forEach((one, index) => (one.at = Math.min(one.at, index > 0 ? places[index - 1].at - 11 : lowest)));
  const group = textsIn(svg, 10).attr("text-anchor", anchor);
  for (const { point, at } of places) {
    group.append("text").attr("x", x.apply(point.x) + off).attr("y", at + 3).text(shortened(point.name, widest, 10));
  }
}
