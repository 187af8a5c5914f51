// The course of judging: what a press does to outbox, desk and screen, and what the server's answers change.

import { Today, watchingClock } from "./clock.js";
import { Desk } from "./desk.js";
import { dropDraft, isRewritten, keepDraft, writtenOn } from "./drafts.js";
import { afterNextFrame } from "./frames.js";
import { isReasonAsked, paintCounts, paintDocument, paintOver, show, tell } from "./screen.js";
import { Sender } from "./sender.js";
import { Status } from "./status.js";
import { batch, freshId, say } from "./words.js";

const isJudged = (entry) => entry.act.kind !== "later";
const decisionOf = ({ grade, cannot_judge, note, evidence }) => ({ grade, cannot_judge, note, evidence });

export class Work {
  /** `page` has what belongs to the document on the screen: evidence, marks and parts. */
  constructor({ outbox, link, page }) {
    Object.assign(this, { outbox, link, page, desk: new Desk(), counts: batch.counts });
    this.tab = freshId();
    this.sequence = 0;
    this.isLeaving = false;
    // Whether the server answered that nothing is left, and why.
    this.isOver = false;
    this.stopped = null;
    this.clock = watchingClock();
    this.today = new Today(batch.person);
    // Seconds of documents that were left unjudged.
    this.seconds = new Map();
    this.shown = null;
    this.isAsking = false;
    this.status = new Status(outbox, () => this.outbox.retry().then(() => this.sender.hurry()));
    this.sender = new Sender({
      outbox,
      link,
      address: batch.urls.acts,
      tab: this.tab,
      holds: () => this.desk.holds(),
      draws: () => !batch.urls.back,
      wants: () => !batch.urls.back && !this.isOver && this.desk.queue.length === 0,
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
      else if (!unsent || isOwnPage) this.desk.take([known]);
    }
    this.paint();
    this.sender.start();
  }

  /** The judge's latest act on a document, while it is still on its way. */
  unsentOf({ assignment }) {
    return this.outbox.entries.findLast((entry) => entry.act.assignment === assignment && !entry.refused);
  }

  /** Judge the document on the screen, or put it off: { kind, grade or cannot_judge }. */
  act({ kind, grade = null, cannot_judge = null }) {
    const one = this.desk.current;
    if (!one || this.isLeaving || (kind === "later" && one.decision)) return;
    const decision = { grade, cannot_judge, ...this.written };
    const act = {
      id: freshId(),
      sequence: (this.sequence += 1),
      assignment: one.assignment,
      kind,
      ...decision,
      seconds: this.secondsOf(one),
      guidelines: batch.guidelines,
    };
    const { person, urls } = batch;
    const isFirst = kind !== "later" && !one.decision;
    const title = one.title || one.docno;
    const entry = { person, address: urls.acts, tab: this.tab, at: Date.now(), isFirst, title, refused: null, act };
    this.outbox.add(entry);
    // What comes back comes with what was written on it.
    if (kind !== "later") dropDraft(one);
    this.desk.settle(kind === "later" ? null : decision, kind === "later");
    this.isOver = false;
    this.isLeaving = Boolean(urls.back);
    this.paint();
    this.status.show();
    afterNextFrame().then(() => {
      this.sender.start();
      this.channel.postMessage({ [kind === "later" ? "putOff" : "judged"]: [one.assignment] });
      this.today.keep();
    });
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
    this.act({ kind: cannot_judge ? "cannot" : "grade", grade, cannot_judge });
    return true;
  }

  async undo() {
    if (this.isLeaving || this.isAsking) return;
    // From where the judge looks now, though a document that is judged anew goes to the end of the trail.
    const from = this.desk.place ?? this.desk.trail.length;
    this.judgeRewritten();
    if (this.isLeaving) return;
    if (this.desk.goBack(from)) this.paint();
    else await this.undoFurther();
  }

  /** Back beyond what this page remembers: the server knows what was judged before. */
  async undoFurther() {
    const before = this.desk.current;
    this.isAsking = true;
    const one = await this.earlier();
    this.isAsking = false;
    if (this.desk.current !== before) return;
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
    if (!this.desk.isLookingBack || this.judgeRewritten()) return;
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
    if (one) tell(`${words}: ${one.title || one.docno}`);
  }

  paintOne(one) {
    const { isLookingBack } = this.desk;
    this.page.parts.begin(one);
    const { note, evidence } = writtenOn(one);
    paintDocument(one, { isLookingBack, note });
    this.page.begin(evidence);
  }

  paintNothing() {
    this.page.clear();
    if (this.isLeaving) paintOver(say("going_back"), "", { isWaiting: true });
    else if (this.stopped) paintOver(say("stopped"), this.stopped, { isWaiting: false });
    else if (this.isOver) paintOver(say("done"), say("done_text"), { isWaiting: false });
    else if (this.status.trouble) paintOver(say("no_more_here"), say("no_more_here_text"), { isWaiting: true });
    else paintOver(say("fetching"), "", { isWaiting: true });
  }

  paintCounts() {
    const unsent = this.outbox.entries.filter((entry) => entry.isFirst && entry.address === batch.urls.acts);
    const counts = { ...this.counts, judged: this.counts.judged + unsent.filter((entry) => !entry.refused).length };
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

  onAnswer(answer, { isOwn, drew }) {
    const refused = this.outbox.entries.filter((entry) => entry.refused).map((entry) => entry.act.assignment);
    this.desk.release(refused);
    this.channel.postMessage({ acknowledged: answer.acknowledged, refused });
    if (isOwn) {
      this.counts = answer.counts;
      this.stopped = answer.stopped;
      this.page.questions.count(answer.answers);
      document.getElementById("guidelines-changed").hidden = answer.guidelines === batch.guidelines;
    }
    const hadNone = !this.desk.current;
    const came = this.desk.take(answer.documents.filter((one) => !this.unsentOf(one)));
    if (drew && !came) this.isOver = this.desk.queue.length === 0 && !this.outbox.hasSomethingToSend();
    if (hadNone) this.paint();
    else this.paintCounts();
  }

  onState(state) {
    this.status.show(state);
    const isSaved = this.outbox.entries.every((entry) => entry.address !== batch.urls.acts);
    if (this.isLeaving && isSaved) location.assign(batch.urls.back);
    else if (!this.desk.current) this.paintNothing();
  }

  /** What another tab of the same judge has judged is not shown here; what it got acknowledged need not be sent. */
  onOtherTab({ judged = [], putOff = [], refused = [], acknowledged = [] }) {
    if (acknowledged.length > 0) this.outbox.remove(acknowledged);
    const before = this.desk.current;
    const kept = this.hasBegun ? before?.assignment : null;
    this.desk.drop(judged, kept);
    this.desk.putAside(putOff, kept);
    this.desk.release(refused);
    if (this.desk.current !== before) this.paint();
    this.status.show();
    this.sender.start();
  }
}
