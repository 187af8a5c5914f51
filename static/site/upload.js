// Sends the files of a form with a progress bar and shows the answer in place. Without this file the form is a plain one.

const REFUSED = 400; // The least status of a refusal.
const QUARTERS = 4; // A screen reader is told of every quarter that has arrived, and not of every packet.

class Upload {
  constructor(form, address) {
    this.form = form;
    this.address = address;
    this.bar = form.querySelector("progress");
    this.said = form.querySelector("[role=status]");
    this.stopping = form.querySelector("[data-stop]");
    this.request = new XMLHttpRequest();
  }

  start() {
    const { request } = this;
    request.open("POST", this.address);
    request.responseType = "document";
    request.upload.addEventListener("progress", (event) => this.onProgress(event));
    request.upload.addEventListener("load", () => this.onArrival());
    request.addEventListener("load", () => this.onAnswer());
    request.addEventListener("error", () => this.end(this.form.dataset.broken));
    request.addEventListener("abort", () => this.end(this.form.dataset.stopped));
    this.stopping.onclick = () => request.abort();
    this.busy(true);
    this.tell(0);
    request.send(new FormData(this.form));
  }

  onProgress(event) {
    if (!event.lengthComputable) return;
    this.bar.value = event.loaded / event.total;
    this.tell(Math.floor((event.loaded / event.total) * QUARTERS) / QUARTERS);
  }

  // From here on stopping would change nothing: the server has the files and reads them.
  onArrival() {
    this.bar.removeAttribute("value");
    this.stopping.hidden = true;
    this.say(this.form.dataset.reading);
  }

  onAnswer() {
    const { response, responseURL, status } = this.request;
    if (responseURL !== this.address) {
      this.end("");
      location.assign(responseURL);
      return;
    }
    const main = response?.querySelector("main");
    if (!main) {
      this.end(this.form.dataset.broken);
      return;
    }
    const told = main.querySelector(".refusal, .accepted") ?? main;
    // A form that was stored comes back empty at the same address.
    if (status >= REFUSED || told !== main) keepFiles(this.form, main);
    document.title = response.title;
    const at = main.querySelector("[data-at]")?.dataset.at;
    document.querySelector("main").replaceWith(document.adoptNode(main));
    if (at) history.replaceState(null, "", at); // Where the checked files are kept.
    begin();
    told.tabIndex = -1;
    told.focus();
    told.scrollIntoView({ block: "nearest" });
  }

  end(words) {
    this.busy(false);
    this.say(words);
  }

  busy(isBusy) {
    this.form.setAttribute("aria-busy", String(isBusy));
    this.bar.value = 0;
    this.bar.hidden = !isBusy;
    this.stopping.hidden = !isBusy;
  }

  tell(part) {
    this.say(this.form.dataset.sending.replace("{percent}", String(part * 100)));
  }

  say(words) {
    if (this.said.textContent !== words) this.said.textContent = words;
  }
}

// The answer to a check or a refusal has the form again; the files that were chosen stay chosen in it.
function keepFiles(from, main) {
  for (const input of main.querySelectorAll("form[data-limit] input[type=file]")) {
    const chosen = [...from.querySelectorAll("input[type=file]")].find((one) => one.name === input.name);
    if (chosen?.files.length) input.files = chosen.files;
  }
}

function onSubmit(event) {
  const form = event.currentTarget;
  event.preventDefault();
  if (form.getAttribute("aria-busy") === "true") return;
  const address = event.submitter?.hasAttribute("formaction") ? event.submitter.formAction : form.action;
  const upload = new Upload(form, address);
  const files = [...form.querySelectorAll("input[type=file]")].flatMap((input) => [...input.files]);
  const bytes = files.reduce((sum, file) => sum + file.size, 0);
  if (bytes > Number(form.dataset.limit)) upload.say(form.dataset.tooLarge);
  else upload.start();
}

// Files dropped on a field join those that were chosen before.
function onDrop(event) {
  const zone = event.currentTarget;
  event.preventDefault();
  zone.classList.remove("over");
  const input = zone.querySelector("input[type=file]");
  const all = new DataTransfer();
  for (const file of [...input.files, ...event.dataTransfer.files]) all.items.add(file);
  input.files = all.files;
  showChosen(zone);
}

function onDragOver(event) {
  event.preventDefault();
  event.currentTarget.classList.add("over");
}

function showChosen(zone) {
  const count = zone.querySelector("input[type=file]").files.length;
  zone.querySelector("[data-dropped]").textContent = count
    ? zone.dataset.chosen.replace("{count}", String(count))
    : zone.dataset.drop;
}

function beginDropping(zone) {
  zone.addEventListener("drop", onDrop);
  zone.addEventListener("dragover", onDragOver);
  zone.addEventListener("dragleave", () => zone.classList.remove("over"));
  zone.addEventListener("change", () => showChosen(zone));
  zone.querySelector("[data-dropped]").hidden = false;
  showChosen(zone);
}

function begin() {
  for (const zone of document.querySelectorAll("[data-drop]")) beginDropping(zone);
  for (const form of document.querySelectorAll("form[data-limit]")) form.addEventListener("submit", onSubmit);
}

begin();
