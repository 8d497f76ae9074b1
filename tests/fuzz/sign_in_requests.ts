/**
 * `_auth` on port 4506: every field of a sign-in, of unknown minions and of one with the id of the accepted minion.
 * @module
 */

import { MsgpackError } from "#lib/errors.ts";
import { clearRequest } from "#lib/protocol/payload.ts";
import { encode } from "#lib/values/msgpack.ts";
import { map, type ValueMap } from "#lib/values/value.ts";
import { ACCEPTED_ID, openMaster } from "./master_fixture.ts";
import { mutateBytes, mutateText, NASTY_TEXTS, type Random } from "./mutate.ts";
import { type FuzzTarget, hold } from "./target.ts";
import { mutateMap, randomValue } from "./values.ts";
import { allKeys } from "#tests/support/fleet/keys.ts";

const ALGORITHMS = ["OAEP-SHA1", "OAEP-SHA224", "PKCS1v15-SHA1", "PKCS1v15-SHA224", "OAEP", "", "toString"];

export const signInRequests: FuzzTarget = {
  name: "sign_in_requests",
  share: 4,
  checkEvery: 100,
  refusals: [],
  async open() {
    const master = await openMaster();
    const make = (random: Random): ValueMap => {
      const load = map({
        cmd: "_auth",
        id: random.chance(0.5) ? ACCEPTED_ID : random.pick(["new1", ...NASTY_TEXTS]),
        nonce: random.bytes(16).toHex(),
        enc_algo: random.chance(0.7) ? "OAEP-SHA1" : random.pick(ALGORITHMS),
        sig_algo: random.chance(0.7) ? "PKCS1v15-SHA1" : random.pick(ALGORITHMS),
        pub: random.chance(0.5) ? master.pem : mutatePem(random, master.pem),
      });
      if (random.chance(0.3)) load.set("token", random.chance(0.5) ? random.bytes(128) : randomValue(random, 1));
      if (random.chance(0.2)) load.set("autosign_grains", randomValue(random));
      return random.chance(0.4) ? mutateMap(random, load).set("cmd", "_auth") : load;
    };
    return {
      feed(random, note) {
        const frame = frameOf(random, make(random));
        note(frame);
        return master.ask(frame);
      },
      checkService: () => master.checkService(),
      close() {
        const { accepted } = allKeys(master.keys);
        master.close();
        hold(accepted.join() === ACCEPTED_ID, `keys were accepted: ${accepted}`);
      },
    };
  },
};

function frameOf(random: Random, load: ValueMap): Uint8Array {
  try {
    if (random.chance(0.1)) return encode(map({ enc: "clear", load, version: random.int(4) }), "wire");
    const frame = clearRequest(load);
    return random.chance(0.1) ? mutateBytes(random, frame) : frame;
  } catch (error) {
    if (!(error instanceof MsgpackError)) throw error;
    return clearRequest(map({ cmd: "_auth" }));
  }
}

/** A public key with an error in its text or in its numbers. */
export function mutatePem(random: Random, pem: string): string {
  if (random.chance(0.4)) {
    return mutateText(random, pem, ["-----BEGIN PUBLIC KEY-----\n", "\n", "=", "A", "RSA ", "\r\n"]);
  }
  const der = Uint8Array.fromBase64(pem.split("\n").slice(1, -1).join(""));
  const mutated = random.chance(0.3) ? wideExponent(der) : mutateBytes(random, der);
  return `-----BEGIN PUBLIC KEY-----\n${mutated.toBase64().replace(/.{64}/g, "$&\n")}\n-----END PUBLIC KEY-----`;
}

/** The key with its modulus as exponent: its use costs a thousand times as much. */
function wideExponent(der: Uint8Array): Uint8Array {
  const modulus = der.slice(29, 29 + 128); // a key of 1024 bits
  const number = (bytes: Uint8Array) => [0x02, 0x81, bytes.length + 1, 0, ...bytes];
  const sequence = (content: number[]) => [0x30, 0x82, content.length >> 8, content.length & 0xff, ...content];
  const bits = [0, ...sequence([...number(modulus), ...number(modulus)])];
  const algorithm = [0x30, 0x0d, 0x06, 0x09, 0x2a, 0x86, 0x48, 0x86, 0xf7, 0x0d, 0x01, 0x01, 0x01, 0x05, 0x00];
  return Uint8Array.from(sequence([...algorithm, 0x03, 0x82, bits.length >> 8, bits.length & 0xff, ...bits]));
}
