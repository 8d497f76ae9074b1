/**
 * Target expressions of every type, on the master's side and the minion's.
 * @module
 */

import { TargetError } from "../../lib/errors.ts";
import { matchesTarget, resolveTarget } from "../../lib/fleet/target.ts";
import { mutateText, NASTY_TEXTS, type Random, textOf } from "./mutate.ts";
import { type FuzzTarget, hold } from "./target.ts";
import { randomValue } from "./values.ts";

/** Pieces of regular expressions, those that make others hang among them. */
export const REGEX_TOKENS = [
  ...[
    "a",
    "b",
    "web",
    "\\d",
    "\\w",
    "\\s",
    ".",
    "^",
    "$",
    "|",
    "(",
    ")",
    "(?:",
    "(?=",
    "(?!",
    "(?<=",
    "(?<!",
    "(?P<n>",
    "(?P=n)",
  ],
  ...[
    "*",
    "+",
    "?",
    "{2,}",
    "{,3}",
    "{3}",
    "{1000}",
    "*?",
    "+?",
    "[a-z]",
    "[^a]",
    "[",
    "]",
    "\\1",
    "\\",
    "(?i)",
    "(?x)",
    "\\b",
    "-",
  ],
  ...[
    "(a+)+",
    "(a|a)*",
    "(a*)*",
    "(.*)*",
    "(a|aa)+$",
    "(?:a?){30}a{30}",
    ".*.*.*.*",
    "(\\w+\\s?)*",
    "\\Z",
    "\\A",
    "\\u0061",
    "\\x61",
  ],
];
const TARGETS = [
  "*",
  "web*",
  "web[0-9]*",
  "w?b1",
  "[!a]*",
  "web1,db1",
  "^(web|db)-?\\d+$",
  "(a+)+$",
  "E@web and not G@os:x",
  "[[:alpha:]]",
];
const IDS = [
  "web1",
  "db1",
  "a".repeat(255),
  "a".repeat(254) + "!",
  "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa!",
  "\u{1f9c2}",
  "x-1.example.org",
];
const GLOB_TOKENS = ["*", "?", "[", "]", "!", "-", "a", "b", "[a-z]", "[!a]", "*a*", "**", "\\", ","];

/** An expression that can mostly be read. */
function regexText(random: Random, depth = 3): string {
  let text = "";
  for (let count = 1 + random.int(4); count > 0; count--) {
    text += depth > 0 && random.chance(0.4)
      ? `${random.pick(["(", "(", "(?:", "(?=", "(?!", "(?i:"])}${regexText(random, depth - 1)})`
      : random.pick(["a", "a", "b", "web", "\\d", "\\w", ".", "[a-z]", "[^a]", "\\b", "|", "$", "^", "\\1"]);
    if (random.chance(0.4)) text += random.pick(["*", "+", "?", "{2,}", "{,3}", "{40}", "*?", "+?", "{1000}"]);
  }
  return text;
}

/** Targets of every type on the master's and the minion's side. */
export const targetExpressions: FuzzTarget = {
  name: "targets",
  share: 15,
  refusals: [TargetError],
  open: () => ({
    feed(random, note) {
      const type = random.chance(0.95)
        ? random.pick(["glob", "pcre", "pcre", "pcre", "list", ""])
        : random.pick(["compound", ...NASTY_TEXTS]);
      const tokens = type === "pcre" ? REGEX_TOKENS : GLOB_TOKENS;
      const text = type === "pcre" && random.chance(0.6)
        ? regexText(random)
        : random.chance(0.5)
        ? textOf(random, tokens, 30)
        : mutateText(random, random.pick(TARGETS), tokens);
      const tgt = random.chance(0.05) ? randomValue(random) : text;
      note(`${type}: ${typeof tgt === "string" ? tgt : "a value"}`);
      const { minions } = resolveTarget(tgt, type, IDS);
      for (const id of IDS) hold(matchesTarget(tgt, type, id) === minions.includes(id), `both sides differ on ${id}`);
      return minions.length === 0 ? "none" : "some";
    },
    honest: () => hold(matchesTarget("w*", "glob", "web1") && matchesTarget("w.*", "pcre", "web1"), "no match"),
    close() {},
  }),
};
