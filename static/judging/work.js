// The course of judging: what a press does to outbox, desk and screen, and what the server's answers change.

import { paintAbout, paintHalt, rememberDeferred } from "./about.js";
import { Today, watchingClock } from "./clock.js";
import { Desk } from "./desk.js";
import { dropDraft, isRewritten, keepDraft, writtenOn } from "./drafts.js";
import { afterNextFrame } from "./frames.js";
import { showChangedGuidelines } from "./guidelines.js";
import { paintRecent } from "./recent.js";
import { decisionWords, isReasonAsked, paintCounts, paintDocument, paintOver, show, tell } from "./screen.js";
import { Sender } from "./sender.js";
import { Status } from "./status.js";
import { nextTaken, noteCounts, noteTaken } from "./taken.js";
import { scopeOf, stacksOf } from "./undoing.js";
import { batch, freshId, say } from "./words.js";

const FED_BELOW = 4;
// A page that was out of sight for longer asks what was judged on another device meanwhile.
const MILLISECONDS_OF_NEWS = 10_000;
const isJudged = (entry) => entry.act.kind === "grade" || entry.act.kind === "cannot";
const decisionOf = ({ id, grade, cannot_judge, note, evidence }) => ({ id, grade, cannot_judge, note, evidence });
const kindOf = (decision) => (decision.cannot_judge ? "cannot" : "grade");
const nameOf = ({ title, docno }) => title || docno;

export class Work {
  /** `page` has what belongs to the document on the screen: evidence, marks and parts. */
  constructor({ outbox, link, page }) {
    Object.assign(this, { outbox, link, page, desk: new Desk(batch.recent), counts: batch.counts });
    this.tab = freshId();
    this.sequence = 0;
    // Hits of the search judged on this page, those of them that the counts include, and the total shown since then.
    this.found = { judged: 0, counted: 0, total: null };
    // The address to go to when everything is saved.
    this.leavesFor = null;
    // Whether the server answered that nothing is left, and why.
    this.isOver = false;
    this.stopped = null;
    this.clock = watchingClock();
    this.today = new Today(batch.person);
    // Seconds of documents that were left unjudged.
    this.seconds = new Map();
    this.shown = null;
    this.isAsking = false;
    this.isFeeding = false;
    this.answeredAt = Date.now();
    this.wantsNews = false;
    // When another tab judged a document, or withdrew its judgement: what this one did before cannot be taken back.
    this.changedElsewhere = new Map();
    this.status = new Status(outbox, () => this.outbox.retry().then(() => this.sender.hurry()));
    this.sender = new Sender({
      outbox,
      link,
      address: batch.urls.acts,
      tab: this.tab,
      holds: () => this.desk.holds(),
      draws: () => !batch.urls.back && !this.leavesFor,
      wants: () => this.wantsNews || (!batch.urls.back && !this.isOver && this.desk.queue.length === 0),
      onAnswer: (answer, how) => this.onAnswer(answer, how),
      onState: (state) => this.onState(state),
    });
    this.channel = new BroadcastChannel(`annotator-judging-${batch.person}`);
    this.channel.onmessage = ({ data }) => this.onOtherTab(data);
  }

  /** Begin with the batch of the page; what is judged but unsent is not shown as if it were not. */
  begin() {
    const isOwnPage = location.pathname !== batch.urls.page;
    for (const one of batch.documents) {
      const unsent = this.unsentOf(one);
      const known = unsent && isJudged(unsent) ? { ...one, decision: decisionOf(unsent.act) } : one;
      if (known.decision && isOwnPage) this.desk.lookAt(known);
      else if (known.decision) this.desk.judged.add(one.assignment);
      else if (unsent?.act.kind === "withdraw") this.desk.takeBack(known);
      else if (!unsent || isOwnPage) this.desk.take([known]);
    }
    this.paint();
    this.sender.start();
  }

  /** The judge's latest act on a document, while it is still on its way. */
  unsentOf({ assignment }) {
    return this.outbox.entries.findLast((entry) => entry.act.assignment === assignment && !entry.refused);
  }

  /** Judge the document on the screen, or defer it: { kind, grade or cannot_judge }. */
  act({ kind, grade = null, cannot_judge = null }) {
    const one = this.desk.current;
    if (!one || this.isBlocked || (kind === "later" && one.decision)) return;
    const { id } = this.put(one, { kind, grade, cannot_judge, ...this.written, seconds: this.secondsOf(one) });
    // What comes back comes with what was written on it.
    if (kind !== "later") dropDraft(one);
    else rememberDeferred(one.assignment, true);
    const decision = kind === "later" ? null : decisionOf({ id, grade, cannot_judge, ...this.written });
    this.desk.settle(decision, kind === "later");
    this.leavesFor = batch.urls.back;
    this.acted({ [kind === "later" ? "putOff" : "judged"]: [one.assignment] });
  }

