// Whoever is asked to sign in is nobody yet: what somebody took along in this browser is deleted.

const TAKEN = /^(annotator-taken-|taken:)/;

for (const key of Object.keys(localStorage)) if (TAKEN.test(key)) localStorage.removeItem(key);
if ("caches" in globalThis) {
  for (const name of await caches.keys()) if (TAKEN.test(name)) await caches.delete(name);
}
if ("serviceWorker" in navigator) {
  for (const one of await navigator.serviceWorker.getRegistrations()) await one.unregister();
}
