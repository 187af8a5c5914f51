// How it stands with what was judged: "saved" or "n unsent", what is in the way, what the server refused.

import { decisionWords, tell } from "./screen.js";
import { say } from "./words.js";

const element = (id) => document.getElementById(id);
const MILLISECONDS_WORTH_TELLING = 3000;

export class Status {
  constructor(outbox, onRetry) {
    this.outbox = outbox;
    this.unsentSince = null;
    this.state = { kind: "idle" };
    element("send-again").addEventListener("click", onRetry);
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

  get trouble() {
    const { kind, name, sentence } = this.state;
    if (kind === "refused") return sentence;
    return { unreachable: say("unreachable"), "signed-out": say("signed_out"), "somebody-else": say("somebody_else", { name }) }[kind];
  }

  showTrouble(isTroubled) {
    const isAway = !this.outbox.lasts && this.outbox.entries.length > 0;
    const words = isTroubled ? this.trouble : isAway ? say("not_kept") : "";
    const place = element("trouble");
    place.hidden = !words;
    // Only when it is another, for it is read out.
    if (place.firstElementChild.textContent !== words) place.firstElementChild.textContent = words;
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
    what.textContent = act.kind === "later" ? title : `${title}: ${decisionWords(act)}`;
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
