// The documents at hand: those that wait, and the trail of those that were judged, for looking back.

// Documents are large; the server knows the way further back.
const LONGEST_TRAIL = 50;

const isOf = (assignment) => (one) => one.assignment === assignment;

export class Desk {
  /** `recent` are the latest judged documents, without their text: it is fetched when the judge looks at one. */
  constructor(recent = []) {
    this.queue = [];
    // In the order of judging.
    this.trail = [...recent];
    // The index in the trail at which the judge is looking; null at the document that waits.
    this.place = null;
    this.judged = new Set(recent.map((one) => one.assignment));
  }

  get current() {
    return this.isLookingBack ? this.trail[this.place] : this.queue[0];
  }

  get isLookingBack() {
    return this.place !== null;
  }

  /** The assignments that wait here. */
  holds() {
    return this.queue.map((one) => one.assignment);
  }

  /** A document of the queue or the trail; undefined when it is not at hand. */
  find(assignment) {
    return this.queue.find(isOf(assignment)) ?? this.trail.find(isOf(assignment));
  }

  /** A document at hand by its name; undefined when it is not. */
  named(docno) {
    return [...this.queue, ...this.trail].find((one) => one.docno === docno);
  }

  /** Add documents that came, but for those that are here or judged already; whether there were any. */
  take(documents) {
    const known = new Set(this.holds());
    const fresh = documents.filter((one) => !known.has(one.assignment) && !this.judged.has(one.assignment));
    const came = new Set(fresh.map((one) => one.assignment));
    this.forget((one) => came.has(one.assignment));
    this.queue.push(...fresh);
    return fresh.length > 0;
  }

  /** Look at a document that was judged before, as when it was opened by its own address. */
  lookAt(one) {
    this.forget(isOf(one.assignment));
    this.trail.push(one);
    this.place = this.trail.length - 1;
    this.judged.add(one.assignment);
  }

  /**
   * The document on the screen is judged or deferred. One that waited goes to the end of the trail, and the next one
   * follows; one that the judge looked back at stays on the screen.
   */
  settle(decision, isPutOff) {
    const settled = { ...this.current, decision, isPutOff };
    const { assignment } = settled;
    this.queue = this.queue.filter((other) => other.assignment !== assignment);
    if (this.isLookingBack) this.trail[this.place] = settled;
    else this.trail = [...this.trail.filter((other) => other.assignment !== assignment), settled].slice(-LONGEST_TRAIL);
    if (!isPutOff) this.judged.add(assignment);
  }

  /** A judgement is withdrawn, or a document is no longer deferred: it is the next document to judge. */
  takeBack(one) {
    this.place = null;
    this.trail = this.trail.filter((other) => other.assignment !== one.assignment);
    this.queue = [{ ...one, decision: null, isPutOff: false }, ...this.queue.filter((other) => other.assignment !== one.assignment)];
    this.judged.delete(one.assignment);
  }

  /** Another decision counts for a document: look at it. */
  decide(one, decision) {
    const known = this.trail.findIndex(isOf(one.assignment));
    if (known < 0) this.trail.push(one);
    this.place = known < 0 ? this.trail.length - 1 : known;
    this.trail[this.place] = { ...one, decision, isPutOff: false };
  }

  /** Look at a document of the trail; false when it is not there. */
  lookBackAt(assignment) {
    const index = this.trail.findIndex(isOf(assignment));
    if (index >= 0) this.place = index;
    return index >= 0;
  }

  /** The text of a document of the trail has come. */
  fill(one) {
    const index = this.trail.findIndex(isOf(one.assignment));
    if (index >= 0) this.trail[index] = { ...one, decision: this.trail[index].decision };
  }

  /** Documents that another tab has judged are not shown here, but for one that is kept. */
  drop(assignments, kept) {
    for (const assignment of assignments) this.judged.add(assignment);
    this.putAside(assignments, kept);
  }

  /** Documents that another tab has deferred are shown when they come again, but for one that is kept. */
  putAside(assignments, kept) {
    this.queue = this.queue.filter((one) => one.assignment === kept || !assignments.includes(one.assignment));
  }

  /** Documents are not judged after all, and may come again: the judgement was refused or withdrawn. */
  release(assignments) {
    for (const assignment of assignments) this.judged.delete(assignment);
  }

  /** One step back on the trail; false at its beginning. */
  goBack() {
    const from = this.place ?? this.trail.length;
    if (from === 0) return false;
    this.place = from - 1;
    return true;
  }

  /** One step forward on the trail, at its end to the document that waits; false there. */
  goForward() {
    if (!this.isLookingBack) return false;
    this.place = this.place + 1 < this.trail.length ? this.place + 1 : null;
    return true;
  }

  goOn() {
    this.place = null;
  }

  /** The oldest document known, from which the server knows the way further back. */
  oldest() {
    return this.trail[0] ?? this.queue[0];
  }

  /** Put a document before the beginning of the trail and look at it. */
  lengthen(one) {
    this.trail.unshift(one);
    this.place = 0;
  }

  /** Leave documents out of the trail, but never the one that is being looked at. */
  forget(isForgotten) {
    const shown = this.isLookingBack ? this.current : null;
    this.trail = this.trail.filter((one) => one === shown || !isForgotten(one));
    if (shown) this.place = this.trail.indexOf(shown);
  }
}
