import { nftFamily, ruleWords } from "#lib/host/firewall/nft.ts";
import { InvocationError } from "#lib/errors.ts";
import { assertEquals, assertThrows } from "#tests/support/assert.ts";

Deno.test("nft: an unknown family, and arguments that look like options, are refused", () => {
  assertEquals(nftFamily("ipv4"), "ip");
  assertThrows(() => nftFamily("ipv5"), InvocationError, "Unknown family");
  assertEquals(ruleWords("tcp dport 22 counter -1"), ["tcp", "dport", "22", "counter", "-1"]);
  for (const rule of ["-f /etc/shadow", "accept --file x"]) {
    assertThrows(() => ruleWords(rule), InvocationError, "Invalid rule");
  }
});
