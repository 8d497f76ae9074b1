/** @module */
import { generateKeyString } from "#lib/crypto/crypticle.ts";
import { KeyError } from "#lib/errors.ts";
import { DerivedSessionKeys } from "#lib/keys/derived_sessions.ts";
import { KeyStore } from "#lib/keys/store.ts";
import { assert, assertEquals, assertNotEquals, assertThrows } from "#tests/support/assert.ts";

const LIFETIME_MS = 1_000;
const ROOT = new Uint8Array(32).fill(7);

/** Two masters' stores of keys, and the time that both see. */
function inTempDir(run: (stores: readonly [KeyStore, KeyStore], time: { ms: number }) => void): void {
  const root = Deno.makeTempDirSync({ prefix: "derived_sessions_" });
  try {
    run([new KeyStore(`${root}/a`), new KeyStore(`${root}/b`)], { ms: 10_000 });
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
}

function sessionsOf(keys: KeyStore, time: { readonly ms: number }, root = ROOT): DerivedSessionKeys {
  return new DerivedSessionKeys({ root, keys, lifetimeMs: LIFETIME_MS, now: () => time.ms });
}

Deno.test("two masters compute the same session of a minion, and others of other minions, keys and roots", () =>
  inTempDir(([a, b], time) => {
    for (const keys of [a, b]) for (const id of ["web1", "web2"]) keys.put(id, "accepted", "the key of one");
    const [one, other] = [a, b].map((keys) => sessionsOf(keys, time));
    const text = one.forSignIn("web1");
    assertEquals(text.length, generateKeyString().length);
    assertEquals(other.crypticles("web1")[0].keyString, text);
    assertNotEquals(other.forSignIn("web2"), text);
    assertNotEquals(sessionsOf(a, time, new Uint8Array(32).fill(8)).forSignIn("web1"), text);
    b.put("web1", "accepted", "another key");
    assertNotEquals(other.forSignIn("web1"), text);
  }));

Deno.test("a minion whose clock is ahead, or that has not been heard yet, need not sign in again", () =>
  inTempDir(([keys], time) => {
    keys.put("web1", "accepted", "key");
    const sessions = sessionsOf(keys, time), [, , next] = sessions.crypticles("web1");
    sessions.noteUse("web1", next);
    assert(!sessions.isOld("web1"));
    const endless = new DerivedSessionKeys({ root: ROOT, keys, lifetimeMs: 0 });
    endless.forSignIn("web1");
    assertEquals([endless.crypticles("web1").length, endless.isOld("web1"), endless.isOld("web2")], [1, false, false]);
  }));

Deno.test("without an accepted key there is no session", () =>
  inTempDir(([keys], time) => {
    const sessions = sessionsOf(keys, time);
    assertEquals(sessions.crypticles("web1"), []);
    keys.put("web1", "pending", "key");
    assertThrows(() => sessions.forSignIn("web1"), KeyError);
    keys.put("web1", "accepted", "key");
    sessions.forSignIn("web1");
    keys.remove("web1");
    assertEquals(sessions.crypticles("web1"), []);
  }));

Deno.test("a key that is removed between two looks gives no session", () =>
  inTempDir(([keys], time) => {
    keys.put("web1", "accepted", "key");
    keys.get = () => undefined;
    assertEquals(sessionsOf(keys, time).crypticles("web1"), []);
  }));

Deno.test("a session counts for an epoch more and for clocks that are an epoch behind, and is old after its own", () =>
  inTempDir(([keys], time) => {
    keys.put("web1", "accepted", "key");
    const sessions = sessionsOf(keys, time);
    const text = sessions.forSignIn("web1");
    const counts = () => sessions.crypticles("web1").some(({ keyString }) => keyString === text);
    assert(counts() && !sessions.isOld("web1"));
    time.ms += LIFETIME_MS;
    const used = sessions.crypticles("web1").find(({ keyString }) => keyString === text);
    assert(used !== undefined);
    sessions.noteUse("web1", used);
    assert(counts() && sessions.isOld("web1"));
    const next = sessions.forSignIn("web1");
    assertNotEquals(next, text);
    assert(!sessions.isOld("web1"));
    time.ms += LIFETIME_MS;
    assert(!counts());
    time.ms -= 3 * LIFETIME_MS;
    assert(counts());
  }));
