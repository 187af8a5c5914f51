// What the judge took along of this topic: its pages and documents in a cache of this person, and a record of what is
// left to judge. The service worker opens them when the server does not answer.

import { batch } from "./words.js";

const CACHE = `annotator-taken-${batch.person}`;
const RECORD = `taken:${batch.person}:${batch.urls.page}`;
const OF_ANYBODY = /^(annotator-taken-|taken:)/;
const AT_ONCE = 4;
const FED_AT_ONCE = 8;
// What the server answers depends on cookie and language: those of the person whose cache this is.
const ANYHOW = { ignoreVary: true };

/** Whether this page was opened without the server. */
export const isOffline = document.documentElement.dataset.offline !== undefined;

/** Whether this browser can take a topic along; on addresses without https it cannot. */
export const canTake = "caches" in globalThis && "serviceWorker" in navigator && Boolean(batch.urls.take);

let { counts } = batch;

const addressOf = (assignment) => `${batch.urls.assignments}${assignment}.json`;
const partOf = (assignment, part) => `${batch.urls.assignments}${assignment}/parts/${part}`;

/** { until, all, waiting, counts, note }: `waiting` are the assignments to be judged, in their order. */
function record() {
  const kept = JSON.parse(localStorage.getItem(RECORD));
  return kept && new Date(kept.until) > new Date() ? kept : null;
}

function change(changes) {
  const kept = record();
  if (kept) localStorage.setItem(RECORD, JSON.stringify({ ...kept, ...changes }));
}

/** What is left of the topic: { until, documents }; null when nothing was taken along here. */
export function takenAlong() {
  const kept = record();
  return kept && { until: kept.until, documents: kept.waiting.length };
}

/** Begin: a page without the server shows what is left; a page of the server knows better what is still held. */
export async function beginTaken() {
  if (!canTake) return;
  if (isOffline) {
    const kept = record();
    Object.assign(batch, { counts: kept?.counts ?? batch.counts, note: kept?.note ?? batch.note });
    batch.documents = await nextTaken(new Set());
  } else {
    await dropOthers();
    if (!batch.along) await dropTaken();
    else if (record()) keepPage().catch(() => {});
  }
  document.getElementById("topic-note")?.addEventListener("input", ({ target }) => change({ note: target.value }));
}

/** The next documents that wait and are not among those excluded. */
export async function nextTaken(excluded) {
  if (!canTake || !record()) return [];
  const ids = record().waiting.filter((id) => !excluded.has(id));
  const cache = await caches.open(CACHE);
  const documents = [];
  for (const id of ids) {
    if (documents.length === FED_AT_ONCE) break;
    const found = await cache.match(addressOf(id), ANYHOW);
    if (found) documents.push(await found.json());
  }
  return documents;
}

/** A document was judged, its judgement withdrawn, or it was deferred: the kind of the act. */
export function noteTaken(assignment, kind) {
  const kept = record();
  if (!kept?.all.includes(assignment)) return;
  const others = kept.waiting.filter((id) => id !== assignment);
  if (kind === "later") change({ waiting: [...others, assignment] });
  else change({ waiting: kind === "withdraw" ? [assignment, ...others] : others });
}

export function noteCounts(latest) {
  counts = latest;
  change({ counts });
}

/** Take the topic along, with `onProgress(done, of)`: { isTaken, sentence }, the sentence of a server that refuses. */
export async function take(link, onProgress) {
  const { data, trouble } = await link.post(batch.urls.take, {});
  if (!data?.assignments) return { isTaken: false, sentence: trouble?.sentence ?? null };
  const { assignments, until } = data;
  // From now on it notes what is judged, also while documents are still being loaded.
  localStorage.setItem(RECORD, JSON.stringify({ until, all: assignments, waiting: assignments, counts }));
  try {
    await navigator.serviceWorker.register(batch.urls.worker);
    await keepPage();
    let done = 0;
    const left = [...assignments];
    const load = async () => {
      while (left.length > 0) {
        await keepDocument(left.shift());
        onProgress((done += 1), assignments.length);
      }
    };
    await Promise.all(Array.from({ length: AT_ONCE }, load));
    return { isTaken: true, sentence: null };
  } catch {
    localStorage.removeItem(RECORD);
    return { isTaken: false, sentence: null };
  }
}

/** Give back what is not judged. */
export async function giveBack(link) {
  const { data } = await link.post(batch.urls.give_back, {});
  if (!data) return false;
  await dropTaken();
  return true;
}

async function keepDocument(assignment) {
  const cache = await caches.open(CACHE);
  const { parts } = await keep(cache, addressOf(assignment)).then((answer) => answer.json());
  for (let part = 2; part <= parts; part += 1) await keep(cache, partOf(assignment, part));
}

/** Store the page as it is now, with all that it loads. */
async function keepPage() {
  const cache = await caches.open(CACHE);
  const page = await keep(cache, batch.urls.page, "text/html");
  const parsed = new DOMParser().parseFromString(await page.text(), "text/html");
  const loaded = [...parsed.querySelectorAll("link[href], script[src], img[src]")].map(
    (one) => one.getAttribute("href") ?? one.getAttribute("src"),
  );
  await Promise.all(loaded.map(async (address) => (await cache.match(address, ANYHOW)) ?? keep(cache, address, "*/*")));
}

async function keep(cache, address, accepted = "application/json") {
  const answer = await fetch(address, { headers: { Accept: accepted } });
  if (!answer.ok || answer.redirected) throw new Error(`${address}: ${answer.status}`);
  await cache.put(address, answer.clone());
  return answer;
}

/** Remove what was taken along of this topic. */
async function dropTaken() {
  const kept = JSON.parse(localStorage.getItem(RECORD));
  localStorage.removeItem(RECORD);
  if (!kept || !(await caches.has(CACHE))) return;
  const cache = await caches.open(CACHE);
  const own = new Set(kept.all.map((id) => `${batch.urls.assignments}${id}`));
  for (const { url } of await cache.keys()) {
    const { pathname } = new URL(url);
    if (pathname === batch.urls.page || own.has(pathname.replace(/(\.json|\/parts\/\d+)$/, ""))) await cache.delete(url);
  }
}

/** What anybody else took along in this browser goes as soon as this person opens a page. */
async function dropOthers() {
  for (const key of Object.keys(localStorage)) {
    if (OF_ANYBODY.test(key) && !key.startsWith(`taken:${batch.person}:`)) localStorage.removeItem(key);
  }
  for (const name of await caches.keys()) if (OF_ANYBODY.test(name) && name !== CACHE) await caches.delete(name);
}
