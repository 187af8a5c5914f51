// Shows how far a job is, and what came of it as soon as it is done. Without this file the page reloads by itself.

const FIRST_LOOK = 300; // milliseconds
const BETWEEN_LOOKS = 1000;

class Job {
  constructor(section) {
    this.words = section.dataset;
    this.bar = section.querySelector("progress");
    this.said = section.querySelector("[role=status]");
  }

  async look() {
    try {
      const answer = await fetch(this.words.job, { headers: { Accept: "application/json" } });
      if (!answer.ok) {
        location.reload();
        return;
      }
      const job = await answer.json();
      if (job.state !== "waiting" && job.state !== "running") {
        location.reload();
        return;
      }
      this.show(job);
    } catch {
      // The network is gone for a moment; the job goes on without it.
    }
    setTimeout(() => this.look(), BETWEEN_LOOKS);
  }

  show(job) {
    if (job.done) {
      this.bar.max = job.steps;
      this.bar.value = job.done;
    } else {
      this.bar.removeAttribute("value");
    }
    this.say(this.sentence(job));
  }

  sentence(job) {
    if (job.state === "waiting") {
      return job.before ? this.words.before.replace("{count}", String(job.before)) : this.words.waiting;
    }
    if (!job.steps) return this.words.running;
    const percent = Math.floor((100 * job.done) / job.steps);
    return this.words.steps
      .replace("{done}", String(job.done))
      .replace("{steps}", String(job.steps))
      .replace("{percent}", String(percent));
  }

  // A screen reader says what has changed, and nothing again and again.
  say(words) {
    if (this.said.textContent.trim() !== words) this.said.textContent = words;
  }
}

for (const section of document.querySelectorAll("[data-job]")) setTimeout(() => new Job(section).look(), FIRST_LOOK);
