// The latest value of something a judge writes, kept in this browser until the server has it.

const PAUSE_AFTER_TYPING = 1500;
const PAUSE_AFTER_FAILURE = 10_000;

export class Saving {
  /** `body` makes the request of a value; `onState` gets "unsaved", "saved", or the sentence of a refusal. */
  constructor({ link, url, key, body, onState }) {
    Object.assign(this, { link, url, key, body, onState });
    this.timer = null;
    this.isSending = false;
  }

  /** What an earlier page could not send; null when there is nothing. */
  left() {
    return JSON.parse(localStorage.getItem(this.key));
  }

  /** Keep a value here, and send it when the judge pauses. */
  change(value) {
    localStorage.setItem(this.key, JSON.stringify(value));
    this.onState("unsaved");
    this.later(PAUSE_AFTER_TYPING);
  }

  later(milliseconds) {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.send(), milliseconds);
  }

  async send() {
    clearTimeout(this.timer);
    const sent = localStorage.getItem(this.key);
    if (sent === null || this.isSending) return;
    this.isSending = true;
    const { data, trouble } = await this.link.post(this.url, this.body(JSON.parse(sent)));
    this.isSending = false;
    const isLatest = localStorage.getItem(this.key) === sent;
    if (data?.saved && isLatest) {
      localStorage.removeItem(this.key);
      this.onState("saved");
    } else if (trouble?.kind === "refused") this.onState(trouble.sentence);
    else this.later(isLatest ? PAUSE_AFTER_FAILURE : 0);
  }
}
