// Service worker of the judging pages of one collection: when the server does not answer, it opens what the judge took
// along. It is the address of this script that limits it to pages below it. It never stores anything itself: pages store
// in one cache per person (`taking.js`), and the page for signing in deletes every such cache (`forget.js`).

const CACHES = /^annotator-taken-/;
// A gateway whose server is gone.
const NOBODY_THERE = new Set([502, 503, 504]);

addEventListener("install", () => skipWaiting());
addEventListener("activate", (event) => event.waitUntil(clients.claim()));
addEventListener("fetch", (event) => {
  const { request } = event;
  if (request.method === "GET" && new URL(request.url).origin === location.origin) event.respondWith(answer(request));
});

async function answer(request) {
  try {
    const response = await fetch(request);
    if (!NOBODY_THERE.has(response.status)) return response;
    return (await kept(request)) ?? response;
  } catch (error) {
    const found = await kept(request);
    if (found) return found;
    throw error;
  }
}

/** What was taken along under this address; a page is marked, so that its script knows where it came from. */
async function kept(request) {
  const names = (await caches.keys()).filter((name) => CACHES.test(name));
  for (const name of names) {
    const cache = await caches.open(name);
    const found = await cache.match(request.url, { ignoreVary: true });
    if (found) return request.mode === "navigate" ? marked(found) : found;
  }
  return null;
}

async function marked(page) {
  const html = (await page.text()).replace("<html", "<html data-offline");
  return new Response(html, { status: 200, headers: page.headers });
}