  /** Nothing can be judged while another page or another document is on its way: a press was meant for that one. */
  get isBlocked() {
    return Boolean(this.leavesFor) || this.isAsking;
  }

  /** Put an act on a document into the outbox; `about` says where else it goes, and what it undoes or redoes. */
  put(one, content, { address = batch.urls.acts, topic = batch.topic.number, ...about } = {}) {
    const act = {
      id: freshId(),
      sequence: (this.sequence += 1),
      assignment: one.assignment,
      ...{ topic, docno: one.docno },
      ...content,
      guidelines: batch.guidelines,
    };
    this.outbox.add({
      ...{ person: batch.person, address, tab: this.tab, at: Date.now(), epoch: batch.epoch, act },
      ...{ isFirst: isJudged({ act }) && !one.decision, title: nameOf(one), before: one.decision ?? null },
      ...{ refused: null, savedAt: null },
      ...about,
    });
    if (address === batch.urls.acts) noteTaken(one.assignment, content.kind);
    return act;
  }

  /** Show what an act has changed, then send it and tell the other tabs. */
  acted(news) {
    this.isOver = false;
    this.paint();
    this.status.show();
    afterNextFrame().then(() => {
      this.sender.start();
      this.channel.postMessage(news);
      this.today.keep();
      this.feed();
    });
  }

  /** While the server does not answer, what was taken along fills the queue. */
  async feed() {
    if (!this.status.trouble || this.isFeeding || this.desk.queue.length >= FED_BELOW) return;
    this.isFeeding = true;
    const documents = await nextTaken(new Set([...this.desk.holds(), ...this.desk.judged]));
    this.isFeeding = false;
    const hadNone = !this.desk.current;
    const isFree = (one) => this.unsentOf(one)?.act.kind !== "grade" && this.unsentOf(one)?.act.kind !== "cannot";
    if (this.desk.take(documents.filter(isFree)) && hadNone) this.paint();
  }

  get written() {
    return { note: document.getElementById("note").value, evidence: this.page.evidence.passages };
  }

  /** Whether the judge has begun to judge the document: then nothing may take it from under their hands. */
  get hasBegun() {
    const { note, evidence } = this.written;
    return isReasonAsked() || note !== "" || evidence.length > 0;
  }

  keepDraft() {
    if (this.desk.current) keepDraft(this.desk.current, this.written);
  }

  /** Judge a document the same again when its note or its evidence has changed; whether it has. */
  judgeRewritten() {
    const one = this.desk.current;
    if (!one?.decision || !isRewritten(one)) return false;
    const { grade, cannot_judge } = one.decision;
    this.act({ kind: kindOf(one.decision), grade, cannot_judge });
    return true;
  }

  get stacks() {
    const isLatest = ({ act, at }) => !(at < this.changedElsewhere.get(act.assignment));
    return stacksOf(this.outbox.history.filter(isLatest), batch.urls.acts);
  }

  /** Take the last act back: a deferral, a changed judgement, or a judgement, whose document is then to be judged. */
  async undo() {
    if (this.isBlocked) return;
    const entry = this.stacks.undo.at(-1);
    if (!entry) return show(say("nothing_to_undo"));
    const { address, act } = entry;
    if (act.kind === "later") return this.undoLater(entry);
    if (act.query !== undefined) return show(this.withdrawFound(entry).sentence);
    const topic = act.topic ?? batch.topic.number;
    const about = { address, topic, undoes: act.id };
    if (address !== batch.urls.acts) return this.undoElsewhere(entry, about);
    const one = await this.loaded(act.assignment);
    if (!one) return show(say("no_way_back"));
    if (entry.before) this.restore(one, entry.before, about);
    else this.takeBack(one, act.id, about);
    return show(say(entry.before ? "undone_to" : "undone", { title: nameOf(one), grade: entry.before && decisionWords(entry.before) }));
  }

  /** Only this browser knows the order of what was deferred. */
  undoLater(entry) {
    const one = this.desk.find(entry.act.assignment);
    this.outbox.add({ ...entry, savedAt: Date.now(), undoes: entry.act.id, act: { ...entry.act, id: freshId() } });
    if (!one || one.decision) return this.undo();
    rememberDeferred(one.assignment, false);
    this.desk.takeBack(one);
    this.paint();
    return show(say("undone_later", { title: nameOf(one) }));
  }

