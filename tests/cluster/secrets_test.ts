/** @module */
import { makeRoot, openRoot, RootKeys } from "#lib/cluster/cluster_secrets.ts";
import { AuthenticationError } from "#lib/errors.ts";
import { assertEquals, assertNotEquals, assertThrows } from "#tests/support/assert.ts";

const bytes = (text: string) => new TextEncoder().encode(text);

Deno.test("the root of a cluster opens with its secret and its name alone", () => {
  const { root, sealed } = makeRoot({ id: "prod", secret: "one" });
  assertEquals(openRoot({ id: "prod", secret: "one" }, sealed), root);
  assertThrows(() => openRoot({ id: "prod", secret: "two" }, sealed), AuthenticationError);
  assertThrows(() => openRoot({ id: "test", secret: "one" }, sealed), AuthenticationError);
  assertNotEquals(makeRoot({ id: "prod", secret: "one" }).root, root);
});

Deno.test("what is sealed for one purpose opens for no other, nor in another cluster", () => {
  const keys = new RootKeys(new Uint8Array(32).fill(1)), others = new RootKeys(new Uint8Array(32).fill(2));
  const sealed = keys.seal("publishes", bytes("a job"));
  assertEquals(keys.open("publishes", sealed), bytes("a job"));
  assertThrows(() => keys.open("tokens", sealed), AuthenticationError);
  assertThrows(() => others.open("publishes", sealed), AuthenticationError);
  assertThrows(() => keys.open("publishes", sealed.with(20, sealed[20] ^ 1)), AuthenticationError);
});

Deno.test("a MAC is over its parts and where they end", () => {
  const keys = new RootKeys(new Uint8Array(32).fill(1));
  const mac = keys.mac("keys", bytes("web1"), bytes("accepted"));
  assertEquals(keys.mac("keys", bytes("web1"), bytes("accepted")), mac);
  for (const parts of [["web1a", "ccepted"], ["web1accepted"], ["web1", "pending"], ["web1", "accepted", ""]]) {
    assertNotEquals(keys.mac("keys", ...parts.map(bytes)), mac);
  }
  assertNotEquals(keys.mac("data", bytes("web1"), bytes("accepted")), mac);
});
