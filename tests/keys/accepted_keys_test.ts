/** The accepted keys, and the tokens that prove who has the private ones. */

import type { PrivateKey } from "#lib/crypto/rsa.ts";
import { MinionKeys } from "#lib/keys/accepted_keys.ts";
import { KeyStore } from "#lib/keys/store.ts";
import { VerifiedTokens } from "#lib/keys/verified_tokens.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { testKey } from "#tests/support/fleet/scripted_minion.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const BITS = 1024;

function tokenOf(key: PrivateKey, text = "salt"): Uint8Array {
  return key.signX931(new TextEncoder().encode(text));
}

function withKeys(run: (keys: MinionKeys, store: KeyStore) => void | Promise<void>): Promise<void> {
  return withTemporaryDirectory(async (root) => {
    const store = new KeyStore(root);
    await run(new MinionKeys(store, new VerifiedTokens()), store);
  });
}

Deno.test("only the private key of the accepted key makes a token, and no key is none", () =>
  withKeys(async (keys, store) => {
    const [own, other] = await Promise.all([testKey("own", BITS), testKey("other", BITS)]);
    assertEquals([keys.get("web1"), keys.provesToken("web1", tokenOf(own))], [undefined, false]);
    store.put("web1", "pending", own.publicKey.pem);
    assertEquals([keys.get("web1"), keys.provesToken("web1", tokenOf(own))], [undefined, false]);
    store.put("web1", "accepted", own.publicKey.pem);
    assertEquals(keys.provesToken("web1", undefined), false);
    assertEquals(keys.provesToken("web1", tokenOf(other)), false);
    assertEquals(keys.provesToken("web1", tokenOf(own, "sale")), false, "another text");
    // The second time it is remembered; a wrong one is not taken for it.
    assertEquals([0, 1].map(() => keys.provesToken("web1", tokenOf(own))), [true, true]);
    assertEquals(keys.provesToken("web1", tokenOf(own).fill(0, 0, 1)), false);
  }));

Deno.test("a key that is replaced or removed is not proved by the token of the one before", () =>
  withKeys(async (keys, store) => {
    const [own, other] = await Promise.all([testKey("own", BITS), testKey("other", BITS)]);
    store.put("web1", "accepted", own.publicKey.pem);
    assertEquals(keys.provesToken("web1", tokenOf(own)), true);
    store.put("web1", "accepted", other.publicKey.pem);
    assertEquals([own, other].map((key) => keys.provesToken("web1", tokenOf(key))), [false, true]);
    store.remove("web1");
    assertEquals([own, other].map((key) => keys.provesToken("web1", tokenOf(key))), [false, false]);
  }));

Deno.test("an accepted key that cannot be read is none", () =>
  withKeys(async (keys, store) => {
    store.put("web1", "accepted", "-----BEGIN PUBLIC KEY-----\nMCow\n-----END PUBLIC KEY-----\n");
    const token = tokenOf(await testKey("own", BITS));
    assertEquals([keys.get("web1"), keys.provesToken("web1", token)], [undefined, false]);
  }));
