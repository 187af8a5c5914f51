// The document on the screen, as it is read: its parts, views and marked words, for judging and for reviewing.

import { Evidence } from "./evidence.js";
import { Finding } from "./finding.js";
import { JudgesNotes } from "./judges_notes.js";
import { Marks } from "./marks.js";
import { showCounts } from "./notes.js";
import { Parts, View, isStacked } from "./reading.js";
import { show, tell } from "./screen.js";
import { batch, say } from "./words.js";

const element = (id) => document.getElementById(id);
const topic = element("topic");
const TOPIC_SHOWN = "annotator:topic-shown"; // on narrow screens of this browser: "yes" or "no"

const assignmentPart = (assignment, part) => `${batch.urls.assignments}${assignment}/parts/${part}`;

/**
 * What belongs to the document on the screen: its marks, its evidence and that of the judges, its further parts.
 * `addressOf(assignment, part)` is where a part comes from.
 */
export function pageOf(link, addressOf = assignmentPart) {
  const body = element("body");
  const roots = [element("document-title"), body];
  const marks = new Marks([]);
  const evidence = new Evidence(body, element("evidence"), show);
  const notes = new JudgesNotes(body);
  const partOf = (assignment, part, { rendering, find }) => {
    const address = new URL(addressOf(assignment, part), location);
    if (rendering) address.searchParams.set("as", rendering);
    if (find) address.searchParams.set("find", find);
    return link.get(address);
  };
  const fetchPart = async (assignment, part, rendering) => {
    const { data } = await partOf(assignment, part, { rendering });
    return data?.html === undefined ? null : data;
  };
  const parts = new Parts(body, fetchPart, (nodes) => {
    marks.extend(nodes);
    showCounts(marks, parts.areLeft);
    evidence.mark();
    notes.mark();
  });
  notes.parts = parts;
  const mark = () => {
    marks.show(roots);
    showCounts(marks, parts.areLeft);
  };
  const finding = new Finding(parts, async (assignment, rendering, find) =>
    (await partOf(assignment, 1, { rendering, find })).data?.found ?? null);
  const view = new View(`view:${batch.urls.topics}`, (chosen) => {
    parts.begin(parts.document, chosen);
    evidence.counts = notes.counts = view.isUsual;
    finding.forget();
    mark();
    notes.mark();
    evidence.show(evidence.passages);
  });
  onClicks("show-source", () => view.choose("text"));
  return {
    ...{ marks, evidence, parts, mark },
    show(one) {
      parts.begin(one, view.begin(one));
      evidence.counts = notes.counts = view.isUsual;
      finding.forget();
    },
    begin(passages) {
      mark();
      evidence.show(passages);
      notes.show(parts.document?.notes ?? []);
    },
    clear() {
      marks.clear();
      notes.show([]);
      showCounts(marks);
      parts.end();
    },
  };
}

export function onClicks(id, act) {
  element(id).addEventListener("click", (event) => {
    event.preventDefault();
    act();
  });
}

async function step(page, direction) {
  while (!page.marks.step(direction)) {
    if (direction < 0 || !(await page.parts.more())) return tell(say("no_more_marks"));
  }
  return tell(say("mark_of", { at: page.marks.at + 1, of: page.marks.found.length }));
}

/** The buttons that go from one marked word to the next, and to the field for another. */
export function listenToMarks(page) {
  // The organisers may have switched highlighting off.
  if (!element("to-mark")) return;
  onClicks("next-mark", () => step(page, 1));
  onClicks("previous-mark", () => step(page, -1));
  onClicks("to-mark", () => {
    topic.open = true;
    element("mark").focus();
  });
}

// On a small screen the judge sees the document first: of the topic its title, unless the judge has unfolded a topic.
export function keepTopicFolded() {
  if (isStacked()) topic.open = localStorage.getItem(TOPIC_SHOWN) === "yes";
  topic.addEventListener("toggle", () => isStacked() && localStorage.setItem(TOPIC_SHOWN, topic.open ? "yes" : "no"));
}
