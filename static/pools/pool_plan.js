// Moves along the curve of a plan without asking the server again. Without this file the form asks it.

const moving = document.querySelector("[data-said]");
const described = document.getElementById("described");

class Curve {
  constructor(plan) {
    this.plan = plan;
    this.range = moving.querySelector("input");
    // What the plan grows by stands in one field of the form: a depth, or a number of documents.
    this.field = described.elements[plan.grows === "depth" ? "depth" : "amount"];
    this.countedBy = plan.grows === "depth" ? null : described.elements.amount_of;
    this.table = document.getElementById("curve");
    this.whole = new Intl.NumberFormat(document.documentElement.lang);
    this.exact = new Intl.NumberFormat(document.documentElement.lang, { minimumFractionDigits: 1, maximumFractionDigits: 1 });
  }

  begin() {
    moving.hidden = false;
    this.range.value = this.plan.asked;
    this.say(this.plan.asked);
    this.range.addEventListener("input", () => {
      const at = Number(this.range.value);
      this.field.value = this.plan.amounts[at];
      if (this.countedBy) this.countedBy.value = this.plan.grows;
      this.show(at);
    });
    this.field.addEventListener("input", () => {
      const at = this.plan.amounts.findLastIndex((amount) => amount <= Number(this.field.value));
      if (this.field.value === "" || at < 0 || (this.countedBy && this.countedBy.value !== this.plan.grows)) return;
      this.range.value = at;
      this.show(at);
    });
  }

  hours(at) {
    const { seconds, judgements_wanted } = this.plan.effort;
    return ((this.plan.missing + this.plan.total.added[at] * judgements_wanted) * seconds) / 3600;
  }

  show(at) {
    const { amounts, total, to_come } = this.plan;
    const figures = { ...total, to_come };
    document.querySelector("[data-amount]").textContent = this.whole.format(amounts[at]);
    for (const figure of document.querySelectorAll("[data-figure]")) {
      const { figure: name } = figure.dataset;
      figure.textContent = name === "hours" ? this.exact.format(this.hours(at)) : name === "price" ? this.whole.format(Math.round(this.hours(at) * this.plan.effort.pay_per_hour)) : this.whole.format(figures[name][at]);
    }
    for (const rows of document.querySelectorAll("[data-rows]")) {
      const parts = this.plan[rows.dataset.rows];
      [...rows.rows].forEach((row, index) => {
        for (const cell of row.querySelectorAll("[data-count]")) {
          cell.textContent = this.whole.format(parts[index][cell.dataset.count][at]);
        }
      });
    }
    this.table.dataset.marked = amounts[at];
    this.table.dispatchEvent(new CustomEvent("table:changed", { bubbles: true }));
    this.say(at);
  }

  say(at) {
    const said = moving.dataset.said
      .replace("{amount}", this.whole.format(this.plan.amounts[at]))
      .replace("{documents}", this.whole.format(this.plan.total.size[at]))
      .replace("{hours}", this.exact.format(this.hours(at)));
    this.range.setAttribute("aria-valuetext", said);
  }
}

if (moving && document.getElementById("curve")) {
  new Curve(JSON.parse(document.getElementById("plan").textContent)).begin();
}
