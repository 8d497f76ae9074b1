/**
 * Targets: the decoders of bytes from the wire: msgpack, crypticles, events.
 * @module
 */

import { Crypticle, generateKeyString } from "#lib/crypto/crypticle.ts";
import { AuthenticationError, MsgpackError, WireError } from "#lib/errors.ts";
import { packEvent, stamp } from "#lib/bus/event.ts";
import { unpackEvent } from "#tests/support/fleet/events.ts";
import { decode, type Dialect, encode } from "#lib/values/msgpack.ts";
import { map, repr, type Value } from "#lib/values/value.ts";
import { costlyValue, ordinaryValue } from "./costly.ts";
import { mutateBytes, NASTY_TEXTS, type Random } from "./mutate.ts";
import { type FuzzTarget, hold } from "./target.ts";
import { randomMsgpack, randomValue } from "./values.ts";

/** The share of costly inputs, for targets whose cost depends on values. */
export const COSTLY = 0.03;

const DIALECTS: readonly Dialect[] = ["wire", "disk"];

/** Bytes that are an encoded value, a damaged one, or similar to one. */
export function packed(random: Random, dialect: Dialect): Uint8Array {
  if (random.chance(COSTLY)) return encode(costlyValue(random), dialect);
  if (random.chance(0.5)) return randomMsgpack(random);
  let bytes: Uint8Array;
  try {
    bytes = encode(randomValue(random), dialect);
  } catch (error) {
    if (!(error instanceof MsgpackError)) throw error;
    bytes = randomMsgpack(random);
  }
  return random.chance(0.8) ? mutateBytes(random, bytes) : bytes;
}

function serveMsgpack(bytes: Uint8Array, dialect: Dialect): string {
  const value = decode(bytes, dialect);
  const once = encode(value, dialect);
  const twice = encode(decode(once, dialect), dialect);
  if (once.toHex() !== twice.toHex()) hold(false, `not the same when read again: ${repr(value).slice(0, 500)}`);
  return "read";
}

/** msgpack in both dialects; a decoded value must be encodable, and then decode to the same value. */
export const msgpack: FuzzTarget = {
  name: "msgpack",
  share: 30,
  refusals: [MsgpackError],
  open: () => ({
    feed(random, note) {
      const dialect = random.pick(DIALECTS);
      const bytes = packed(random, dialect);
      note(bytes);
      return serveMsgpack(bytes, dialect);
    },
    ordinary(bytes) {
      const packed = encode(ordinaryValue(bytes), "wire");
      return () => serveMsgpack(packed, "wire");
    },
    checkService: () => hold(decode(Uint8Array.of(0xa1, 0x61), "wire") === "a", "no text"),
    close() {},
  }),
};

/** Crypticles: random bytes, changed messages, and random contents encrypted with the right key. */
export const crypticles: FuzzTarget = {
  name: "crypticles",
  share: 8,
  refusals: [AuthenticationError, MsgpackError],
  open() {
    const ours = new Crypticle(generateKeyString());
    const theirs = new Crypticle(generateKeyString());
    const nonce = "0123456789abcdef0123456789abcdef";
    const utf8 = new TextEncoder();
    return {
      feed(random, note) {
        const inner = random.pick([
          random.bytes(random.length(100)),
          Uint8Array.from([...utf8.encode("pickle::"), ...packed(random, "wire")]),
          Uint8Array.from([...utf8.encode(`pickle::${nonce}`), ...packed(random, "wire")]),
        ]);
        const expectedNonce = random.pick(["", nonce, "short", random.pick(NASTY_TEXTS)]);
        if (random.chance(0.5)) {
          note(inner);
          ours.loads(ours.encrypt(inner), expectedNonce);
          return "opened";
        }
        const sealed = random.pick([ours, theirs]).encrypt(inner);
        const changed = random.chance(0.2) ? random.bytes(random.length(200)) : mutateBytes(random, sealed);
        note(changed);
        const same = changed.toHex() === sealed.toHex();
        try {
          ours.decrypt(changed);
        } catch (error) {
          if (!(error instanceof AuthenticationError)) throw error;
          return "AuthenticationError";
        }
        hold(same, "opened what was changed");
        return "unchanged";
      },
      checkService: () => hold(ours.loads(ours.dumps("x", nonce), nonce) === "x", "does not open its own"),
      close() {},
    };
  },
};

/** Events: frames on the bus, and events made of any values. */
export const events: FuzzTarget = {
  name: "events",
  share: 10,
  refusals: [WireError, MsgpackError],
  open: () => ({
    feed(random, note) {
      const costly = random.chance(COSTLY);
      const data: Value = costly ? costlyValue(random) : randomValue(random);
      const tag = random.pick(["salt/job/1/ret/web1", "minion_start|||||||||", ...NASTY_TEXTS]);
      const frame = packEvent(
        tag,
        map({ data: !costly && random.chance(0.9) ? "x" : data, _stamp: "2024-01-02T03:04:05.000006" }),
      );
      const sent = random.chance(0.2)
        ? Uint8Array.from([...new TextEncoder().encode(tag), ...packed(random, "disk")])
        : costly
        ? frame
        : mutateBytes(random, frame);
      note(sent);
      const event = unpackEvent(sent);
      // A program that forwards the event to another bus encodes it again.
      const again = unpackEvent(packEvent(event.tag, stamp(event.data)));
      hold(
        event.tag.includes("\n\n") || again.tag === event.tag || again.tag === event.tag.replace(/\|+$/, ""),
        `${event.tag} became ${again.tag}`,
      );
      return "read";
    },
    ordinary(bytes) {
      const frame = packEvent("a/b", ordinaryValue(bytes));
      return () => {
        const event = unpackEvent(frame);
        unpackEvent(packEvent(event.tag, stamp(event.data)));
      };
    },
    checkService: () => hold(unpackEvent(packEvent("a/b", map({ x: 1 }))).data.get("x") === 1, "no event"),
    close() {},
  }),
};
