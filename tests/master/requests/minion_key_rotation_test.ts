/**
 * Minions that replace their own key pairs.
 * @module
 */

import { PrivateKey } from "#lib/crypto/rsa.ts";
import { packStatements, stateNextKey } from "#lib/keys/key_statement.ts";
import { REKEY_COMMAND } from "#lib/protocol/rekey.ts";
import { signInMinion } from "#lib/master/requests/sign_in.ts";
import { decode } from "#lib/values/msgpack.ts";
import { asBytes } from "#lib/protocol/payload.ts";
import { isMap, map, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertNotEquals } from "#tests/support/assert.ts";
import { fleetTest } from "#tests/support/fleet/fleet.ts";
import { scripted } from "#tests/support/fleet/master_requests.ts";
import { testServices } from "#tests/support/fleet/services.ts";

/** The `ret` of an answer; "accepted" for one with keys. */
function outcomeOf(answer: Value | undefined): Value {
  const inner = isMap(answer) ? decode(asBytes(answer.get("load")) ?? new Uint8Array(), "wire") : null;
  return !isMap(inner) ? null : inner.has("aes") ? "accepted" : inner.get("ret") ?? null;
}

Deno.test("only the accepted key can name the next one, for its own minion; then the old one is refused", async () => {
  using services = await testServices({ auto_accept: true });
  const [old, next, stranger] = await Promise.all([1, 2, 3].map(() => PrivateKey.generate(2048)));
  const times = (key: PrivateKey) => ({ next: key.publicKey.pem, notBeforeMs: 0, notAfterMs: 0 });
  const { keys, sessions } = services.auth;
  const signIn = async (key: PrivateKey, statements: Value | undefined, id = "web1") => {
    const load = map({ cmd: "_auth", id, nonce: crypto.randomUUID(), pub: key.publicKey.pem });
    if (statements !== undefined) load.set("next_minion", statements);
    return outcomeOf(await signInMinion(load, 3, services));
  };
  assertEquals(await signIn(old, undefined), "accepted");
  const session = sessions.forSignIn("web1");
  const good = stateNextKey({ minion: "web1" }, old, times(next));
  const stolen = stateNextKey({ minion: "web1" }, stranger, times(stranger));
  const hostile: Readonly<Record<string, Value>> = {
    "a stranger's statement": packStatements([stolen]),
    "a statement about another key": packStatements([good]),
    "one of another minion": packStatements([stateNextKey({ minion: "db1" }, old, times(stranger))]),
    "one about the master": packStatements([stateNextKey("master", old, times(stranger))]),
    "a changed one": packStatements([{ ...good, body: stolen.body }]),
    "no list": "text",
    "too many": packStatements(Array.from({ length: 17 }, () => good)),
  };
  for (const [what, statements] of Object.entries(hostile)) {
    assertEquals([await signIn(stranger, statements), keys.get("web1", "accepted")], [false, old.publicKey.pem], what);
  }
  assertEquals(sessions.forSignIn("web1"), session);
  assertEquals(await signIn(next, packStatements([good])), "accepted");
  assertEquals(keys.get("web1", "accepted"), next.publicKey.pem);
  assertNotEquals(sessions.forSignIn("web1"), session, "whoever has the old key may know the session");
  assertEquals(await signIn(old, undefined), false);
  assertEquals(await signIn(old, packStatements([good])), false, "nothing leads back");
  assertEquals(await signIn(next, packStatements([good])), "accepted");
  services.auth.keys.move("web1", "accepted", "rejected");
  assertEquals(await signIn(next, packStatements([good])), false, "a rejected key stays rejected");
});

fleetTest("saltutil.rotate_key: the minion goes on with its new key, the old one is refused in every request", {
  minions: ["web1"],
}, async (fleet) => {
  const pki = fleet.minionOpts("web1").pki_dir;
  const oldKey = PrivateKey.fromPem(Deno.readTextFileSync(`${pki}/minion.pem`));
  const thief = scripted(fleet, "web1", oldKey);
  await thief.signIn();
  const answer = await fleet.saltJson("web1", "saltutil.rotate_key");
  const shown = isMap(answer) ? answer.get("web1") : null;
  assert(isMap(shown) && typeof shown.get("new") === "string" && shown.get("new") !== shown.get("old"), String(shown));
  const accepted = fleet.keys.get("web1", "accepted");
  assertEquals(accepted, Deno.readTextFileSync(`${pki}/minion.pub`).trim());
  assertNotEquals(accepted, oldKey.publicKey.pem);
  assertEquals(await fleet.saltJson("web1", "test.ping"), map({ web1: true }));
  assertEquals((await thief.signIn()).inner.get("ret"), false);
  const refused = await thief.request({ cmd: REKEY_COMMAND }).then(String, String);
  assert(!refused.includes("aes"), refused);
  await fleet.stopMinion("web1");
  await fleet.untilServing(["web1"], () => fleet.startMinion("web1"));
  assertEquals(await fleet.saltJson("web1", "test.ping"), map({ web1: true }));
});
