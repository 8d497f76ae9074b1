/**
 * The signature of a master's key: what must be there for it.
 * @module
 */

import { signMasterKey } from "#lib/keys/master_signature.ts";
import { KeyError } from "#lib/errors.ts";
import { assertEquals, assertRejects } from "#tests/support/assert.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

Deno.test("a signature needs a private key that signs, and a public key that is signed", () =>
  withTemporaryDirectory(async (pkiDir) => {
    const options = {
      pkiDir,
      id: "m",
      signKeyName: "master_sign",
      signatureName: "master_pubkey_signature",
      algorithm: "PKCS1v15-SHA1",
      keysize: 2048,
    } as const;
    await assertRejects(
      () => signMasterKey({ ...options, pub: `${pkiDir}/x` }),
      KeyError,
      `${pkiDir}/x does not exist`,
    );
    await assertRejects(
      () => signMasterKey({ ...options, priv: `${pkiDir}/x` }),
      KeyError,
      `${pkiDir}/x does not exist`,
    );
    await assertRejects(() => signMasterKey(options), KeyError, "No usable private-key found");
    await assertRejects(() => signMasterKey({ ...options, autoCreate: true }), KeyError, "No usable public-key found");
    Deno.copyFileSync(`${pkiDir}/master_sign.pub`, `${pkiDir}/master.pub`);
    assertEquals([await signMasterKey(options), await signMasterKey(options)], [true, false]);
    // Everybody may read it: minions get it.
    assertEquals((Deno.statSync(`${pkiDir}/master_pubkey_signature`).mode ?? 0) & 0o7777, 0o644);
    // Keys elsewhere are used as they are named.
    Deno.mkdirSync(`${pkiDir}/elsewhere`);
    const [pub, priv] = ["pub", "pem"].map((end) => `${pkiDir}/elsewhere/k.${end}`);
    for (const [end, path] of [["pub", pub], ["pem", priv]]) Deno.renameSync(`${pkiDir}/master_sign.${end}`, path);
    const named = { ...options, pub, priv, signaturePath: `${pkiDir}/elsewhere` };
    assertEquals(await signMasterKey(named), true);
  }));
