// At the end of a topic: the next one, which Enter opens, or why there is none.

import { ask } from "./requests.js";
import { openSheet } from "./sheets.js";
import { batch, say } from "./words.js";

const element = (id) => document.getElementById(id);
const link = element("next-topic");
let latest = 0;

/** Ask the server with which topic the judge continues, and offer it. */
export async function offerNextTopic() {
  const asked = (latest += 1);
  const { status, data } = await ask(batch.urls.onward);
  // The judge may have looked again, or documents came, meanwhile.
  if (asked !== latest || element("over-links").hidden) return;
  const topic = status === 200 ? data?.topic : null;
  element("over-next").textContent = data?.sentence ?? "";
  element("over-next").hidden = status !== 200 || Boolean(topic);
  link.hidden = !topic;
  const others = element("over-links").querySelector("a:not(#next-topic)");
  others.classList.toggle("quiet", Boolean(topic));
  if (topic) {
    link.href = topic.url;
    link.textContent = say("next_topic", topic);
  }
  if (!openSheet() && !document.querySelector(":is(input, textarea):focus")) {
    (topic ? link : others).focus({ preventScroll: true });
  }
}

/** Documents are shown again, or are being fetched. */
export function withdrawNextTopic() {
  latest += 1;
  link.hidden = element("over-next").hidden = true;
}
