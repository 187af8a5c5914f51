// What the judge can undo and redo: read from the outbox and from what was saved from this browser within a day.

/** The collection and queue of an address: judgements of all its topics are undone in one order. */
export function scopeOf(address) {
  return address.replace(/\/topics\/.*$/, "");
}

/**
 * The entries that `u` takes back and Shift-U gives again, the next one last. An entry says what it does to another one:
 * `undoes` and `redoes` hold the id of that one's act.
 */
export function stacksOf(entries, address) {
  const scope = scopeOf(address);
  const undo = [];
  const redo = [];
  for (const entry of entries.filter((one) => scopeOf(one.address) === scope && !one.refused)) {
    // What was deferred is only taken back: it is deferred again by its own key.
    if (entry.undoes) move(undo, entry.act.kind === "later" ? [] : redo, entry.undoes);
    else {
      // A new act after an undo leaves nothing to redo.
      if (entry.redoes) move(redo, [], entry.redoes);
      else redo.length = 0;
      undo.push(entry);
    }
  }
  return { undo, redo };
}

function move(from, to, id) {
  const index = from.findLastIndex((entry) => entry.act.id === id);
  if (index >= 0) to.push(...from.splice(index, 1));
}
