import { factsOf } from "#lib/targeting/facts.ts";
import { matchesTop, topMatchType } from "#lib/targeting/top_match.ts";
import { TargetError } from "#lib/errors.ts";
import { map, type Value } from "#lib/values/value.ts";
import { assertEquals, assertThrows } from "#tests/support/assert.ts";

const SUBJECT = {
  id: "web1",
  grains: factsOf(map({ os: "Debian", ipv4: ["192.0.2.7"] })),
  pillar: factsOf(map({ role: "web" })),
};

function matches(tgt: Value, type: string, logged: string[] = []): boolean {
  const log = (_level: string, message: string) => void logged.push(message);
  const data = (key: string) => key === "spam:eggs";
  return matchesTop(tgt, type, SUBJECT, { nodegroups: map({ webs: "web*" }), log, data });
}

const CASES: readonly [Value, string, boolean][] = [
  ["web*", "compound", true],
  ["G@os:Debian and I@role:web", "compound", true],
  ["N@webs and not N@webs", "compound", false],
  [["web*"], "compound", false],
  [1, "compound", false],
  ["web?", "glob", true],
  ["w.b1", "pcre", true],
  ["os:Deb*", "grain", true],
  ["os:^D", "grain_pcre", true],
  ["role:w*", "pillar", true],
  ["role:w*", "pillar_exact", false],
  ["role:w.b", "pillar_pcre", true],
  ["web1,db1", "list", true],
  ["192.0.2.0/24", "ipcidr", true],
  ["webs", "nodegroup", true],
  ["nope", "nodegroup", false],
  ["spam:eggs", "data", true],
  ["spam:ham", "data", false],
];

for (const [tgt, type, expected] of CASES) {
  Deno.test(`a top file's ${JSON.stringify(tgt)} with match: ${type} ${expected ? "means" : "does not mean"} the minion`, () => {
    assertEquals(matches(tgt, type), expected);
  });
}

Deno.test("the last match option of a target is used; without one it is a compound target", () => {
  assertEquals(topMatchType(["a", map({ order: 1 })]), "compound");
  assertEquals(topMatchType([map({ match: "glob" }), "a", map({ match: "pcre" })]), "pcre");
});

Deno.test("an invalid target matches no minion, which is logged with the reason", () => {
  const logged: string[] = [];
  assertEquals(matches("web1 and", "compound", logged), false);
  assertEquals(matches("(", "pcre", logged), false);
  assertEquals(logged.length, 2);
});

Deno.test("an unknown matcher is refused by name", () => {
  assertThrows(() => matches("*", "nope"), TargetError, "'nope'");
});
