// Draws tables as charts, with Chart.js. The table stays: it is the chart's text form, and all there is without script.
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
//   data-lies    present: names down the side, values across; the chart is as high as it has rows (bar and points)
//   data-across, data-up   names of the axes; else the heading of the column across, and none
//   data-least, data-most  bounds of the values' axis; the data may go beyond them
//   data-title   name of the chart; else the caption
// On the headings of columns: data-column
//   across       where a row stands: the first column, when none says so
//   up           a series of values, named by the heading
//   low, high    ends of the range of the series to their left: a band beside a line, else whiskers
//   name         who a point is, when across is a number
// On headings of series of a scatter: data-join: before (or after) joins its points by a line that goes across before
//   it goes up or down (or after), for rows in the order of their places
// On cells: data-value, the bare number where the text has separators, signs or words; without a number there is no
// point, and a line goes straight on to the next.
//
// `{{ chart_assets() }}` of templates/site/_charts.html, in the block `head`, loads everything; the chart stands before the
// table, before the region it scrolls in, or before the <details> that folds it. Colours are the variables of
// charts.css, for light and dark; series differ by dash, point and hatching too, so that they can be told apart in
// black and white. A click on a point follows the first link of its row.

const { Chart } = globalThis;
const KINDS = { line: "line", bar: "bar", points: "line", scatter: "scatter" };
const DASHES = [[], [7, 4], [2, 3], [9, 3, 2, 3], [14, 4], [4, 4]];
const POINTS = ["circle", "rect", "triangle", "rectRot", "cross", "star"];
const COLOURS = 6;
const MOST_SYMBOLS = 12; // on one line, more would hide it
const ROW_HEIGHT = 24;
const WHISKER = 4;
const stillness = matchMedia("(prefers-reduced-motion: reduce)");
const darkness = matchMedia("(prefers-color-scheme: dark)");

/** The number of a cell, null when it has none. */
function numberOf(cell) {
  const text = (cell.dataset.value ?? cell.textContent).trim();
  return text === "" || !Number.isFinite(Number(text)) ? null : Number(text);
}

const wordsOf = (cell) => cell?.textContent.trim().replace(/\s+/g, " ") ?? "";

/** What a table says: where its rows stand, and its series with their ranges. */
export function readTable(table) {
  const headings = [...table.tHead.rows[table.tHead.rows.length - 1].cells];
  const rows = [...table.tBodies].flatMap((body) => [...body.rows]);
  const column = (index) => rows.map((row) => row.cells[index]);
  const first = headings.findIndex((heading) => heading.dataset.column === "across");
  const across = Math.max(first, 0);
  const named = headings.findIndex((heading) => heading.dataset.column === "name");
  const series = [];
  headings.forEach((heading, index) => {
    const role = heading.dataset.column;
    if (role === "up") {
      const [values, words] = [column(index).map(numberOf), column(index).map(wordsOf)];
      series.push({ name: wordsOf(heading), values, words, join: heading.dataset.join ?? false });
    } else if ((role === "low" || role === "high") && series.length > 0) {
      series.at(-1)[role] = column(index).map(numberOf);
    }
  });
  return {
    title: table.dataset.title ?? wordsOf(table.caption),
    across: table.dataset.across ?? wordsOf(headings[across]),
    up: table.dataset.up ?? "",
    places: column(across).map(wordsOf),
    numbers: column(across).map(numberOf),
    names: named < 0 ? [] : column(named).map(wordsOf),
    links: rows.map((row) => row.querySelector("a[href]")?.href ?? null),
    series,
  };
}

/** The colours and the type of the page as they are now. */
function lookOf(figure) {
  const style = getComputedStyle(figure);
  const variable = (name) => style.getPropertyValue(name).trim();
  return {
    ink: variable("--ink"),
    quiet: variable("--quiet"),
    line: variable("--line"),
    ground: variable("--surface"),
    series: Array.from({ length: COLOURS }, (_, index) => variable(`--chart-${index + 1}`)),
    family: style.fontFamily,
    size: Number.parseFloat(style.fontSize),
  };
}

