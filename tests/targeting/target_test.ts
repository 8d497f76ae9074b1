import { TargetError } from "#lib/errors.ts";
import { factsOf } from "#lib/targeting/facts.ts";
import { matchesTarget, portableTarget } from "#lib/targeting/target.ts";
import type { Value, ValueMap } from "#lib/values/value.ts";
import { map } from "#lib/values/value.ts";
import { assert, assertEquals, assertNotEquals, assertThrows } from "#tests/support/assert.ts";
import { cpuMs } from "#tests/support/time.ts";
import { type CorpusRow, MINIONS, NODEGROUPS, ROWS } from "#tests/support/targets_corpus.ts";

/** The minions that match the published target of a job. */
function takers(row: CorpusRow): string[] {
  const target = portableTarget(row, NODEGROUPS);
  return MINIONS.filter(({ id, grains, pillar }) => {
    const subject = { id, grains: factsOf(grains), pillar: factsOf(pillar) };
    return matchesTarget(target, subject, { delimiter: row.delimiter });
  }).map(({ id }) => id).sort();
}

/** An invalid target matches no minion. */
function nobodyIfUnreadable(ask: () => string[]): string[] {
  try {
    return ask();
  } catch (error) {
    if (error instanceof TargetError) return [];
    throw error;
  }
}

for (const type of new Set(ROWS.map(({ tgtType }) => tgtType))) {
  // Minions get no targets of that type: the master uses it to check permissions.
  if (type === "compound_pillar_exact") continue;
  Deno.test(`minions match ${type} targets what Salt's say`, () => {
    for (const row of ROWS.filter(({ tgtType }) => tgtType === type)) {
      const target = JSON.stringify(row.tgt);
      assertEquals(nobodyIfUnreadable(() => takers(row)), row.ours ?? row.minions, target);
      if (row.ours !== undefined) {
        assertNotEquals([row.ours, row.ours, []], [row.master, row.minions, row.missing], `${target} does not differ`);
      }
    }
  });
}

const WEB1 = { id: "web1", grains: factsOf(map({ os: "Debian" })), pillar: factsOf(new Map()) };

const UNREADABLE: readonly [type: string, tgt: Value, message: string][] = [
  ["grain", "os", 'os has no ":"'],
  ["grain", 7, "must be a text"],
  ["grain_pcre", "os:[", "["],
  ["pcre", "web(", "web("],
  ["ipcidr", "192.0.2.5/24", "within the network 192.0.2.0/24"],
  ["ipcidr", "2001:db8::5/32", "within the network 2001:db8::/32"],
  ["ipcidr", "nonsense", "Neither an address nor a network: nonsense"],
  ["range", "%web", "no range server"],
  ["constructor", "x", '"constructor"'],
  ["__proto__", "x", '"__proto__"'],
  ["compound", "R@%web", "no range server"],
  ["compound", "T@host", "resources are not built"],
  ["compound", "web1 and", "a term is missing at the end"],
  ["compound", "( or web1 )", 'a term is missing before "or"'],
  ["compound", "web1 web2", 'unexpected "web2"'],
  ["compound", "G@os:Debian adn web1", 'unexpected "adn"; did you mean and?'],
  ["compound", "web1 )", 'unexpected ")"'],
  ["compound", "( web1", "not closed"],
  ["compound", `${"( ".repeat(200)}web1${" )".repeat(200)}`, "more than 100 parentheses"],
  ["compound", Array.from({ length: 1_001 }, () => "web1").join(" or "), "more than 1000 terms"],
  ["compound", 7, "must be a text or a list"],
  ["compound", "N@wbe", "did you mean web?"],
  ["nodegroup", "quite else", "is not in the configuration, which has "],
  ["nodegroup", "loop1", "contains itself: loop1 > loop2 > loop1"],
  ["nodegroup", "self", "contains itself: self > self"],
  ["nodegroup", "odd", "The node group odd is neither a text nor a list"],
  ["ipcidr", 7, "An address must be a text"],
];

for (const [tgtType, tgt, message] of UNREADABLE) {
  Deno.test(`a ${tgtType} target ${JSON.stringify(tgt).slice(0, 40)} is refused with its reason`, () => {
    const nodegroups: ValueMap = new Map([...NODEGROUPS, ["odd", 7]]);
    assertThrows(() => matchesTarget({ tgt, tgtType }, WEB1, { nodegroups }), TargetError, message);
  });
}

Deno.test("minions get a node group as a compound target with its groups expanded", () => {
  const published = (tgt: string, tgtType: string) => portableTarget({ tgt, tgtType }, NODEGROUPS);
  assertEquals(published("web", "nodegroup"), { tgt: "( web1 or web2 )", tgtType: "compound" });
  assertEquals(published("list", "nodegroup"), { tgt: "L@web1,mon_1", tgtType: "compound" });
  assertEquals(published("regex", "nodegroup"), { tgt: "E@web[12]", tgtType: "compound" });
  assertEquals(published("db*  and not N@nested", "compound").tgt, "db* and not ( ( web1 or web2 ) and not web2 )");
  assertEquals(published("web*", "glob"), { tgt: "web*", tgtType: "glob" });
});

Deno.test("node groups that reference each other too often are refused", () => {
  const groups = Array.from({ length: 20 }, (_, i): [Value, Value] => [`g${i}`, `N@g${i + 1} or N@g${i + 1}`]);
  const nodegroups = new Map<Value, Value>([...groups, ["g20", "web1"]]);
  assertThrows(() => portableTarget({ tgt: "g0", tgtType: "nodegroup" }, nodegroups), TargetError, "words");
});

Deno.test("the matching of expensive grains is aborted within a second", () => {
  const long = "a".repeat(200_000);
  let nested: Value = "x";
  for (let i = 0; i < 40; i++) nested = map({ a: nested });
  const hostile: readonly [tgt: string, type: string, grains: Value][] = [
    ["roles:(a+)+$", "grain_pcre", Array.from({ length: 5_000 }, () => `${"a".repeat(500)}!`)],
    ["roles:(a*)\\1\\1$", "grain_pcre", Array.from({ length: 1_000 }, () => `${"a".repeat(500)}!`)],
    ["roles:(a*)(a*)(a*)\\1b$", "grain_pcre", ["a".repeat(2_000)]],
    [`roles:${"*a".repeat(50)}*b`, "grain", Array.from({ length: 1_000 }, () => long)],
    [`roles:${"a:".repeat(30)}y`, "grain", nested],
  ];
  for (const [tgt, tgtType, roles] of hostile) {
    const subject = { ...WEB1, grains: factsOf(new Map([["roles", roles]])) };
    let failed = false;
    const tookMs = cpuMs(() => {
      try {
        failed = !matchesTarget({ tgt, tgtType }, subject);
      } catch (error) {
        if (!(error instanceof TargetError)) throw error;
        failed = true;
      }
    });
    assert(failed, tgt);
    assert(tookMs < 1_000, `${tgt.slice(0, 40)}: ${tookMs} ms`);
  }
});
