/** @module */
import { Crypticle } from "#lib/crypto/crypticle.ts";
import { PrivateKey } from "#lib/crypto/rsa.ts";
import { SharedKey } from "#lib/keys/shared_key.ts";
import { PublishSealer } from "#lib/master/publisher/publish_sealer.ts";
import { asBytes } from "#lib/protocol/payload.ts";
import { decode } from "#lib/values/msgpack.ts";
import { isMap, map, type Value } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";

/** The loads of publishes, opened. */
function opened(sharedKey: SharedKey, frames: readonly Uint8Array[]): Value[] {
  return frames.map((frame) => {
    const envelope = decode(frame, "wire");
    const sealed = isMap(envelope) ? asBytes(envelope.get("load")) : undefined;
    return new Crypticle(sharedKey.text).loads(sealed ?? new Uint8Array());
  });
}

const pair = await PrivateKey.generate(2048);

for (const isNumbered of [true, false]) {
  Deno.test(`publishes of a master ${isNumbered ? "are numbered" : "of a cluster have no serial"}`, () => {
    const sharedKey = new SharedKey();
    const opts = { sign_pub_messages: false, publish_signing_algorithm: "PKCS1v15-SHA224" as const };
    const sealer = new PublishSealer(opts, { sharedKey, masterKeys: { current: pair }, isNumbered });
    const loads = opened(sharedKey, [1, 2].map((n) => sealer.seal(map({ n }))));
    assertEquals(loads, [1, 2].map((n) => map(isNumbered ? { n, serial: n } : { n })));
  });
}
