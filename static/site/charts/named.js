// Pictures whose rows are names: bars, points with intervals, and boxes.

import { hoverMark, namedFrame, guideMarks, seriesValues } from "./axes.js";
import { colourOf, hatchings, legendMark, samples, symbolOf } from "./style.js";

const { Plot } = globalThis;
const CAP = 4; // half the cap of a whisker
const known = (points) => points.filter((point) => point.value !== null);

/** Every row of every series: its place, value, range, and what hovering tells. */
function pointsOf(read) {
  return read.series.flatMap((one, series) =>
    one.values.map((value, place) => ({
      ...{ place, series, value, low: one.low?.[place] ?? null, high: one.high?.[place] ?? null },
      text: [read.names?.[place], read.places[place], `${one.name}: ${one.texts[place]}`].filter(Boolean).join("\n"),
      link: read.links[place],
    })),
  );
}

/** The names of Plot's channels and marks for places down the side or along the foot. */
const sides = (read) =>
  read.lies
    ? { at: "y", to: "x", bar: Plot.barX, rule: Plot.ruleY, tick: Plot.tickX, before: "insetTop", after: "insetBottom", off: "dy" }
    : { at: "x", to: "y", bar: Plot.barY, rule: Plot.ruleX, tick: Plot.tickY, before: "insetLeft", after: "insetRight", off: "dx" };

/** Whiskers from low to high with caps; `shift` moves them from the middle of their lane. */
function whiskers(read, points, lane, shift = 0) {
  const { at, to, rule, tick, before, after, off } = sides(read);
  const ranged = points.filter((point) => point.low !== null && point.high !== null);
  if (ranged.length === 0) return [];
  const style = { stroke: "var(--chart-ink)", strokeWidth: 1.25, [off]: shift };
  const inset = Math.max(lane / 2 - CAP, 0);
  const caps = { ...style, [at]: "place", [before]: inset, [after]: inset };
  return [
    rule(ranged, { ...style, [at]: "place", [`${to}1`]: "low", [`${to}2`]: "high" }),
    tick(ranged, { ...caps, [to]: "low" }),
    tick(ranged, { ...caps, [to]: "high" }),
  ];
}

const hover = (read, points) => {
  const { at, to } = sides(read);
  return hoverMark(known(points).map((one) => ({ ...one, [at]: one.place, [to]: one.end ?? one.value })), at);
};

/** Put values of one row on top of each other, negative ones below zero. */
function stacked(points) {
  const ends = new Map();
  return points.map((point) => {
    const key = `${point.place} ${point.value < 0}`;
    const begin = ends.get(key) ?? 0;
    ends.set(key, begin + (point.value ?? 0));
    return { ...point, begin, end: begin + (point.value ?? 0) };
  });
}

export function bar(read, width, id) {
  const { at, to, bar: mark } = sides(read);
  const beside = read.stacked ? 1 : read.series.length;
  const plain = pointsOf(read);
  const points = read.stacked ? stacked(plain) : plain.map((point) => ({ ...point, begin: 0, end: point.value }));
  const legend = read.series.length > 1 ? read.series.map((one) => one.name) : [];
  const values = [...points.map((point) => point.end), ...seriesValues(read)];
  const frame = namedFrame(read, width, { values, zero: true, perRow: beside / 2, legend });
  const hatching = hatchings(id);
  const fillOf = (point) => (read.signed && point.value < 0 ? 1 : point.series);
  const marks = [hatching.definitions([1, 2, 3, 4, 5])];
  read.series.forEach((_, series) => {
    const slot = read.stacked ? 0 : series;
    const mine = known(points).filter((point) => point.series === series);
    marks.push(mark(mine, { [at]: "place", [`${to}1`]: "begin", [`${to}2`]: "end", ...insets(read, frame.lane, slot, beside),
      fill: { value: (point) => hatching.filling(fillOf(point)), scale: null },
      stroke: { value: (point) => colourOf(fillOf(point)), scale: null } }));
    marks.push(...whiskers(read, mine, frame.lane, (slot - (beside - 1) / 2) * (frame.lane / beside)));
  });
  const zero = read.lies ? Plot.ruleX([0]) : Plot.ruleY([0]);
  const key = legendMark(frame.legend, samples.box(hatching.filling));
  return { ...frame.options, marks: [...marks, zero, ...guideMarks(read), key, hover(read, points)] };
}

/** Where in its lane a bar stands that shares it with others. */
function insets(read, lane, slot, beside) {
  const { before, after } = sides(read);
  const share = lane / beside;
  return { [before]: slot * share + 0.5, [after]: (beside - 1 - slot) * share + 0.5 };
}

export function points(read, width) {
  const { at, to, off } = sides(read);
  const all = pointsOf(read);
  const groups = read.groups && [...new Set(read.groups)];
  const legend = groups ?? (read.series.length > 1 ? read.series.map((one) => one.name) : []);
  const frame = namedFrame(read, width, { values: seriesValues(read), legend });
  const ranges = read.series.some((one) => one.low && one.high);
  const shift = (series) => (ranges ? (series - (read.series.length - 1) / 2) * Math.min(8, frame.lane / read.series.length) : 0);
  const look = (point) => (groups ? groups.indexOf(read.groups[point.place]) : point.series);
  const marks = read.series.flatMap((_, series) => {
    const mine = known(all).filter((point) => point.series === series);
    const isFull = (point) => !(read.hollow?.[point.place] ?? false);
    const style = {
      [at]: "place", [to]: "value", [off]: shift(series), r: Math.max(1.75, Math.min(4, frame.lane / 2)), strokeWidth: 1.75,
      stroke: { value: (point) => colourOf(look(point)), scale: null },
      fill: { value: (point) => (isFull(point) ? colourOf(look(point)) : "var(--chart-ground)"), scale: null },
      symbol: { value: (point) => symbolOf(look(point)), scale: null },
    };
    return [...whiskers(read, mine, frame.lane, shift(series)), Plot.dot(mine, style)];
  });
  const key = legendMark(frame.legend, samples.symbol);
  return { ...frame.options, marks: [...guideMarks(read), ...marks, key, hover(read, all)] };
}

export function box(read, width) {
  const { at, to, bar: mark, tick } = sides(read);
  const { least, first, median, third, most } = read.box;
  const text = (place) =>
    [read.places[place], [least, first, median, third, most].map((values) => values?.[place] ?? "–").join(" · ")].join("\n");
  const boxes = median.map((value, place) => ({
    ...{ place, value, low: least?.[place] ?? null, high: most?.[place] ?? null },
    ...{ begin: first?.[place] ?? value, end: third?.[place] ?? value, text: text(place), link: read.links[place] },
  })).filter((one) => one.value !== null);
  const frame = namedFrame(read, width, { values: boxes.flatMap((one) => [one.low, one.begin, one.end, one.high]) });
  const inset = Math.max((frame.lane - 12) / 2, 0);
  const { before, after } = sides(read);
  const narrow = { [before]: inset, [after]: inset };
  return {
    ...frame.options,
    marks: [
      ...guideMarks(read),
      ...whiskers(read, boxes, frame.lane),
      mark(boxes, { [at]: "place", [`${to}1`]: "begin", [`${to}2`]: "end", ...narrow, fill: "var(--chart-soft)", stroke: colourOf(0) }),
      tick(boxes, { [at]: "place", [to]: "value", ...narrow, stroke: "var(--chart-ink)", strokeWidth: 2.5 }),
      hover(read, boxes.map(({ end: _, ...one }) => one)),
    ],
  };
}
