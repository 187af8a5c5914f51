// The documents at hand: those that wait, and the trail of those that were judged, for going back.

// Documents are large; the server knows the way further back.
const LONGEST_TRAIL = 50;

export class Desk {
  constructor() {
    this.queue = [];
    // In the order in which they were judged last, as the server sees it, too.
    this.trail = [];
    // Where in the trail the judge is looking; null at the document that waits.
    this.place = null;
    this.judged = new Set();
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
    this.trail.push(one);
    this.place = this.trail.length - 1;
  }

  /** The document on the screen is judged or put off: it goes to the end of the trail, the next one follows. */
  settle(decision, isPutOff) {
    const one = this.current;
    const settled = { ...one, decision, isPutOff };
    // Not while the judge goes back along it.
    if (!this.isLookingBack) this.trail = this.trail.slice(-(LONGEST_TRAIL - 1));
    this.queue = this.queue.filter((other) => other.assignment !== one.assignment);
    this.place = null;
    this.trail = this.trail.filter((other) => other.assignment !== one.assignment);
    this.trail.push(settled);
    if (!isPutOff) this.judged.add(one.assignment);
  }

  /** Documents that another tab has judged are not shown here, but for one that is kept. */
  drop(assignments, kept) {
    for (const assignment of assignments) this.judged.add(assignment);
    this.putAside(assignments, kept);
  }

  /** Documents that another tab has put off are shown when they come again, but for one that is kept. */
  putAside(assignments, kept) {
    this.queue = this.queue.filter((one) => one.assignment === kept || !assignments.includes(one.assignment));
  }

  /** Documents are not judged after all, and may come again: the server refused the judgement. */
  release(assignments) {
    for (const assignment of assignments) this.judged.delete(assignment);
  }

  /** One step back on the trail from a place there; false at its beginning. */
  goBack(from = this.place ?? this.trail.length) {
    if (from === 0) return false;
    this.place = from - 1;
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
