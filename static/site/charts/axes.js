// Axes of pictures: named places along one side, values along the other, and the room both need.

import { legendOf, shortened, widthOf } from "./style.js";

const { Plot, d3 } = globalThis;
export const ROW_HEIGHT = 20;
const PADDING = 0.2;
const SIDE = 12;
const WIDEST_NAMES = 0.45; // of the picture's width

export const numeric = () => {
  const format = new Intl.NumberFormat(document.documentElement.lang || "en", { maximumSignificantDigits: 6 });
  return (value) => format.format(value);
};

/** The least and the most of values, ends of ranges, bounds and the reference line. */
export function domainOf(read, values, { zero = false } = {}) {
  const known = [...values, read.least, read.most, read.reference, zero ? 0 : null].filter(Number.isFinite);
  const [least, most] = d3.extent(known);
  return least === most ? [least - 0.5, most + 0.5] : d3.scaleLinear([least, most], [0, 1]).nice().domain();
}

export const seriesValues = (read) => read.series.flatMap((one) => [one.values, one.low ?? [], one.high ?? []]).flat();

/** Every how many names there is room for one. */
function stepOf(names, room) {
  const widest = Math.max(...names.map((name) => widthOf(name))) + 8;
  return Math.max(1, Math.ceil((names.length * widest) / room));
}

/**
 * The frame of a picture with named places: places down the side when the table lies, else along the foot.
 * `value` is the scale of the values, `lane` the height or width of one place.
 */
export function namedFrame(read, width, { values, zero = false, names = read.places, perRow = 1, legend = [] }) {
  const room = legendOf(legend, width - SIDE);
  const domain = domainOf(read, values, { zero });
  const value = { domain, grid: true, label: read.lies ? read.upName || null : null, tickFormat: numeric(), labelArrow: "none" };
  const band = { type: "band", domain: d3.range(names.length), paddingInner: PADDING, paddingOuter: PADDING / 2 };
  return read.lies
    ? lyingFrame(read, width, { room, value, band, names, perRow })
    : standingFrame(read, width, { room, value, band, names });
}

function lyingFrame(read, width, { room, value, band, names, perRow }) {
  const widest = Math.min(Math.max(...names.map((name) => widthOf(name))) + 2, width * WIDEST_NAMES);
  const lane = ROW_HEIGHT * Math.max(1, perRow);
  const [marginTop, marginBottom] = [room.height + 8 + (read.referenceName ? 14 : 0), 40];
  const tickFormat = (index) => shortened(names[index], widest);
  return {
    options: {
      width,
      height: marginTop + lane * names.length + marginBottom,
      marginTop,
      marginBottom,
      marginLeft: widest + 14,
      marginRight: SIDE + 8,
      x: { ...value, labelAnchor: "center" },
      y: { ...band, label: null, tickFormat, tickSize: 0 },
    },
    legend: room,
    lane: lane * (1 - PADDING),
  };
}

function standingFrame(read, width, { room, value, band, names }) {
  const marginTop = room.height + 28;
  const marginLeft = Math.max(...value.domain.map((end) => widthOf(value.tickFormat(end)))) + 34;
  const inner = width - marginLeft - SIDE;
  const widest = inner / Math.min(names.length, 4);
  const short = names.map((name) => shortened(name, widest));
  const step = stepOf(short, inner);
  const tickFormat = (index) => short[index];
  return {
    options: {
      width,
      height: marginTop + 230 + 42,
      marginTop,
      marginLeft,
      marginRight: SIDE,
      marginBottom: 42,
      x: { ...band, label: read.acrossName || null, labelArrow: "none", labelAnchor: "center", tickFormat, tickSize: 0,
        ticks: d3.range(0, names.length, step) },
      y: value,
    },
    legend: room,
    lane: (inner / names.length) * (1 - PADDING),
  };
}

/** The frame of a picture with numbers on both axes. */
export function numericFrame(read, width, { across, up, legend = [] }) {
  const room = legendOf(legend, width - SIDE);
  const format = numeric();
  const upDomain = domainOf(read, up);
  const axis = { grid: true, labelArrow: "none", tickFormat: format };
  return {
    options: {
      width,
      height: room.height + 28 + Math.min(Math.max(width * 0.5, 230), 420) + 42,
      marginTop: room.height + 28,
      marginLeft: Math.max(...upDomain.map((end) => widthOf(format(end)))) + 34,
      marginRight: SIDE + 14,
      marginBottom: 42,
      x: { ...axis, domain: d3.extent(across), nice: true, label: read.acrossName || null, labelAnchor: "center" },
      y: { ...axis, domain: upDomain, label: null },
    },
    legend: room,
  };
}

/** The name of the values' axis above it, where the values go up. */
export function upLabel({ upName }) {
  const style = { frameAnchor: "top-left", textAnchor: "start", dx: -28, dy: -19, fill: "currentColor" };
  return upName ? [Plot.text([upName], { text: (text) => text, ...style })] : [];
}

/** The line at a value of the values' axis, with its name, and the name of an axis that goes up. */
export function guideMarks(read) {
  const named = read.lies ? [] : upLabel(read);
  if (read.reference === null) return named;
  const style = { stroke: "var(--chart-ink)", strokeDasharray: "5 3", strokeWidth: 1.25 };
  const label = [read.reference];
  if (!read.lies) {
    const text = { text: () => read.referenceName, frameAnchor: "right", textAnchor: "end", dy: -7, fill: "currentColor" };
    return [...named, Plot.ruleY(label, style), Plot.text(label, { ...text, y: (value) => value })];
  }
  const text = { text: () => read.referenceName, frameAnchor: "top", dy: -12, fill: "currentColor" };
  return [Plot.ruleX(label, style), Plot.text(label, { ...text, x: (value) => value })];
}

/** What hovering tells: the nearest point's text, with its link for a click. */
export function hoverMark(points, along) {
  const pointer = along === "y" ? Plot.pointerY : along === "x" ? Plot.pointerX : Plot.pointer;
  const reach = along ? Infinity : 40;
  const look = { fill: "var(--chart-ground)", stroke: "var(--chart-line)", fontSize: 12, lineWidth: 40 };
  const tip = Plot.tip(points, pointer({ x: "x", y: "y", title: "text", maxRadius: reach, className: "chart-tip", ...look }));
  tip.ariaLabel = undefined; // an image has no named parts
  return tip;
}