  /** Judge a document that the search of this topic found; its decision, or nothing while judging is blocked. */
  judgeFound({ docno, title, decision }, grade, query) {
    if (this.isBlocked) return null;
    const known = this.desk.named(docno);
    const one = { assignment: known?.assignment ?? 0, docno, title, decision };
    if (known) this.onOtherTab({ judged: [known.assignment] });
    const content = { kind: "grade", grade, cannot_judge: null, note: decision?.note ?? "", evidence: [], seconds: this.lapOfHit(), query };
    const { id } = this.put(one, content, { address: batch.urls.found_acts });
    this.actedOnHit(decision ? 0 : 1);
    return decisionOf({ ...content, id });
  }

  /** Take back the last act when it was on a hit of this topic: the document, its decision then, and a sentence. */
  undoFound() {
    const entry = this.stacks.undo.at(-1);
    const isOfHit = entry && entry.address === batch.urls.found_acts;
    return isOfHit && !this.isBlocked ? this.withdrawFound(entry) : { sentence: say("nothing_to_undo") };
  }

  withdrawFound({ act, address, before, title }) {
    const { topic, query, docno, assignment } = act;
    const one = { assignment, docno, title, decision: decisionOf(act) };
    const content = before ? { ...before, kind: kindOf(before), seconds: 0 } : { kind: "withdraw", judgement: act.id };
    this.put(one, { ...content, id: freshId(), query }, { address, topic, undoes: act.id });
    if (assignment) this.desk.release([assignment]);
    this.actedOnHit(before ? 0 : -1);
    const sentence = say(before ? "undone_to" : "undone", { title, grade: before && decisionWords(before) });
    return { docno, decision: before, sentence };
  }

  // The document on the screen stays, and so does the counter: it would say which hits were waiting for the judge.
  actedOnHit(more) {
    this.found.judged += more;
    this.found.total ??= this.counts.total;
    this.isOver = false;
    this.status.show();
    this.paintCounts();
    this.sender.start();
  }

  /** The decision on a document of this topic that is still on its way: undefined without one, null when withdrawn. */
  unsentDecision(docno) {
    const isOf = ({ act, refused }) => act.docno === docno && act.topic === batch.topic.number && !refused;
    const act = this.outbox.entries.findLast(isOf)?.act;
    if (!act || act.kind === "later") return undefined;
    return act.kind === "withdraw" ? null : decisionOf(act);
  }

  /** The seconds since the clock was looked at last, which belong to a hit of the search. */
  lapOfHit() {
    const seconds = this.clock.lap(performance.now());
    this.today.add(seconds);
    return Math.round(seconds * 10) / 10;
  }

  /** The first judgements of hits on this page that the server has. */
  get foundSaved() {
    const isUnsent = ({ address, isFirst, refused }) => address === batch.urls.found_acts && isFirst && !refused;
    return Math.max(this.found.judged - this.outbox.entries.filter(isUnsent).length, 0);
  }

  /** The last judgement was in another topic: withdraw it, and go there when that is saved. */
  undoElsewhere({ before, title, act }, about) {
    const one = { assignment: act.assignment, docno: act.docno, title, decision: decisionOf(act) };
    // Another judgement, with an id of its own.
    const { id: _, ...again } = before ?? {};
    if (before) this.put(one, { ...again, kind: kindOf(before), seconds: 0 }, about);
    else this.put(one, { kind: "withdraw", judgement: act.id }, about);
    this.leavesFor = `${batch.urls.assignments}${act.assignment}`;
    this.acted({ [before ? "judged" : "withdrawn"]: [act.assignment] });
  }

  /** Judge again what was undone last. */
  async redo() {
    if (this.isBlocked) return;
    const entry = this.stacks.redo.at(-1);
    if (!entry || entry.address !== batch.urls.acts) {
      show(say("nothing_to_redo"));
      return;
    }
    const one = await this.loaded(entry.act.assignment);
    if (!one) show(say("no_way_back"));
    else this.restore(one, decisionOf(entry.act), { redoes: entry.act.id });
  }

  /** Withdraw the judgement of the document that the judge looks back at. */
  withdraw() {
    const one = this.desk.current;
    if (this.isBlocked || !one?.decision) return;
    this.takeBack(one, one.decision.id, { undoes: one.decision.id });
    show(say("undone", { title: nameOf(one) }));
  }

  takeBack(one, judgement, about) {
    this.put(one, { kind: "withdraw", judgement }, about);
    this.desk.takeBack(one);
    this.acted({ withdrawn: [one.assignment] });
  }

