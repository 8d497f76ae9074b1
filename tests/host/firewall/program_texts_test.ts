/**
 * Rules and members of sets with unknown words.
 * @module
 */

import { containsMember, parseMember } from "#lib/host/firewall/ipset_members.ts";
import { parseSaved } from "#lib/host/firewall/iptables_output.ts";
import { isMap, type Value } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";

function at(value: Value, ...keys: string[]): Value {
  return keys.reduce((value, key) => isMap(value) ? value.get(key) ?? null : null, value);
}

Deno.test("a word of a rule without an option is left out", () => {
  const saved = parseSaved("*filter\n:INPUT ACCEPT [0:0]\n-A INPUT -p tcp ! stray -j ACCEPT\nCOMMIT\n");
  const rules = at(saved, "filter", "INPUT", "rules");
  const [rule] = Array.isArray(rules) ? rules : [];
  assertEquals([at(rule, "protocol"), at(rule, "jump")], [["tcp"], ["ACCEPT"]]);
});

Deno.test("a range of addresses has two ordered ends; other values are compared as text", () => {
  const isIn = (member: string, entry: string) =>
    containsMember(parseMember("hash:ip", member), parseMember("hash:ip", entry));
  assertEquals(isIn("10.0.0.0/30", "10.0.0.0-10.0.0.3"), true);
  for (const odd of ["10.0.0.1-x", "x-10.0.0.1", "10.0.0.1-10.0.0.2-10.0.0.3", "10.0.0.9-10.0.0.1"]) {
    assertEquals(parseMember("hash:ip", odd), [{ kind: "text", text: odd }]);
    assertEquals([isIn(odd, odd), isIn("10.0.0.1", odd)], [true, false], odd);
  }
});
