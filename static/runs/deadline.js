// Adds to a deadline its moment in the reader's own time zone and the time left. Without this file UTC is shown alone.

const MINUTE = 60_000;
// Each unit with its length, and from how many of it on it is used: 30 hours rather than 1 day.
const UNITS = [
  ["day", 1440 * MINUTE, 2],
  ["hour", 60 * MINUTE, 2],
  ["minute", MINUTE, 0],
];
const language = document.documentElement.lang;
const distance = new Intl.RelativeTimeFormat(language, { numeric: "always" });
const local = new Intl.DateTimeFormat(language, { dateStyle: "medium", timeStyle: "long" });

// Rounded towards zero, which never promises more time than there is.
function timeLeft(at) {
  const left = at - Date.now();
  const [unit, length] = UNITS.find(([, each, least]) => Math.abs(left) >= each * least);
  return distance.format(Math.trunc(left / length), unit);
}

function begin(time) {
  const at = new Date(time.dateTime);
  const added = document.createElement("span");
  added.dataset.local = "";
  time.after(" ", added);
  const show = () => {
    added.textContent = `(${local.format(at)}; ${timeLeft(at)})`;
  };
  show();
  setInterval(show, MINUTE);
}

for (const time of document.querySelectorAll("time[data-deadline]")) begin(time);