  /** Give a document the decision that it had before an act, or before that act was undone. */
  restore(one, decision, about) {
    const { grade, cannot_judge, note, evidence } = decision;
    const { id } = this.put(one, { kind: kindOf(decision), grade, cannot_judge, note, evidence, seconds: 0 }, about);
    dropDraft(one);
    this.desk.queue = this.desk.queue.filter((other) => other.assignment !== one.assignment);
    this.desk.judged.add(one.assignment);
    this.desk.decide(one, { ...decisionOf(decision), id });
    if (about.redoes && !one.decision) this.desk.goOn();
    this.acted({ judged: [one.assignment] });
  }

  /** A document at hand with its text; undefined when the server does not give it. */
  async loaded(assignment) {
    const known = this.desk.find(assignment);
    if (known?.html !== undefined) return known;
    const { status, data } = await this.fetched(assignment);
    if (status !== 200) return undefined;
    this.desk.fill(data);
    return this.desk.find(assignment) ?? data;
  }

  /** Ask the server for a document; nothing is judged meanwhile. */
  async fetched(assignment) {
    this.isAsking = true;
    try {
      return await this.link.get(`${batch.urls.assignments}${assignment}.json`);
    } finally {
      this.isAsking = false;
    }
  }

  /** Look at a judged document, without changing anything. */
  async look(go) {
    if (this.isBlocked) return;
    this.judgeRewritten();
    if (this.isBlocked) return;
    const before = this.desk.place;
    if (!go()) return;
    const one = this.desk.current;
    if (one && !(await this.loaded(one.assignment))) {
      this.desk.place = before;
      show(say("no_way_back"));
    }
    this.paint();
  }

  async lookBack() {
    if (this.isBlocked) return;
    if (this.desk.place !== 0 && this.desk.trail.length > 0) await this.look(() => this.desk.goBack());
    else await this.lookFurtherBack();
  }

  lookForward() {
    return this.look(() => this.desk.goForward());
  }

  lookBackAt(assignment) {
    return this.look(() => this.desk.lookBackAt(assignment));
  }

  /** Back beyond what this page remembers: the server knows what was judged before. */
  async lookFurtherBack() {
    this.judgeRewritten();
    if (this.isBlocked) return;
    this.isAsking = true;
    const one = await this.earlier();
    this.isAsking = false;
    if (!one) {
      show(say(one === null ? "nothing_before" : "no_way_back"));
      return;
    }
    const unsent = this.unsentOf(one);
    this.desk.lengthen(unsent && isJudged(unsent) ? { ...one, decision: decisionOf(unsent.act) } : one);
    this.paint();
  }

  /** The judged document before all that are known; null when there is none, undefined when the server is silent. */
  async earlier() {
    const known = new Set(this.desk.trail.map((one) => one.assignment));
    const oldest = this.desk.oldest() ?? batch.documents[0];
    const asked = new Set();
    let id = oldest?.assignment;
    while (id && !asked.has(id)) {
      asked.add(id);
      const { status, data } = await this.link.get(`${batch.urls.assignments}${id}.json`);
      if (status !== 200) return undefined;
      if (id !== oldest.assignment && !known.has(id)) return data;
      id = data.previous;
    }
    return null;
  }

  goOn() {
    if (!this.desk.isLookingBack || this.isAsking) return;
    if (this.judgeRewritten() && this.isBlocked) return;
    if (batch.urls.back) location.assign(batch.urls.back);
    this.desk.goOn();
    this.paint();
    this.sender.start();
  }

  lookAgain() {
    this.isOver = false;
    this.stopped = null;
    this.paint();
    this.sender.hurry();
  }

  paint() {
    this.countSeconds();
    const one = this.desk.current;
    this.shown = one;
    if (one) this.paintOne(one);
    else this.paintNothing();
    const words = this.paintCounts();
    paintRecent(this.desk.trail, one?.assignment);
    if (!one) return;
    const about = paintAbout(one, { isLookingBack: this.desk.isLookingBack, left: paintCounts.left });
    tell([`${words}: ${nameOf(one)}`, about].filter(Boolean).join(". "));
  }

  paintOne(one) {
    const { isLookingBack } = this.desk;
    this.page.show(one);
    const { note, evidence } = writtenOn(one);
    paintDocument(one, { isLookingBack, note });
    this.page.begin(evidence);
  }

