// The judge's pace: documents per hour, what is left and until when, a target of the day, and their own grades.

import { clockTime, duration, made, number, percent, say } from "./beside_words.js";
import { batch } from "./words.js";

const TARGET = `pace-target:${batch.person}`; // documents a day, of this browser
const HIDDEN = `pace-hidden:${batch.person}`; // "yes" when the line is switched off
const SECONDS_AN_HOUR = 3600;
// The figures of the line are those of the server, asked for no more often than this.
const MILLISECONDS_BETWEEN = 45_000;
const element = (id) => document.getElementById(id);

/** Show the pace below the document, and all of it on its sheet. */
export function keepPace(link) {
  const address = new URL(element("pace-figures").dataset.address, location.href);
  let asked = -Infinity;

  async function look() {
    asked = performance.now();
    address.searchParams.set("since", Math.floor(new Date().setHours(0, 0, 0, 0) / 1000));
    const { status, data } = await link.get(address);
    if (status === 200 && data) show(data);
    else if (element("pace-list").hidden) element("pace-state").textContent = say("unreachable");
  }

  listenToSettings();
  element("pace").addEventListener("toggle", (event) => event.newState === "open" && look());
  if (isShown()) look();
  return { onDocument: () => isShown() && performance.now() - asked > MILLISECONDS_BETWEEN && look() };

  function listenToSettings() {
    const target = element("pace-target");
    target.value = localStorage.getItem(TARGET) ?? "";
    target.addEventListener("change", () => {
      if (Number(target.value) > 0) localStorage.setItem(TARGET, String(Math.round(Number(target.value))));
      else localStorage.removeItem(TARGET);
      look();
    });
    element("pace-shown").checked = isShown();
    element("pace-shown").addEventListener("change", ({ target: box }) => {
      if (box.checked) localStorage.removeItem(HIDDEN);
      else localStorage.setItem(HIDDEN, "yes");
      look();
    });
  }
}

const isShown = () => localStorage.getItem(HIDDEN) !== "yes";

function show(figures) {
  const target = Number(localStorage.getItem(TARGET)) || 0;
  element("pace-state").hidden = true;
  element("pace-list").hidden = false;
  const hourly = figures.seconds ? number(SECONDS_AN_HOUR / Math.max(figures.seconds, 0.1)) : null;
  element("pace-rate").textContent = hourly ? say("an_hour", { count: hourly }) : say("no_pace");
  element("pace-topic").textContent = leftWords(figures.left.topic, figures.seconds);
  element("pace-all").textContent = leftWords(figures.left.all, figures.seconds);
  showToday(figures.today, target);
  showGrades(figures);
  element("pace-words").textContent = isShown() ? lineWords(figures, hourly, target) : "";
}

function leftWords(count, seconds) {
  if (!seconds || count <= 1) return documents(count);
  const time = count * seconds;
  return say("left_until", { count: number(count), time: duration(time), end: clockTime(new Date(Date.now() + time * 1000)) });
}

const documents = (count) => (count === 1 ? say("one") : say("left", { count: number(count) }));

function lineWords({ today, left, seconds }, hourly, target) {
  const words = [];
  if (hourly) words.push(say("an_hour_short", { count: hourly }));
  if (hourly && left.topic > 0) words.push(say("left_short", { time: duration(left.topic * seconds) }));
  if (target) words.push(say("today_short", { count: number(today), target: number(target) }));
  return words.length > 0 ? `: ${words.join(" · ")}` : "";
}

function showToday(today, target) {
  const name = today >= target ? "target_reached" : "today_of";
  element("pace-today").textContent = target === 0 ? documents(today) : say(name, { count: number(today), target: number(target) });
  const progress = element("pace-progress");
  progress.hidden = target === 0;
  if (target) Object.assign(progress, { max: target, value: Math.min(today, target) });
}

function showGrades({ grades, means }) {
  element("own-grades").hidden = grades.length === 0;
  const columns = grades.map(({ grade, all, topic, since }) => ({ grade, counts: [topic, all, all - since, since] }));
  const totals = [0, 1, 2, 3].map((column) => columns.reduce((sum, { counts }) => sum + counts[column], 0));
  element("own-grades-rows").replaceChildren(...columns.map((row) => rowOf(row, totals)));
  const hasBoth = means.today !== null && means.before !== null;
  element("own-drift").textContent = hasBoth ? say("drift", { today: number(means.today, 2), before: number(means.before, 2) }) : "";
}

function rowOf({ grade, counts }, totals) {
  const name = batch.scale.find((one) => one.value === grade)?.name ?? (grade === null ? say("cannot") : String(grade));
  const head = made("th", { text: name, scope: "row" });
  const cells = counts.map((count, column) => {
    const share = totals[column] ? say("share", { count: number(count), share: percent(count / totals[column]) }) : "–";
    return made("td", { text: share, class: "number" });
  });
  return made("tr", {}, head, ...cells);
}
