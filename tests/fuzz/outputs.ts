/**
 * Target: the output of the operator's commands. A minion may return anything, and the terminal must not be affected.
 * @module
 */

import { formatOutput, OUTPUTTERS } from "#lib/output/outputters.ts";
import { map, type Value } from "#lib/values/value.ts";
import { NASTY_TEXTS, type Random } from "./mutate.ts";
import { type FuzzTarget, hold } from "./target.ts";
import { randomValue } from "./values.ts";

const PIECES = [
  " ",
  "\n",
  "\t",
  "\r",
  "\x1b[2J",
  "\x9b",
  "\x7f",
  "\u202e",
  "a",
  ": ",
  "- ",
  "'",
  '"',
  "\\",
  "é",
  "\u{1f9c2}",
  "{",
  "\u2028",
];
/** All control characters of a terminal, except line feed and tab. */
const CONTROL_CHARACTERS = /[^\P{Cc}\n\t]|[\u202a-\u202e\u2066-\u2069]/u;

/** All outputters of `--out`. */
export const outputs: FuzzTarget = {
  name: "outputs",
  share: 8,
  refusals: [],
  open: () => ({
    feed(random, note) {
      const out = random.pick([...OUTPUTTERS.keys()]);
      const value = random.chance(0.5) ? randomValue(random) : lines(random);
      const data = random.chance(0.8) ? map({ web1: value }) : value;
      note(`${out}: ${typeof value === "string" ? value : "a value"}`);
      const indent = random.pick([undefined, -1, 0, 2]);
      const text = formatOutput(data, { out, color: false, indent, retcode: random.int(2) });
      const control = CONTROL_CHARACTERS.exec(text);
      hold(control === null, `U+${control?.[0].charCodeAt(0).toString(16)} reaches the terminal`);
      return out;
    },
    checkService: () =>
      hold(formatOutput(map({ web1: true }), { out: "nested", color: false }) === "web1:\n    True", "not nested"),
    close() {},
  }),
};

/** A text with long runs of a character: code that is fast for a word must be fast for a megabyte of blanks. */
function lines(random: Random): Value {
  let text = "";
  for (let count = 1 + random.int(4); count > 0; count--) {
    text += random.pick([...PIECES, ...NASTY_TEXTS]).repeat(random.length(random.chance(0.1) ? 30_000 : 20));
  }
  return text;
}
