// What the judge did: in memory for this page, in IndexedDB for the next one. What the server has acknowledged is kept for
// a day, to be undone, and to be sent again when the database was restored from an earlier state.

const DATABASE = "annotator";
const ACTS = "acts";
const MILLISECONDS_TO_OPEN = 4000;
const MILLISECONDS_KEPT = 24 * 60 * 60 * 1000;

// An entry is { person, address, tab, at, epoch, isFirst, title, before, undoes, redoes, refused, savedAt, act }: whose it
// is, where it is to be sent, the page load it was made in, when by this machine's clock, the epoch of the database, whether
// it is the first judgement of its document, the document's title, the decision that it replaces, the act that it undoes or
// redoes, why the server refused it, and when the server acknowledged it. Its order is the key that IndexedDB counts up.

export class Outbox {
  /** The outbox of a person, with what earlier pages left in it; without IndexedDB it lives as long as the page. */
  static async open(person) {
    const outbox = new Outbox(person);
    try {
      outbox.database = await withinTime(opened());
      outbox.records = await outbox.left();
      await outbox.dropOld();
    } catch {
      outbox.lasts = false;
    }
    return outbox;
  }

  constructor(person) {
    this.person = person;
    this.database = null;
    this.records = [];
    this.lasts = true;
  }

  /** What is not saved yet, also what was refused. */
  get entries() {
    return this.history.filter((entry) => !entry.savedAt);
  }

  /** Everything of the last day, in order. */
  get history() {
    return this.records.map((record) => record.entry);
  }

  /** What was saved in another epoch of the database: the restored one may lack it. */
  savedBefore(epoch) {
    return this.history.filter((entry) => entry.savedAt && entry.epoch !== epoch && entry.act.kind !== "later");
  }

  /** Put an act in, at once for this page; the promise is kept when it would survive the end of the browser. */
  add(entry) {
    const record = { entry, key: null, isWritten: null };
    this.records.push(record);
    record.isWritten = this.ask("readwrite", (acts) => acts.add(entry)).then(
      (key) => (record.key = key),
      () => (this.lasts = false),
    );
    return record.isWritten;
  }

  /** The oldest entries that can go in one request: of one tab, for one address, none refused. */
  async next(most) {
    const open = this.records.filter(({ entry }) => isUnsent(entry));
    const goesAlong = ({ entry }) => entry.tab === open[0].entry.tab && entry.address === open[0].entry.address;
    const end = open.findIndex((record) => !goesAlong(record));
    const taken = open.slice(0, Math.min(most, end < 0 ? open.length : end));
    await Promise.all(taken.map((record) => record.isWritten));
    return taken.map((record) => record.entry);
  }

  hasSomethingToSend() {
    return this.records.some(({ entry }) => isUnsent(entry));
  }

  /** The server has stored these, as it or another tab says. */
  acknowledge(ids, epoch) {
    const known = new Set(ids);
    const saved = this.records.filter(({ entry }) => known.has(entry.act.id) && !entry.savedAt);
    for (const { entry } of saved) Object.assign(entry, { savedAt: Date.now(), refused: null, epoch: epoch ?? entry.epoch });
    return this.write(saved, (acts, record) => acts.put(record.entry, record.key));
  }

  /** The judge discards these. */
  remove(ids) {
    return this.forget((entry) => ids.includes(entry.act.id));
  }

  /** Send again what was saved in an earlier epoch; the server stores each once, on the assignment it has now. */
  sendAgain(epoch) {
    const again = new Set(this.savedBefore(epoch));
    const records = this.records.filter(({ entry }) => again.has(entry));
    for (const { entry } of records) Object.assign(entry, { savedAt: null, epoch, act: { ...entry.act, again: true } });
    return this.write(records, (acts, record) => acts.put(record.entry, record.key));
  }

  /** Forget that these were saved in an earlier epoch. */
  discardSavedBefore(epoch) {
    const gone = new Set(this.savedBefore(epoch));
    return this.forget((entry) => gone.has(entry));
  }

  dropOld() {
    return this.forget((entry) => entry.savedAt && entry.savedAt < Date.now() - MILLISECONDS_KEPT);
  }

  forget(isForgotten) {
    const gone = this.records.filter(({ entry }) => isForgotten(entry));
    this.records = this.records.filter((record) => !gone.includes(record));
    return this.write(gone, (acts, record) => acts.delete(record.key));
  }

  /** Keep what the server refused, with its sentence; it is not sent again before the judge wants it. */
  refuse(refused) {
    const sentences = new Map(refused.map((refusal) => [refusal.id, refusal]));
    const kept = this.records.filter((record) => sentences.has(record.entry.act.id));
    for (const { entry } of kept) entry.refused = sentences.get(entry.act.id);
    return this.write(kept, (acts, record) => acts.put(record.entry, record.key));
  }

  /** Let what was refused be sent once more, on the assignment that the judge has now. */
  retry() {
    const refused = this.records.filter((record) => record.entry.refused);
    for (const { entry } of refused) Object.assign(entry, { refused: null, act: { ...entry.act, again: true } });
    return this.write(refused, (acts, record) => acts.put(record.entry, record.key));
  }

  async write(records, change) {
    await Promise.all(records.map((record) => record.isWritten));
    const written = records.filter((record) => record.key !== null);
    if (written.length === 0) return;
    try {
      await this.ask("readwrite", (acts) => written.map((record) => change(acts, record)).at(-1));
    } catch {
      this.lasts = false;
    }
  }

  async left() {
    const [keys, entries] = await Promise.all([
      this.ask("readonly", (acts) => acts.getAllKeys()),
      this.ask("readonly", (acts) => acts.getAll()),
    ]);
    return keys
      .map((key, index) => ({ key, entry: entries[index], isWritten: null }))
      .filter((record) => record.entry?.person === this.person);
  }

  ask(mode, question) {
    return new Promise((resolve, reject) => {
      if (!this.database) throw new Error("there is no IndexedDB");
      const transaction = this.database.transaction(ACTS, mode, { durability: "strict" });
      const asked = question(transaction.objectStore(ACTS));
      // Now, and not when the page has the answer: it may be gone by then.
      if (mode === "readwrite") transaction.commit();
      transaction.oncomplete = () => resolve(asked.result);
      transaction.onabort = () => reject(transaction.error);
    });
  }
}

function isUnsent({ refused, savedAt }) {
  return !refused && !savedAt;
}

function opened() {
  return new Promise((resolve, reject) => {
    const asked = indexedDB.open(DATABASE, 1);
    asked.onupgradeneeded = () => asked.result.createObjectStore(ACTS, { autoIncrement: true });
    asked.onerror = () => reject(asked.error);
    asked.onsuccess = () => {
      asked.result.onversionchange = () => asked.result.close();
      resolve(asked.result);
    };
  });
}

function withinTime(promise) {
  return Promise.race([
    promise,
    new Promise((_, reject) => setTimeout(() => reject(new Error("IndexedDB does not open")), MILLISECONDS_TO_OPEN)),
  ]);
}
