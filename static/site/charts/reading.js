// What a table with `data-chart` describes: its rows, series, names, links and axes; see ../charts.js for the attributes.

/** The number of a cell, null when it has none. */
export function numberOf(cell) {
  const text = (cell?.dataset.value ?? cell?.textContent ?? "").trim();
  return text === "" || !Number.isFinite(Number(text)) ? null : Number(text);
}

export const textOf = (cell) => cell?.textContent.trim().replace(/\s+/g, " ") ?? "";
/** A name: the full one, where the cell shows a shortened one. */
const nameOf = (cell) => cell?.dataset.name ?? cell?.querySelector("[title]")?.title ?? textOf(cell);
const linkOf = (element) => element?.querySelector("a[href]")?.href ?? null;
const optionalNumber = (text) => (text === undefined || text === "" ? null : Number(text));

/** The headings and the rows: those given, else those that are not hidden, in their present order. */
export function partsOf(table, given = null) {
  const headings = [...table.tHead.rows[table.tHead.rows.length - 1].cells];
  const isDrawn = (row) => !row.hidden || row.dataset.elsewhere !== undefined;
  const rows = given ?? [...table.tBodies].flatMap((body) => [...body.rows]).filter(isDrawn);
  return { headings, rows };
}

/** The description of a table's picture, of some rows or of those that are not hidden. */
export function readTable(table, given = null) {
  const { headings, rows } = partsOf(table, given);
  const { dataset } = table;
  const column = (index) => rows.map((row) => row.cells[index]);
  const indexOf = (role) => headings.findIndex((heading) => heading.dataset.column === role);
  const numbersAt = (index) => (index < 0 ? null : column(index).map(numberOf));
  const namesAt = (index) => (index < 0 ? null : column(index).map(nameOf));
  const across = Math.max(indexOf("across"), 0);
  return {
    kind: dataset.chart,
    title: dataset.title ?? textOf(table.caption),
    acrossName: dataset.across ?? textOf(headings[across]),
    upName: dataset.up ?? "",
    lies: "lies" in dataset,
    stacked: "stacked" in dataset,
    signed: "signed" in dataset,
    diagonal: "diagonal" in dataset,
    numbers: "numbers" in dataset,
    ranked: dataset.order === "rank",
    middle: optionalNumber(dataset.middle),
    least: optionalNumber(dataset.least),
    most: optionalNumber(dataset.most),
    reference: optionalNumber(dataset.reference),
    marked: optionalNumber(dataset.marked),
    referenceName: dataset.referenceName ?? "",
    places: column(across).map(nameOf),
    across: column(across).map(numberOf),
    names: namesAt(indexOf("name")),
    groups: namesAt(indexOf("group")),
    hollow: numbersAt(indexOf("hollow"))?.map((value) => value !== null && value !== 0) ?? null,
    links: rows.map(linkOf),
    series: seriesOf(headings, column),
    cells: cellsOf(headings, rows, dataset.link),
    plain: "plain" in dataset,
    box: Object.fromEntries(["least", "first", "median", "third", "most"].map((role) => [role, numbersAt(indexOf(role))])),
  };
}

/** The columns of values with the ends of their ranges. */
function seriesOf(headings, column) {
  const series = [];
  headings.forEach((heading, index) => {
    const role = heading.dataset.column;
    if (role === "up") {
      const [values, texts] = [column(index).map(numberOf), column(index).map(textOf)];
      series.push({ name: nameOf(heading), values, texts, join: heading.dataset.join ?? null, low: null, high: null });
    } else if ((role === "low" || role === "high") && series.length > 0) {
      series.at(-1)[role] = column(index).map(numberOf);
    }
  });
  return series;
}

/** The matrix of a heat map. */
function cellsOf(headings, rows, address) {
  const columns = headings.flatMap((heading, index) => (heading.dataset.column === "cell" ? [index] : []));
  const [columnNames, rowNames] = [columns.map((index) => nameOf(headings[index])), rows.map((row) => nameOf(row.querySelector("th") ?? row.cells[0]))];
  const fill = (y, x) => address?.replace("{row}", encodeURIComponent(rowNames[y])).replace("{column}", encodeURIComponent(columnNames[x]));
  return {
    columns: columnNames,
    rows: rowNames,
    values: rows.map((row) => columns.map((index) => numberOf(row.cells[index]))),
    texts: rows.map((row) => columns.map((index) => textOf(row.cells[index]))),
    links: rows.map((row, y) => columns.map((index, x) => linkOf(row.cells[index]) ?? fill(y, x) ?? linkOf(row))),
  };
}

/** Whether a description has something to draw. */
export function isEmpty(read) {
  if (read.kind === "heat") return read.cells.rows.length === 0 || read.cells.columns.length === 0;
  if (read.kind === "box") return !read.box.median?.some((value) => value !== null);
  return read.places.length === 0 || !read.series.some((one) => one.values.some((value) => value !== null));
}
