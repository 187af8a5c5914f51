// On pages beside the judging screen: sends what the screen could not, so that no judgement waits for its topic.

import { Outbox } from "./outbox.js";
import { Link, ask } from "./requests.js";
import { Sender } from "./sender.js";
import { say } from "./words.js";

const place = document.getElementById("leftovers");

async function begin() {
  const { session } = place.dataset;
  const { data } = await ask(session);
  if (!data?.csrf) return;
  const outbox = await Outbox.open(data.person);
  await outbox.retry();
  const tell = () => {
    const count = outbox.entries.length;
    place.hidden = count === 0;
    place.textContent = count === 0 ? "" : say("leftovers", { count });
  };
  const channel = new BroadcastChannel(`annotator-judging-${data.person}`);
  tell();
  const sender = new Sender({
    outbox,
    link: new Link({ person: data.person, csrf: data.csrf, session }),
    address: null,
    tab: "",
    holds: () => [],
    draws: () => false,
    wants: () => false,
    onAnswer: ({ acknowledged }) => channel.postMessage({ acknowledged }),
    onState: tell,
  });
  sender.start();
  addEventListener("online", () => sender.hurry());
}

begin();
