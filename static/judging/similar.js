// Own judgements of similar documents beside the one on the screen: loaded when the panel is open, kept a while.

import { made, number, percent, say } from "./beside_words.js";
import { decisionWords } from "./screen.js";

const MOST_KEPT = 20;
const element = (id) => document.getElementById(id);

/** The panel that a key opens and closes; it follows the document on the screen. */
export function compareBeside(link, current) {
  const panel = element("similar");
  if (!panel) return { onDocument() {} };
  const button = element("similar-open");
  // What the server found, by assignment; what the judge grades meanwhile changes it.
  const found = new Map();
  let shown = null;

  async function load() {
    const assignment = current()?.assignment ?? null;
    shown = assignment;
    if (assignment === null) return show(null, "");
    if (found.has(assignment)) return show(found.get(assignment), "");
    show(null, say("loading"));
    const { status, data } = await link.get(panel.dataset.address.replace("/0/", `/${assignment}/`));
    // Another document may be on the screen by now.
    if (shown !== assignment) return undefined;
    if (status !== 200) return show(null, data?.sentence ?? say("unreachable"));
    found.set(assignment, data);
    if (found.size > MOST_KEPT) found.delete(found.keys().next().value);
    return show(data, "");
  }

  function open() {
    panel.hidden = false;
    panel.parentElement.classList.add("with-similar");
    button.setAttribute("aria-expanded", "true");
    panel.focus();
    found.clear();
    load();
  }

  function close() {
    panel.hidden = true;
    panel.parentElement.classList.remove("with-similar");
    button.setAttribute("aria-expanded", "false");
    element("document").focus({ preventScroll: true });
  }

  button.addEventListener("click", () => (panel.hidden ? open() : close()));
  element("similar-close").addEventListener("click", close);
  panel.addEventListener("keydown", (event) => event.key === "Escape" && close());
  return {
    onDocument() {
      if (panel.hidden) return;
      found.delete(current()?.assignment);
      if (current()?.assignment !== shown) load();
    },
  };
}

function show(data, state) {
  const words = [state];
  element("similar-texts").hidden = !data?.similar.length;
  element("similar-relevant").hidden = !data?.relevant.length;
  if (data && !data.similar.length) words.push(say("no_similar"));
  if (data && !data.whole) words.push(say("not_all", { count: number(data.compared) }));
  if (data && !data.relevant.length) words.push(say("no_relevant"));
  element("similar-state").textContent = words.filter(Boolean).join(" ");
  element("similar-list").replaceChildren(...(data?.similar ?? []).map(similarItem));
  element("relevant-list").replaceChildren(...(data?.relevant ?? []).map((one) => made("li", {}, ...judged(one))));
  if (!data) return;
  const { relevant, total } = data;
  const name = relevant.length < total ? "relevant_last" : "relevant";
  element("similar-relevant-title").textContent = say(name, { count: number(total), shown: number(relevant.length) });
}

/** Title, own grade and note. */
function judged({ docno, title, page, note, ...decision }, more = "") {
  const link = made("a", { text: title || docno, href: page, target: "_blank", rel: "noopener", dir: "auto" });
  const line = made("p", {}, link);
  const what = made("p", { class: "own-decision" }, made("strong", { text: decisionWords(decision) }), more);
  return note ? [line, what, made("p", { text: note, class: "own-note", dir: "auto" })] : [line, what];
}

function similarItem({ similarity, here, there, ...one }) {
  const parts = [
    ...only(say("only_here"), here),
    ...only(say("only_there", { docno: one.docno }), there),
  ];
  if (parts.length === 0) parts.push(made("p", { text: say("same_text"), class: "hint" }));
  return made("li", {}, ...judged(one, ` · ${say("alike", { share: percent(similarity) })}`), ...parts);
}

function only(title, { only: sentences, more }) {
  if (sentences.length === 0) return [];
  const list = made("ul", { class: "sentences" }, ...sentences.map((text) => made("li", { text, dir: "auto" })));
  if (more) list.append(made("li", { text: say("more", { count: number(more) }), class: "hint" }));
  return [made("p", { text: title, class: "hint" }), list];
}