/** How bars of one series are filled: full, then hatched one way, the other way, crossed, dotted. */
function hatching(colour, ground, index) {
  if (index % 5 === 0) return colour;
  const tile = document.createElement("canvas");
  tile.width = 8;
  tile.height = 8;
  const pen = tile.getContext("2d");
  pen.fillStyle = ground;
  pen.fillRect(0, 0, 8, 8);
  pen.strokeStyle = colour;
  pen.fillStyle = colour;
  pen.lineWidth = 2;
  const strokes = {
    1: "M-2 2 L2 -2 M0 8 L8 0 M6 10 L10 6",
    2: "M-2 6 L2 10 M0 0 L8 8 M6 -2 L10 2",
    3: "M0 4 L8 4 M4 0 L4 8",
    4: "M4 2 L4 6",
  };
  pen.stroke(new Path2D(strokes[index % 5]));
  return pen.createPattern(tile, "repeat");
}

/** The line, bars or points of one series, and the edges of its band when it is a line with a range. */
function datasets(kind, read, one, index, look) {
  const isNumeric = areNumbers(kind, read);
  const at = (values) => values.map((value, row) => (isNumeric ? { x: read.numbers[row], y: value } : value));
  const colour = look.series[index % COLOURS];
  const every = Math.ceil(one.values.length / MOST_SYMBOLS);
  const symbol = kind === "line" ? (point) => (point.dataIndex % every === 0 ? 4 : 0) : 5;
  const drawn = {
    label: one.name,
    data: at(one.values),
    one,
    borderColor: colour,
    backgroundColor: kind === "bar" ? hatching(colour, look.ground, index) : colour,
    borderWidth: kind === "bar" ? 1.5 : 2,
    borderDash: kind === "line" ? DASHES[index % DASHES.length] : [],
    showLine: kind === "line" || one.join !== false,
    stepped: one.join,
    spanGaps: true,
    pointStyle: POINTS[index % POINTS.length],
    pointRadius: symbol,
    pointHoverRadius: 6,
  };
  if (kind !== "line" || !one.low || !one.high) return [drawn];
  const unseen = { pointRadius: 0, pointHitRadius: 0, isEdge: true };
  const edge = { ...unseen, borderColor: colour, borderWidth: 0.5, spanGaps: true };
  const band = { ...edge, backgroundColor: withAlpha(colour), data: at(one.high), fill: "+1" };
  return [drawn, band, { ...edge, data: at(one.low) }];
}

function withAlpha(colour) {
  return `color-mix(in srgb, ${colour} 15%, transparent)`;
}

/** Whether rows stand at numbers, not at names. */
function areNumbers(kind, read) {
  return kind === "scatter" || (kind === "line" && read.numbers.every((number) => number !== null));
}

/** Whiskers of bars and points with a range: from low to high through the middle of each. */
const whiskers = {
  id: "whiskers",
  afterDatasetsDraw(chart) {
    const { ctx, options } = chart;
    const lies = options.indexAxis === "y";
    const axis = lies ? chart.scales.x : chart.scales.y;
    ctx.save();
    chart.data.datasets.forEach((dataset, index) => {
      const { low, high } = dataset.one ?? {};
      if (!low || !high || dataset.showLine || !chart.isDatasetVisible(index)) return;
      ctx.strokeStyle = options.whiskerColour;
      ctx.lineWidth = 1.5;
      chart.getDatasetMeta(index).data.forEach((element, row) => {
        if (low[row] === null || high[row] === null) return;
        const [begin, end] = [axis.getPixelForValue(low[row]), axis.getPixelForValue(high[row])];
        const point = lies ? (along, middle) => [along, middle] : (along, middle) => [middle, along];
        ctx.stroke(whisker(point, begin, end, lies ? element.y : element.x));
      });
    });
    ctx.restore();
  },
};

