// The keys of the search page. Without this file it is a plain form and a list of links.

const query = document.getElementById("q");
const hits = [...document.querySelectorAll(".hits article")];

function keyOf(event) {
  // With a Korean input method switched on, the j key says ㅓ: then the place of the key counts.
  if (/^[\x21-\x7e]$/.test(event.key)) return event.key.toLowerCase();
  return event.code.startsWith("Key") ? event.code.slice(3).toLowerCase() : "";
}

function isTyping(event) {
  return event.isComposing || event.target.closest("input:not([type=checkbox]), textarea, select") !== null;
}

function present() {
  return hits.findIndex((hit) => hit.contains(document.activeElement));
}

function goTo(number) {
  const hit = hits[Math.min(Math.max(number, 0), hits.length - 1)];
  hit?.querySelector("h3 a").focus();
  hit?.scrollIntoView({ block: "nearest" });
}

const KEYS = {
  "/": () => query.select(),
  j: () => goTo(present() + 1),
  k: () => goTo(present() - 1),
  x: () => hits[present()]?.querySelector("input[type=checkbox]")?.click(),
  o: () => hits[present()]?.querySelector("h3 a").click(),
};

function onKey(event) {
  if (event.ctrlKey || event.metaKey || event.altKey || isTyping(event)) return;
  const act = KEYS[keyOf(event)];
  if (!act) return;
  event.preventDefault();
  act();
}

document.documentElement.classList.add("with-script");
document.addEventListener("keydown", onKey);
