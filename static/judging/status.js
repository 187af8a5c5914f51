// How it stands with what was judged: "saved" or "n unsent", what is in the way, what the server refused.

import { decisionWords, tell } from "./screen.js";
import { batch, say } from "./words.js";

const element = (id) => document.getElementById(id);
const MILLISECONDS_WORTH_TELLING = 3000;

export class Status {
  constructor(outbox, onRetry) {
    Object.assign(this, { outbox, onRetry });
    this.unsentSince = null;
    this.state = { kind: "idle" };
    element("send-again").addEventListener("click", onRetry);
    this.offerLost();
  }

  /** Show how it stands now; `state` is the sender's. */
  show(state = this.state) {
    this.state = state;
    const entries = this.outbox.entries;
    const isTroubled = !["idle", "sending"].includes(state.kind);
    const words = entries.length === 0 ? say("saved") : say("unsent", { count: entries.length });
    element("state").textContent = words;
    element("state").className = entries.length === 0 ? "saved" : isTroubled ? "unsent troubled" : "unsent";
    this.showTrouble(isTroubled);
    this.showRefused(entries.filter((entry) => entry.refused));
    this.tellSparingly(entries.length, words);
  }

  /** After a restore, offer what was saved from this browser before: the restored database may lack it. */
  offerLost() {
    const lost = this.outbox.savedBefore(batch.epoch);
    element("lost").hidden = lost.length === 0;
    element("lost-text").textContent = say("lost", { count: lost.length });
    const answer = async (change) => {
      element("lost").hidden = true;
      await change;
      this.onRetry();
    };
    element("lost-send").addEventListener("click", () => answer(this.outbox.sendAgain(batch.epoch)));
    element("lost-discard").addEventListener("click", () => answer(this.outbox.discardSavedBefore(batch.epoch)));
  }

  get trouble() {
    const { kind, name, sentence } = this.state;
    if (kind === "refused") return sentence;
    const unreachable = this.outbox.lasts ? "unreachable" : "unreachable_not_kept";
    return { unreachable: say(unreachable), "signed-out": say("signed_out"), "somebody-else": say("somebody_else", { name }) }[kind];
  }

  showTrouble(isTroubled) {
    // From the beginning and for good, so that nothing moves at a key.
    element("not-kept").hidden = this.outbox.lasts;
    const words = isTroubled ? this.trouble : "";
    const place = element("trouble");
    place.hidden = !words;
    // Only when it is another, for it is read out.
    if (place.firstElementChild.textContent !== words) place.firstElementChild.textContent = words;
    element("try-now").hidden = this.state.kind !== "unreachable";
    element("sign-in").hidden = this.state.kind !== "signed-out" && this.state.kind !== "somebody-else";
  }

  showRefused(refused) {
    const button = element("refused-open");
    button.hidden = refused.length === 0;
    button.textContent = say(refused.length === 1 ? "refused_one" : "refused_many", { count: refused.length });
    element("refused-list").replaceChildren(...refused.map((entry) => this.refusalOf(entry)));
  }

  refusalOf({ act, title, refused }) {
    const item = document.createElement("li");
    const what = document.createElement("strong");
    what.textContent = { later: title, withdraw: say("withdrawal_of", { title }) }[act.kind] ?? `${title}: ${decisionWords(act)}`;
    const why = document.createElement("p");
    why.textContent = refused.sentence;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "link";
    button.textContent = say("throw_away");
    button.addEventListener("click", () => {
      this.outbox.remove([act.id]);
      this.show();
    });
    item.append(what, why, button);
    return item;
  }

  /** A screen reader hears “saved” after a delay that was worth worrying about, not after every key. */
  tellSparingly(unsent, words) {
    if (unsent > 0) this.unsentSince ??= performance.now();
    else if (this.unsentSince !== null) {
      if (performance.now() - this.unsentSince > MILLISECONDS_WORTH_TELLING) tell(words);
      this.unsentSince = null;
    }
  }
}
