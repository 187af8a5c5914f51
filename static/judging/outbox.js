// What the judge did and the server has not acknowledged: in memory for this page, in IndexedDB for the next one.

const DATABASE = "annotator";
const ACTS = "acts";
const MILLISECONDS_TO_OPEN = 4000;

// An entry is { person, address, tab, at, isFirst, refused, act }: whose it is, where it is to be sent, the page load it
// was made in, when by this machine's clock, whether it is the first judgement of its document, and why the server
// refused it. Its order is the key that IndexedDB counts up.

export class Outbox {
  /** The outbox of a person, with what earlier pages left in it; without IndexedDB it lives as long as the page. */
  static async open(person) {
    const outbox = new Outbox(person);
    try {
      outbox.database = await withinTime(opened());
      outbox.records = await outbox.left();
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

  get entries() {
    return this.records.map((record) => record.entry);
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
    const open = this.records.filter((record) => !record.entry.refused);
    const goesAlong = ({ entry }) => entry.tab === open[0].entry.tab && entry.address === open[0].entry.address;
    const end = open.findIndex((record) => !goesAlong(record));
    const taken = open.slice(0, Math.min(most, end < 0 ? open.length : end));
    await Promise.all(taken.map((record) => record.isWritten));
    return taken.map((record) => record.entry);
  }

  hasSomethingToSend() {
    return this.records.some((record) => !record.entry.refused);
  }

  /** Take out what the server, or another tab for us, knows to be stored; or what the judge throws away. */
  remove(ids) {
    const gone = this.records.filter((record) => ids.includes(record.entry.act.id));
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

  /** Let what was refused be sent once more. */
  retry() {
    const refused = this.records.filter((record) => record.entry.refused);
    for (const { entry } of refused) entry.refused = null;
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