  paintNothing() {
    this.page.clear();
    if (this.leavesFor) paintOver(say("going_back"), "", { isWaiting: true });
    else if (this.stopped) paintOver(say("stopped"), this.stopped, { isWaiting: false });
    else if (this.isOver) paintOver(say("done"), say("done_text"), { isWaiting: false });
    else if (this.status.trouble) paintOver(say("no_more_here"), say("no_more_here_text"), { isWaiting: true });
    else paintOver(say("fetching"), "", { isWaiting: true });
  }

  paintCounts() {
    const unsent = this.outbox.entries.filter((entry) => !entry.refused && entry.address === batch.urls.acts);
    const more = unsent.filter((entry) => entry.isFirst).length - unsent.filter(({ act }) => act.kind === "withdraw").length;
    const judged = Math.max(this.counts.judged + more - this.found.counted, 0);
    const counts = { ...this.counts, judged, total: this.found.total ?? this.counts.total };
    return paintCounts(counts, this.desk.isLookingBack || !this.desk.current);
  }

  /** Add the time up to now to the document that was on the screen, and to the day. */
  countSeconds() {
    const seconds = this.clock.lap(performance.now());
    this.today.add(seconds);
    if (!this.shown) return;
    const id = this.shown.assignment;
    this.seconds.set(id, (this.seconds.get(id) ?? 0) + seconds);
  }

  secondsOf({ assignment }) {
    this.countSeconds();
    const seconds = this.seconds.get(assignment) ?? 0;
    this.seconds.delete(assignment);
    return Math.round(seconds * 10) / 10;
  }

  keepTime() {
    this.countSeconds();
    this.today.keep();
  }

  activeToday() {
    return this.today.seconds() + this.clock.sofar(performance.now()) / 1000;
  }

  /** Somebody looks at the page again: send what is unsent, and ask what is new. */
  lookUp() {
    this.wantsNews = !batch.urls.back && !this.leavesFor && Date.now() - this.answeredAt > MILLISECONDS_OF_NEWS;
    this.sender.hurry();
  }

  onAnswer(answer, { isOwn, drew }) {
    if (isOwn) Object.assign(this, { answeredAt: Date.now(), wantsNews: false });
    const refused = this.outbox.entries.filter((entry) => entry.refused).map((entry) => entry.act.assignment);
    this.desk.release(refused);
    this.channel.postMessage({ acknowledged: answer.acknowledged, refused });
    if (isOwn) {
      this.counts = answer.counts;
      this.found.counted = this.foundSaved;
      noteCounts(answer.counts);
      this.stopped = answer.stopped;
      document.getElementById("restored").hidden = !answer.epoch || answer.epoch === batch.epoch;
      this.page.questions.count(answer.answers);
      this.page.clarifications.hear(answer.clarifications);
      document.getElementById("guidelines-changed").hidden = answer.guidelines === batch.guidelines;
      if (answer.guidelines !== batch.guidelines) showChangedGuidelines(answer.guidelines);
      paintHalt(answer, drew);
      this.dropJudged(answer.judged ?? []);
    }
    const hadNone = !this.desk.current;
    const came = this.desk.take(answer.documents.filter((one) => !this.unsentOf(one)));
    if (drew && !came) this.isOver = this.desk.queue.length === 0 && !this.outbox.hasSomethingToSend();
    if (hadNone) this.paint();
    else this.paintCounts();
  }

  /** Documents that the judge has judged on another device are not shown here. */
  dropJudged(assignments) {
    const elsewhere = assignments.filter((assignment) => !this.unsentOf({ assignment }));
    if (elsewhere.length > 0) this.onOtherTab({ judged: elsewhere });
  }

  onState(state) {
    this.status.show(state);
    const scope = scopeOf(batch.urls.acts);
    const isSaved = this.outbox.entries.every((entry) => scopeOf(entry.address) !== scope);
    if (this.leavesFor && isSaved) location.assign(this.leavesFor);
    else if (!this.desk.current) this.paintNothing();
    this.feed();
  }

  /** What another tab of the same judge has judged is not shown here; what it got acknowledged need not be sent. */
  onOtherTab({ judged = [], putOff = [], refused = [], withdrawn = [], acknowledged = [] }) {
    if (acknowledged.length > 0) this.outbox.acknowledge(acknowledged);
    for (const assignment of [...judged, ...withdrawn]) this.changedElsewhere.set(assignment, Date.now());
    const before = this.desk.current;
    const kept = this.hasBegun ? before?.assignment : null;
    this.desk.drop(judged, kept);
    this.desk.putAside(putOff, kept);
    this.desk.release([...refused, ...withdrawn]);
    if (this.desk.current !== before) this.paint();
    this.status.show();
    this.sender.start();
  }
}