function whisker(point, begin, end, middle) {
  const path = new Path2D();
  for (const [from, to] of [
    [point(begin, middle), point(end, middle)],
    [point(begin, middle - WHISKER), point(begin, middle + WHISKER)],
    [point(end, middle - WHISKER), point(end, middle + WHISKER)],
  ]) {
    path.moveTo(...from);
    path.lineTo(...to);
  }
  return path;
}

/** What Chart.js is told: everything of it depends on the table, the look of the page and the reader's wishes. */
function configuration(table, read, look) {
  const kind = table.dataset.chart;
  const lies = "lies" in table.dataset;
  const title = (text) => ({ display: text !== "", text, color: look.quiet });
  const line = { grid: { color: look.line }, border: { color: look.quiet }, ticks: { color: look.quiet } };
  const bound = (name) => Number(table.dataset[name] ?? (name === "least" ? Infinity : -Infinity));
  const format = new Intl.NumberFormat(document.documentElement.lang, { maximumSignificantDigits: 6 });
  const numeric = areNumbers(kind, read);
  const callback = (value) => format.format(value);
  const ends = read.series.flatMap((one) => [...(one.low ?? []), ...(one.high ?? [])]).filter((end) => end !== null);
  const [suggestedMin, suggestedMax] = [Math.min(...ends, bound("least")), Math.max(...ends, bound("most"))];
  const values = { ...line, title: title(read.up), suggestedMin, suggestedMax };
  const places = { ...line, title: title(read.across), type: numeric ? "linear" : "category", offset: !numeric };
  values.ticks = { ...line.ticks, callback };
  places.ticks = { ...line.ticks, autoSkip: !lies, ...(numeric ? { callback } : {}) };
  return {
    type: KINDS[kind],
    data: {
      labels: numeric ? undefined : read.places,
      datasets: read.series.flatMap((one, index) => datasets(kind, read, one, index, look)),
    },
    options: {
      animation: stillness.matches ? false : { duration: 250 },
      maintainAspectRatio: false,
      indexAxis: lies ? "y" : "x",
      color: look.ink,
      font: { family: look.family, size: look.size },
      whiskerColour: look.ink,
      interaction: { mode: "nearest", intersect: false, axis: numeric || lies ? "xy" : "x" },
      onClick: (_, [met]) => met && read.links[met.index] && location.assign(read.links[met.index]),
      scales: lies ? { x: values, y: places } : { x: places, y: values },
      plugins: {
        legend: {
          display: read.series.length > 1,
          labels: { color: look.ink, usePointStyle: kind !== "bar", filter: shownInLegend },
        },
        tooltip: {
          filter: ({ dataset }) => !dataset.isEdge,
          callbacks: {
            title: ([met]) =>
              met && [read.names[met.dataIndex], read.places[met.dataIndex]].filter(Boolean).join(" · "),
            label: ({ dataset, dataIndex }) => `${dataset.label}: ${dataset.one.words[dataIndex]}`,
          },
        },
      },
    },
    plugins: [whiskers],
  };
}

function shownInLegend(item, data) {
  return !data.datasets[item.datasetIndex].isEdge;
}

/** Draw one table, again whenever the page changes between light and dark. */
export function draw(table) {
  const read = readTable(table);
  if (read.series.length === 0 || read.places.length === 0) return null;
  const figure = document.createElement("div");
  figure.className = "chart";
  const canvas = document.createElement("canvas");
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", read.title);
  if (table.id) canvas.setAttribute("aria-describedby", table.id);
  figure.append(canvas);
  (table.closest("details") ?? table.closest(".scrolling") ?? table).before(figure);
  if ("lies" in table.dataset) {
    const barsARow = table.dataset.chart === "bar" ? Math.max(read.series.length / 2, 1) : 1;
    figure.style.height = `${(read.places.length * barsARow + 4) * ROW_HEIGHT}px`;
  }
  let chart = new Chart(canvas, configuration(table, read, lookOf(figure)));
  darkness.addEventListener("change", () => {
    chart.destroy();
    chart = new Chart(canvas, configuration(table, read, lookOf(figure)));
  });
  return figure;
}

for (const table of document.querySelectorAll("table[data-chart]")) draw(table);
