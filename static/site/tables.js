// Sorts, filters and pages the tables of the server, chooses their columns and takes them away as TSV and CSV.
//
//   {% call table_bar("runs") %}…the page's own options…{% endcall %}       (only where the page has some)
//   {% call scrolling(_("Runs")) %}<table data-table="runs">…</table>{% endcall %}
//
// `{{ table_assets() }}` of templates/site/_tables.html, in the block `head`, loads everything. Without this file the
// table is readable as it is. Every row has one cell a column: no colspan, no rowspan.
//
// On the table: data-part, when it is a page of more rows on the server: then it is neither sorted nor filtered
// On headings
//   class="number"   values are numbers: right-aligned, sorted as numbers, highest first
//   data-key         name in the address; else the heading's text
//   data-first       ascending or descending: the order of the first click, when another one is usual
//   data-filter      a list of the column's values to choose from
//   data-rank        holds the rank by the column that sorts the table
//   data-short       long names are shortened in the middle, with the whole one as title
//   data-chosen="no" shown only when chosen
//   data-plain       controls: neither sorted, chosen nor copied
//   data-series      becomes the picture's series (`data-column="up"`, and the hidden columns after it `low` and
//                    `high`) when it sorts the table, its data-reference that of the picture
//   hidden           never shown, but part of the CSV file
//   A link with `data-sort` inside sorts on the server: it becomes a button here, unless the table has `data-server`.
// On cells: data-value or data-name, what is sorted by and taken away, where the text has separators, signs or more words.
//
// After each change of order or filter the table sends `table:changed`, which bubbles; `detail.rows` are the rows that
// match, of all pages and in their order. The choices stand in the address: ?sort=, order=, q=, filter.team=; from the
// second table of a page on with the table's name and a dot before them. A form with `data-at-once` is sent when a field
// changes, and keeps these choices; so do links with `data-sort`.

import { panel, rememberColumns, rememberedColumns } from "./bar_panels.js";
import { asCsv, asTsv, collator, compare, copyText, fill, make, namedText, saveFile, shorten, textOf, valueOf } from "./table_cells.js";

const ROWS_A_PAGE = 200;
const FEW_ROWS = 8; // a table of no more is sorted, but has no line of tools
const language = document.documentElement.lang;
const words = document.getElementById("table-words")?.dataset ?? {};
const counts = new Intl.NumberFormat(language);

class DataTable {
  constructor(table, index) {
    this.table = table;
    this.name = table.dataset.table;
    this.prefix = index === 0 ? "" : `${this.name}.`;
    this.region = table.closest(".scrolling") ?? table;
    this.rows = [...table.tBodies[0].rows];
    this.order = this.rows;
    this.page = 0;
    const headings = [...table.tHead.rows[table.tHead.rows.length - 1].cells];
    this.columns = headings.map((heading, at) => this.#column(heading, at));
    this.texts = new Map(this.rows.map((row) => [row, [...row.cells].map(textOf).join(" ").toLowerCase()]));
    this.#keep();
    this.#bar();
    this.#restore();
    this.#carry();
  }

  #column(heading, index) {
    const { key, first, plain, short } = heading.dataset;
    const isNumber = heading.classList.contains("number");
    const name = heading.dataset.name ?? textOf(heading);
    const column = { index, heading, name, key: key ?? name, isNumber, isPlain: plain !== undefined };
    column.isHidden = heading.hidden;
    column.first = first ?? (isNumber ? "descending" : "ascending");
    if (short !== undefined) for (const row of this.rows) shorten(row.cells[index]);
    if (column.isPlain || column.isHidden || heading.dataset.rank !== undefined) return column;
    if (this.table.dataset.part !== undefined) return column;
    const link = heading.querySelector("a");
    if (link && (this.table.dataset.server !== undefined || link.dataset.sort === undefined)) return column;
    link?.replaceWith(...link.childNodes);
    const button = make("button", { type: "button", className: "sort" }, ...heading.childNodes);
    heading.append(button);
    button.addEventListener("click", () => {
      const now = heading.getAttribute("aria-sort");
      const other = now === "ascending" ? "descending" : "ascending";
      this.sort(column, now ? other : column.first);
    });
    return column;
  }

