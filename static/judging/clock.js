// Active seconds: while the page can be seen and is used. An hour at the coffee machine is no time of judging.

const IDLE_AFTER = 60_000;
const SIGNS_OF_LIFE = ["keydown", "pointerdown", "pointermove", "wheel", "scroll", "touchstart"];

/** Counts what lies between two signs of life, of each gap at most a minute. */
export class Clock {
  constructor(now, isVisible) {
    this.since = now;
    this.isVisible = isVisible;
    this.counted = 0;
  }

  sign(now) {
    this.counted = this.sofar(now);
    this.since = now;
  }

  turn(now, isVisible) {
    this.sign(now);
    this.isVisible = isVisible;
  }

  /** Milliseconds up to now, without counting this look as a sign of life. */
  sofar(now) {
    return this.counted + (this.isVisible ? Math.min(now - this.since, IDLE_AFTER) : 0);
  }

  /** The seconds of a document; the next one begins. */
  lap(now) {
    this.sign(now);
    const seconds = this.counted / 1000;
    this.counted = 0;
    return seconds;
  }
}

/** A clock that watches this page. */
export function watchingClock() {
  const clock = new Clock(performance.now(), !document.hidden);
  for (const sign of SIGNS_OF_LIFE) {
    addEventListener(sign, () => clock.sign(performance.now()), { passive: true, capture: true });
  }
  document.addEventListener("visibilitychange", () => clock.turn(performance.now(), !document.hidden));
  return clock;
}

/** The active seconds of a person's day, over all pages of this browser. */
export class Today {
  constructor(person) {
    this.prefix = `active:${person}:`;
    this.added = 0;
  }

  get key() {
    const day = new Date();
    return `${this.prefix}${day.getFullYear()}-${day.getMonth() + 1}-${day.getDate()}`;
  }

  seconds() {
    return this.kept() + this.added;
  }

  add(seconds) {
    this.added += seconds;
  }

  /** Let other pages know. */
  keep() {
    for (const key of Object.keys(localStorage)) {
      if (key.startsWith(this.prefix) && key !== this.key) localStorage.removeItem(key);
    }
    localStorage.setItem(this.key, String(this.seconds()));
    this.added = 0;
  }

  kept() {
    return Number(localStorage.getItem(this.key)) || 0;
  }
}
