// Chooses contributing runs: filters them by tag or team, ticks many at once, and counts those that contribute.
// Without this file each is ticked alone.

const group = document.querySelector("[data-runs]");

class Picking {
  constructor() {
    this.ticks = [...group.querySelectorAll(".tick")];
    this.bar = group.querySelector(".pick");
    this.filter = group.querySelector("[data-filter]");
    this.status = group.querySelector("[role=status]");
    this.fields = group.closest("form").elements;
  }

  begin() {
    this.bar.hidden = false;
    this.filter.addEventListener("input", () => this.show());
    // Enter must not send the form.
    this.filter.addEventListener("keydown", (event) => event.key === "Enter" && event.preventDefault());
    this.bar.addEventListener("click", (event) => this.onClick(event.target.dataset));
    for (const target of [group, this.fields.per_team, this.fields.priority]) {
      target.addEventListener("input", () => this.say());
    }
    this.say();
  }

  show() {
    const wanted = this.filter.value.trim().toLowerCase();
    for (const tick of this.ticks) {
      tick.hidden = !`${this.box(tick).value} ${tick.dataset.team}`.toLowerCase().includes(wanted);
    }
  }

  onClick({ tick, two }) {
    if (two !== undefined) this.fields.per_team.value = 2;
    for (const each of this.ticks) {
      if (tick === "none") this.box(each).checked = false;
      else if (tick === "shown" && !each.hidden) this.box(each).checked = true;
    }
    this.say();
  }

  // As the server chooses: those ticked or else all, of this priority or a better one, so many of each team.
  contributing() {
    const ticked = this.ticks.filter((tick) => this.box(tick).checked);
    const worst = Number(this.fields.priority.value) || Infinity;
    const most = Number(this.fields.per_team.value) || Infinity;
    const counts = new Map();
    const runs = (ticked.length ? ticked : this.ticks).filter((tick) => tick.dataset.priority <= worst);
    runs.sort((one, other) => one.dataset.priority - other.dataset.priority);
    return runs.filter((tick) => {
      const team = tick.dataset.team || tick;
      counts.set(team, (counts.get(team) ?? 0) + 1);
      return counts.get(team) <= most;
    });
  }

  box(tick) {
    return tick.querySelector("input");
  }

  say() {
    const { chosen } = group.dataset;
    this.status.textContent = chosen.replace("{count}", this.contributing().length).replace("{all}", this.ticks.length);
  }
}

if (group) new Picking().begin();
