// Shows times in the reader's own time zone and language; the time in UTC, as the server writes it, becomes the title.
// Without this file times are readable in UTC. Deadlines keep UTC and are completed by static/runs/deadline.js.

const UNSEEN = "time[datetime]:not([data-deadline], [data-local])";
const local = new Intl.DateTimeFormat(document.documentElement.lang, { dateStyle: "medium", timeStyle: "short", hourCycle: "h23" });

/** Convert the times below an element, each once. */
export function showTimes(root = document) {
  for (const time of root.querySelectorAll(UNSEEN)) {
    time.title = time.textContent;
    time.textContent = local.format(new Date(time.dateTime));
    time.dataset.local = "";
  }
}

showTimes();
