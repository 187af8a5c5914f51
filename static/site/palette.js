// The palette: Ctrl-K (or Cmd-K) opens it, typing finds pages, topics, runs, members and documents by name, arrow keys
// choose, Enter opens. The server finds the names; `data-names` is its address. What a page has itself it adds to the
// `targets` of the event `palette-find`: { name, about, kind, run }.

const PAUSE = 120; // milliseconds after the last key before names are looked up
const dialog = document.getElementById("palette");
const [input, list, status] = ["input", "ul", "[role=status]"].map((selector) => dialog.querySelector(selector));
const opener = document.getElementById("palette-open");
let shown = [];
let chosen = -1;
let timer = 0;
let lookup = new AbortController();

function open() {
  if (dialog.open) return;
  dialog.showModal();
  input.select();
  find();
}

async function find() {
  lookup.abort();
  lookup = new AbortController();
  const targets = targetsOfPage(input.value.trim());
  if (targets.length > 0) show(targets);
  try {
    const address = `${dialog.dataset.names}?q=${encodeURIComponent(input.value.trim())}`;
    const answer = await fetch(address, { headers: { Accept: "application/json" }, signal: lookup.signal });
    if (answer.ok) show([...targets, ...(await answer.json()).targets]);
  } catch {
    // A later key asked again, or the network is gone: what is shown stays.
  }
}

function targetsOfPage(text) {
  const detail = { text, targets: [] };
  dialog.dispatchEvent(new CustomEvent("palette-find", { detail }));
  return detail.targets;
}

function follow({ href, run }) {
  if (!run) location.assign(href);
  else {
    dialog.close();
    run();
  }
}

function line(target, index) {
  const item = document.createElement("li");
  item.role = "option";
  item.id = `palette-${index}`;
  for (const [name, text] of [
    ["name", target.name],
    ["about", target.about],
    ["kind", target.kind],
  ]) {
    const part = document.createElement("span");
    part.className = name;
    part.textContent = text;
    item.append(part, " ");
  }
  item.addEventListener("click", () => follow(target));
  return item;
}

function show(targets) {
  // Names of the server come later than those of the page: what was chosen meanwhile stays chosen.
  const isLonger = shown.length > 0 && shown.every((target, index) => target === targets[index]);
  shown = targets;
  list.replaceChildren(...targets.map(line));
  status.textContent = targets.length > 0 ? "" : dialog.dataset.none;
  choose(targets.length === 0 ? -1 : isLonger ? Math.max(chosen, 0) : 0);
}

function choose(index) {
  chosen = index;
  [...list.children].forEach((item, position) => {
    item.ariaSelected = String(position === index);
    if (position === index) item.scrollIntoView({ block: "nearest" });
  });
  if (index < 0) input.removeAttribute("aria-activedescendant");
  else input.setAttribute("aria-activedescendant", list.children[index].id);
}

input.addEventListener("input", () => {
  clearTimeout(timer);
  timer = setTimeout(find, PAUSE);
});
input.addEventListener("keydown", (event) => {
  const count = list.children.length;
  if (event.isComposing || count === 0) return;
  if (event.key === "ArrowDown") choose((chosen + 1) % count);
  else if (event.key === "ArrowUp") choose((chosen - 1 + count) % count);
  else if (event.key === "Enter") follow(shown[chosen]);
  else return;
  event.preventDefault();
});
dialog.addEventListener("click", (event) => {
  if (event.target === dialog) dialog.close();
});
document.addEventListener("keydown", (event) => {
  if (event.key.toLowerCase() !== "k" || !(event.ctrlKey || event.metaKey) || event.altKey || event.shiftKey) return;
  event.preventDefault();
  open();
});
opener.addEventListener("click", open);
opener.hidden = false;
