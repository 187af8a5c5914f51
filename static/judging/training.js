// Brings the training to life: the judging screen with one document. Without it the page is a plain form, too.

import { offerCommands } from "./commands.js";
import { ignoreBounces } from "./bounces.js";
import { listen } from "./keys.js";
import { Questions, keepTopicNote, keepWords } from "./notes.js";
import { askForOtherReason } from "./other_reason.js";
import { keepTopicFolded, listenToMarks, pageOf } from "./page.js";
import { leave, listenToEvidence, listenToPanels } from "./panels.js";
import { keepSettings } from "./reading.js";
import { Link } from "./requests.js";
import { batch } from "./words.js";

const form = document.getElementById("grading");
let isSent = false;

const link = new Link({ person: batch.person, csrf: batch.csrf, session: batch.urls.session });
const page = pageOf(link);
// The organisers cannot be asked about a training document, only about its topic.
new Questions(link, () => null);
keepSettings();
keepTopicNote(link);
keepWords(link, page.marks, () => page.mark());
keepTopicFolded();
listenToMarks(page);
listenToEvidence(page);
listenToPanels();
ignoreBounces(form);
askForOtherReason();
page.show(batch.documents[0]);
page.begin([]);
// The first answer counts: a second press may come before the next page.
form.addEventListener("submit", (event) => {
  if (isSent) event.preventDefault();
  isSent = true;
});
// The browser's back button may bring this very page again.
addEventListener("pageshow", () => (isSent = false));
listen(leave);
offerCommands();
document.documentElement.classList.add("with-script");