  /** The column of the rows' names stays in view. */
  #keep() {
    const found = [...(this.rows[0]?.cells ?? [])].findIndex((cell) => cell.tagName === "TH");
    const kept = Math.max(found, 0);
    for (const row of [...this.table.tHead.rows, ...this.rows]) row.cells[kept]?.classList.add("kept");
  }

  #bar() {
    const own = document.querySelector(`[data-bar="${CSS.escape(this.name)}"]`);
    const bar = own ?? make("div", { className: "table-bar" });
    this.region.before(bar); // below a picture
    bar.hidden = !own && this.rows.length <= FEW_ROWS;
    this.bar = bar;
    this.query = make("input", { type: "search", placeholder: words.filter, ariaLabel: words.filter, autocomplete: "off" });
    this.query.addEventListener("input", () => this.#filtered());
    this.query.addEventListener("keydown", (event) => event.key === "Enter" && event.preventDefault());
    this.status = make("span", { className: "rows", role: "status" });
    const selects = this.columns.filter((one) => one.heading.dataset.filter !== undefined).map((one) => this.#select(one));
    const copy = make("button", { type: "button", textContent: words.copy, title: words.copyTitle });
    copy.addEventListener("click", () => this.#copy());
    const csv = make("button", { type: "button", textContent: words.csv, title: words.csvTitle });
    csv.addEventListener("click", () => this.#save());
    const tools = make("div", { className: "table-tools" }, this.#chooser(), copy, csv);
    const filters = this.table.dataset.part === undefined ? [this.query, ...selects.filter(Boolean)] : [];
    bar.prepend(make("div", { className: "table-filters" }, ...filters, this.status));
    bar.append(tools);
    this.pages = make("nav", { className: "table-pages", ariaLabel: words.pages, hidden: true });
    this.region.after(this.pages);
  }

  #select(column) {
    const values = [...new Set(this.rows.map((row) => textOf(row.cells[column.index])))].filter((value) => value !== "");
    if (values.length < 2) return null;
    values.sort(collator.compare);
    const select = make("select", { ariaLabel: column.name }, new Option(fill(words.every, { name: column.name }), ""));
    for (const value of values) select.append(new Option(value, value));
    select.addEventListener("change", () => this.#filtered());
    column.select = select;
    return select;
  }

  #chooser() {
    const kept = rememberedColumns(this.name);
    const ticks = this.columns.filter((column) => this.#isChoosable(column)).map((column) => {
      const tick = make("input", { type: "checkbox", checked: kept[column.key] ?? column.heading.dataset.chosen !== "no" });
      column.tick = tick;
      if (!tick.checked) this.#show(column, false);
      tick.addEventListener("change", () => {
        this.#show(column, tick.checked);
        const chosen = this.columns.filter((one) => one.tick).map((one) => [one.key, one.tick.checked]);
        rememberColumns(this.name, Object.fromEntries(chosen));
      });
      return make("label", {}, tick, ` ${column.name}`);
    });
    return ticks.length > 1 ? panel(words.columns, ...ticks) : "";
  }

  #isChoosable(column) {
    return !column.isPlain && !column.isHidden && !column.heading.classList.contains("kept");
  }

  #show(column, isShown) {
    for (const row of [column.heading.parentElement, ...this.rows]) row.cells[column.index].hidden = !isShown;
  }

  sort(column, order) {
    const values = new Map(this.rows.map((row) => [row, valueOf(row.cells[column.index], column.isNumber)]));
    const isMissing = (row) => values.get(row) === null || values.get(row) === "";
    const sign = order === "descending" ? -1 : 1;
    const present = this.rows.filter((row) => !isMissing(row));
    present.sort((first, second) => sign * compare(values.get(first), values.get(second)));
    this.order = [...present, ...this.rows.filter(isMissing)];
    for (const one of this.columns) one.heading.removeAttribute("aria-sort");
    column.heading.setAttribute("aria-sort", order);
    this.sorted = { column, order };
    this.#rank(column, present, values);
    this.#picture(column);
    this.table.tBodies[0].append(...this.order);
    this.#filtered();
  }

  /** Ranks by a column of values: equal ones share a rank. */
  #rank(column, present, values) {
    const rank = this.columns.find((one) => one.heading.dataset.rank !== undefined);
    if (!rank || column.heading.dataset.series === undefined) return;
    const sign = column.first === "descending" ? -1 : 1;
    const best = [...present].sort((first, second) => sign * (values.get(first) - values.get(second)));
    let place = 0;
    best.forEach((row, index) => {
      if (index === 0 || values.get(row) !== values.get(best[index - 1])) place = index + 1;
      row.cells[rank.index].textContent = counts.format(place);
    });
  }

  #picture(column) {
    if (column.heading.dataset.series === undefined) return;
    const headings = this.columns.map((one) => one.heading);
    for (const one of headings) if (["up", "low", "high"].includes(one.dataset.column)) delete one.dataset.column;
    column.heading.dataset.column = "up";
    if (this.table.dataset.up !== undefined) this.table.dataset.up = column.name;
    if (column.heading.dataset.reference !== undefined) this.table.dataset.reference = column.heading.dataset.reference;
    ["low", "high"].forEach((role, at) => {
      const next = headings[column.index + 1 + at];
      if (next?.dataset.end !== undefined) next.dataset.column = role;
    });
  }

  #filtered() {
    this.page = 0;
    this.#draw();
    this.#address();
    const detail = { rows: this.shown, sort: this.sorted?.column.key };
    this.table.dispatchEvent(new CustomEvent("table:changed", { bubbles: true, detail }));
  }

  #draw() {
    const wanted = this.query.value.toLowerCase().split(/\s+/).filter(Boolean);
    const chosen = this.columns.filter((column) => column.select?.value);
    const matches = (row) =>
      wanted.every((word) => this.texts.get(row).includes(word)) &&
      chosen.every((column) => textOf(row.cells[column.index]) === column.select.value);
    this.shown = this.order.filter(matches);
    const first = this.page * ROWS_A_PAGE;
    const visible = new Set(this.shown.slice(first, first + ROWS_A_PAGE));
    const matching = new Set(this.shown);
    for (const row of this.rows) {
      row.hidden = !visible.has(row);
      row.toggleAttribute("data-elsewhere", row.hidden && matching.has(row)); // on another page
    }
    const [shown, all] = [this.shown.length, this.rows.length].map(counts.format);
    this.status.textContent = this.table.dataset.part === undefined ? fill(words.rows, { shown, all }) : "";
    this.#turn(first);
  }

  #turn(first) {
    const [last, all] = [Math.min(first + ROWS_A_PAGE, this.shown.length), this.shown.length];
    this.pages.hidden = all <= ROWS_A_PAGE;
    const step = (text, by, isLast) => {
      const button = make("button", { type: "button", textContent: text, disabled: isLast });
      button.addEventListener("click", () => {
        this.page += by;
        this.#draw();
        this.region.scrollTop = 0;
        this.pages.querySelector(`button:nth-of-type(${by < 0 ? 1 : 2}):enabled, button:enabled`).focus();
      });
      return button;
    };
    const range = fill(words.range, { first: counts.format(first + 1), last: counts.format(last), all: counts.format(all) });
    this.pages.replaceChildren(step(words.previous, -1, first === 0), make("span", { textContent: range }), step(words.next, 1, last === all));
  }

  /** The choices as arguments of an address. */
  choices() {
    const { column, order } = this.sorted ?? {};
    const given = [["q", this.query.value.trim()], ["sort", column?.key ?? ""], ["order", column && order !== column.first ? order : ""]];
    const filters = this.columns.filter((one) => one.select).map((one) => [`filter.${one.key}`, one.select.value]);
    return [...given, ...filters].map(([name, value]) => [this.prefix + name, value]);
  }

  #address() {
    const address = new URL(location.href);
    for (const [name, value] of this.choices()) {
      if (value) address.searchParams.set(name, value);
      else if (!name.endsWith("sort") || this.table.dataset.server === undefined) address.searchParams.delete(name);
    }
    history.replaceState(history.state, "", address);
  }

  #restore() {
    const given = new URLSearchParams(location.search);
    const argument = (name) => given.get(this.prefix + name) ?? "";
    this.query.value = argument("q");
    for (const { select, key } of this.columns) if (select) select.value = argument(`filter.${key}`);
    for (const { select } of this.columns) if (select?.selectedIndex === -1) select.value = "";
    const column = this.columns.find((one) => one.key === argument("sort") && one.heading.querySelector("button.sort"));
    if (column) this.sort(column, argument("order") || column.first);
    else this.#filtered();
  }

  /** Forms and links that load the page again take the choices with them. */
  #carry() {
    for (const form of this.bar.querySelectorAll("form[method=get]")) {
      form.addEventListener("formdata", ({ formData }) => {
        for (const [name, value] of this.choices()) if (value) formData.set(name, value);
      });
    }
    for (const link of this.table.querySelectorAll("a[data-sort]")) {
      link.addEventListener("click", () => {
        const address = new URL(link.href);
        for (const [name, value] of this.choices()) if (value && !name.endsWith("sort")) address.searchParams.set(name, value);
        link.href = address.href;
      });
    }
  }

  /** The rows that match and the columns that are shown, as cells of text; the hidden ones only when all are wanted. */
  cells(isWhole) {
    const columns = this.columns.filter((one) => !one.isPlain && (one.isHidden ? isWhole : !one.heading.hidden));
    const copied = (row) => columns.map(({ index }) => namedText(row.cells[index]));
    return [columns.map((column) => column.name), ...this.shown.map(copied)];
  }

  async #copy() {
    await copyText(asTsv(this.cells(false)));
    this.status.textContent = fill(words.done, { rows: counts.format(this.shown.length) });
  }

  #save() {
    saveFile(`${this.name}.csv`, asCsv(this.cells(true)));
  }
}

/** Whether every row has one cell a column. */
function isRegular(table) {
  const rows = [...(table.tHead?.rows ?? []), ...(table.tBodies[0]?.rows ?? [])];
  return table.tHead !== null && rows.every((row) => row.cells.length === rows[0].cells.length);
}

/** Give every table of the page with `data-table` its tools. */
export function enhance(root = document) {
  const found = [...root.querySelectorAll("table[data-table]")].filter(isRegular);
  return found.map((table, index) => new DataTable(table, index));
}

enhance();
