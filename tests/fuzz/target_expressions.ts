/**
 * Target: target expressions of every type, on the master's side and on the minion's side.
 * @module
 */

import { TargetError } from "#lib/errors.ts";
import { type KnownFleet, resolveTarget } from "#lib/fleet/resolve_target.ts";
import { factsOf } from "#lib/targeting/facts.ts";
import { matchesTarget, portableTarget } from "#lib/targeting/target.ts";
import { encode } from "#lib/values/msgpack.ts";
import { map, type ValueMap } from "#lib/values/value.ts";
import { mutateText, NASTY_TEXTS, type Random, textOf } from "./mutate.ts";
import { type FuzzTarget, hold } from "./target.ts";
import { randomValue } from "./values.ts";

/** Pieces of regular expressions, with those that make other engines hang. */
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

/** An expression that is usually valid. */
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

const COMPOUND_TOKENS = [
  ...[
    "and",
    "or",
    "not",
    "(",
    ")",
    "web*",
    "*",
    "db1",
    "G@os:D*",
    "G|@os|x",
    "P@roles:(a+)+$",
    "I@role:w*",
    "J@role:.*",
    "S@10.0.0.0/8",
    "L@web1,db1",
  ],
  ...["E@web.*", "N@web", "N@loop", "N@", "G@os", "R@x", "T@x", "M@web1", "S@::/0", "G@*:*:a*"],
].map((word) => ` ${word} `);
const DATA_TOKENS = ["os", "roles", "deep", ":", ":", "*", "a", "web", "?", "[ab]", "(a+)+", ".*", "1", "|", "$"];
const ADDRESS_TOKENS = ["10", "0", ".", ".", ":", "::", "/", "8", "255", "2001:db8", "%eth0", "ffff"];
const NODEGROUPS = map({ web: "web* or db1", nested: ["N@web", "and", "not", "db1"], loop: "N@loop" });

/** The grains of each minion, some of them made to cost time. */
const GRAINS: readonly ValueMap[] = IDS.map((id, i) =>
  map({
    id,
    os: i % 2 === 0 ? "Debian" : "Arch",
    roles: ["web", "a".repeat(50 * i), { a: { a: { a: "b" } } }],
    deep: { a: { a: { a: { a: { a: { a: "x" } } } } }, 1: "one" },
    ipv4: ["10.0.0.1", "127.0.0.1", "no address"],
    ipv6: "2001:db8::1",
  })
);
/** The grains of the last minion are unknown. */
const FLEET: KnownFleet = {
  ids: IDS,
  nodegroups: NODEGROUPS,
  data: {
    scan(_bank, begin) {
      const visit = begin();
      for (const [i, id] of IDS.slice(0, -1).entries()) visit(id, encode(GRAINS[i], "disk"));
    },
  },
};

const TYPES = [
  "glob",
  "pcre",
  "pcre",
  "list",
  "",
  "grain",
  "grain_pcre",
  "pillar",
  "pillar_exact",
  "ipcidr",
  "nodegroup",
];

/** Targets of every type on the master's and the minion's side. */
export const targetExpressions: FuzzTarget = {
  name: "targets",
  share: 15,
  refusals: [TargetError],
  open: () => ({
    feed(random, note) {
      const type = random.chance(0.95)
        ? random.pick([...TYPES, "compound", "compound", "compound"])
        : random.pick(NASTY_TEXTS);
      const tgt = random.chance(0.05) ? randomValue(random) : expression(random, type);
      note(`${type}: ${typeof tgt === "string" ? tgt : "a value"}`);
      const target = { tgt, tgtType: type };
      const { minions, costly } = resolveTarget(target, FLEET);
      const published = portableTarget(target, NODEGROUPS);
      for (const [i, id] of IDS.slice(0, -1).entries()) {
        // The minion refuses expressions that cost too much.
        if (costly.includes(id)) continue;
        const facts = factsOf(GRAINS[i]);
        const matches = matchesTarget(published, { id, grains: facts, pillar: facts });
        hold(matches === minions.includes(id), `both sides differ on ${id}`);
      }
      return minions.length === 0 ? "none" : "some";
    },
    checkService() {
      const subject = { id: "web1", grains: factsOf(GRAINS[0]), pillar: factsOf(new Map()) };
      for (const [tgt, tgtType] of [["w*", "glob"], ["w.*", "pcre"], ["web* and G@os:D*", "compound"]]) {
        hold(matchesTarget({ tgt, tgtType }, subject), "no match");
      }
    },
    close() {},
  }),
};

function expression(random: Random, type: string): string {
  if (type === "compound") return textOf(random, COMPOUND_TOKENS, 12);
  if (type === "nodegroup") return random.pick(["web", "nested", "loop", "nowhere", ...NASTY_TEXTS]);
  if (type === "ipcidr") return textOf(random, ADDRESS_TOKENS, 12);
  if (type.startsWith("grain") || type.startsWith("pillar")) {
    return `${random.pick(["os:", "roles:", "deep:", "*:", ""])}${textOf(random, DATA_TOKENS, 12)}`;
  }
  const tokens = type === "pcre" ? REGEX_TOKENS : GLOB_TOKENS;
  if (type === "pcre" && random.chance(0.6)) return regexText(random);
  return random.chance(0.5) ? textOf(random, tokens, 30) : mutateText(random, random.pick(TARGETS), tokens);
}
