// Sends what is in the outbox, in order and one request at a time, until the server has acknowledged it.

import { NOBODY, ask } from "./requests.js";

const MOST_ACTS = 50;
const SHORTEST_PAUSE = 1000;
const LONGEST_PAUSE = 30_000;
// Whoever signs in again in another tab shall not wait for long.
const LONGEST_PAUSE_SIGNED_OUT = 5000;

// How the sending goes: "idle", "sending", "unreachable", "signed-out", "somebody-else", "refused".

export class Sender {
  /**
   * `link` holds the person's requests; `address` is where the acts of this page go; `holds` tells which documents are
   * at hand, `draws` whether more are welcome, `wants` whether the screen waits for some; `onAnswer` and `onState` get
   * what came of it.
   */
  constructor({ outbox, link, address, tab, holds, draws, wants, onAnswer, onState }) {
    Object.assign(this, { outbox, link, address, tab, holds, draws, wants, onAnswer, onState });
    this.state = { kind: "idle" };
    this.failures = 0;
    this.isRunning = false;
    this.endPause = null;
  }

  /** Begin to send, if it does not go on already. */
  start() {
    if (!this.isRunning) this.run();
  }

  /** Try at once what would be tried again later: the network is back, or somebody looks at the page again. */
  hurry() {
    this.endPause?.();
    this.start();
  }

  async run() {
    this.isRunning = true;
    try {
      while (this.outbox.hasSomethingToSend() || this.wants()) {
        if (this.state.kind === "idle") this.tell({ kind: "sending" });
        const trouble = await this.attempt();
        if (trouble) {
          this.tell(trouble);
          await this.pause();
        } else this.failures = 0;
      }
    } finally {
      this.isRunning = false;
    }
    this.tell({ kind: "idle" });
  }

  /** One request; what was in the way, or nothing. */
  async attempt() {
    const entries = await this.outbox.next(MOST_ACTS);
    const isOwn = entries.length === 0 || entries[0].address === this.address;
    const draws = isOwn && this.draws() && entries.length === this.outbox.entries.filter((entry) => !entry.refused).length;
    const answer = await this.link.post(entries[0]?.address ?? this.address, {
      tab: entries[0]?.tab ?? this.tab,
      holds: isOwn ? this.holds() : [],
      // What an earlier page left goes first; documents come with the last of it.
      draw: draws,
      acts: entries.map((entry) => ({ ...entry.act, ago: secondsSince(entry.at) })),
    });
    if (!answer.data?.acknowledged) return this.setAside(entries, answer.trouble ?? { kind: "unreachable" });
    const { acknowledged, refused } = answer.data;
    const settled = acknowledged.length + refused.length;
    this.outbox.acknowledge(acknowledged, answer.data.epoch);
    this.outbox.refuse(refused);
    if (this.state.kind !== "sending") this.tell({ kind: "sending" });
    this.onAnswer(answer.data, { isOwn, drew: draws });
    return entries.length > 0 && settled === 0 ? { kind: "unreachable" } : null;
  }

  /** Acts whose place is closed to the judge do not keep others waiting; what stays in the way otherwise. */
  setAside(entries, trouble) {
    const isBeside = ({ address }) => address !== this.address;
    const holdsUp = entries.some(isBeside) || this.outbox.entries.some((entry) => !entry.refused && isBeside(entry));
    if (trouble.kind !== "refused" || entries.length === 0 || !holdsUp) return trouble;
    const { status, sentence } = trouble;
    this.outbox.refuse(entries.map(({ act }) => ({ id: act.id, status, sentence })));
    return null;
  }

  pause() {
    const longest = NOBODY.has(this.state.kind) ? LONGEST_PAUSE_SIGNED_OUT : LONGEST_PAUSE;
    const pause = Math.min(SHORTEST_PAUSE * 2 ** this.failures, longest);
    this.failures += 1;
    return new Promise((resolve) => {
      // Between half of it and all of it, so that a hundred judges do not come back in the same moment.
      const timer = setTimeout(resolve, Math.max(SHORTEST_PAUSE, pause * (0.5 + Math.random() / 2)));
      this.endPause = () => {
        clearTimeout(timer);
        resolve();
      };
    }).finally(() => (this.endPause = null));
  }

  tell(state) {
    this.state = state;
    this.onState(state);
  }
}

function secondsSince(moment) {
  return Math.max(0, (Date.now() - moment) / 1000);
}
