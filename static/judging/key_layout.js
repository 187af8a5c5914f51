// Which key means which command. A command is named by its usual key, or has one of its own: the `data-key` of what it
// presses.

const LAYOUTS = {
  usual: {},
  // Commands on the number pad, whose digits are grades already.
  "number-pad": { u: "-", "Shift-U": "Shift--", x: "*", l: "+", n: "." },
  // The digits and what lies below them; ` is to the left of 1.
  "left-hand": { 0: "`", u: "z", "Shift-U": "Shift-Z", l: "c", n: "v", "]": "d", "[": "Shift-D", "/": "Shift-F", m: "r", o: "Shift-X" },
};
// For commands whose usual key means another one in a layout, or by a choice of the person.
const FREE = [..."hjkypi;',.=", ..."HJKYPI".split("").map((letter) => `Shift-${letter}`)];

export const layoutNames = Object.keys(LAYOUTS);

/** Whether speech or a slip of the hand may press the key: it is a single character. Enter and arrows are none. */
export function isCharacter(key) {
  return key.length === 1 || /^Shift-.$/.test(key);
}

export class KeyLayout {
  /** The layout that a person chose in this browser, for these commands; `usual` has the keys of some of them. */
  constructor(person, commands, usual = {}) {
    this.name = `annotator:keys:${person}`;
    this.commands = commands;
    this.usual = usual;
    const { layout, changed, isOff } = read(this.name);
    this.layout = layout in LAYOUTS ? layout : "usual";
    this.changed = changed ?? {};
    this.isOff = isOff === true;
    this.arrange();
  }

  /** Give each command its key: the chosen ones first, then those of the layout, then the usual ones, then free ones. */
  arrange() {
    this.keys = new Map();
    const taken = new Set();
    const give = (command, key) => {
      if (this.keys.has(command) || !key || taken.has(key)) return;
      this.keys.set(command, key);
      taken.add(key);
    };
    for (const source of [this.changed, LAYOUTS[this.layout]]) {
      for (const command of this.commands) give(command, source[command]);
    }
    for (const command of this.commands) give(command, this.usual[command] ?? command);
    for (const command of this.commands) {
      give(
        command,
        FREE.find((key) => !taken.has(key) && !this.commands.includes(key)),
      );
    }
    this.byKey = new Map([...this.keys].map(([command, key]) => [key, command]));
  }

  keyOf(command) {
    return this.keys.get(command) ?? "";
  }

  /** The command of a key, or nothing; single characters can be switched off. */
  commandOf(key) {
    return this.isOff && isCharacter(key) ? undefined : this.byKey.get(key);
  }

  /** The command that a person means by a key: Shift with a letter is the letter, unless it is a key of its own. */
  meantBy(key) {
    return this.commandOf(key) ?? this.commandOf(key.replace(/^Shift-(.)$/, (_, letter) => letter.toLowerCase()));
  }

  /** Let a key mean a command; the command that has it already when it is taken. */
  change(command, key) {
    const holder = this.byKey.get(key);
    if (holder !== undefined && holder !== command) return holder;
    this.changed[command] = key;
    this.keep();
    return null;
  }

  /** Take another layout, without the keys that were changed before. */
  choose(layout) {
    Object.assign(this, { layout, changed: {} });
    this.keep();
  }

  switch(isOff) {
    this.isOff = isOff;
    this.keep();
  }

  keep() {
    this.arrange();
    const { layout, changed, isOff } = this;
    try {
      localStorage.setItem(this.name, JSON.stringify({ layout, changed, isOff }));
    } catch {
      // It holds for this page.
    }
  }
}

function read(name) {
  try {
    return JSON.parse(localStorage.getItem(name)) ?? {};
  } catch {
    return {};
  }
}
