/**
 * Execution module `random`: random values, and with a seed the same ones as Python's, so that a minion's share of a
 * range is that which Salt gave it. Source: the functions of Salt 3008.3 `salt/modules/mod_random.py`,
 * `salt/utils/pycrypto.py`; docs.python.org, "random".
 * @module
 */

import { hashHex } from "#lib/crypto/hash.ts";
import { PythonRandom } from "#lib/crypto/python_random.ts";
import { randomText } from "#lib/crypto/secure_random.ts";
import { CommandError, InvocationError } from "#lib/errors.ts";
import { cryptPassword } from "#lib/libc/crypt.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { HASH_TYPES } from "#lib/crypto/hash_types.ts";
import { int, isInt, str, type Value } from "#lib/values/value.ts";

const LOWER = "abcdefghijklmnopqrstuvwxyz", DIGITS = "0123456789";
const PUNCTUATION = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~", SPACE = " \t\n\r\v\f";

function securePassword(length: number, characters: string): string {
  const all = [...characters];
  if (all.length === 0) throw new InvocationError("Cannot choose from an empty sequence");
  return randomText(length, all);
}

export const hash: ModuleFunction<JobContext> = fn({
  doc: describe("Return the digest of a text, in hexadecimal.", "random.hash 'I am a string' md5"),
  params: { value: p.any(), algorithm: p.str("sha512") },
  run: ({ value, algorithm }) => {
    if (!HASH_TYPES.some((type) => type === algorithm)) {
      throw new InvocationError("You must specify a valid algorithm.");
    }
    return hashHex(value instanceof Uint8Array ? value : str(value), algorithm);
  },
});

export const str_encode: ModuleFunction<JobContext> = fn({
  doc: describe("Return a text in base64.", "random.str_encode 'I am a new string' base64"),
  params: { value: p.any(), encoder: p.str("base64") },
  run: ({ value, encoder }) => {
    // As Salt, which encodes nothing but this.
    if (encoder !== "base64") throw new InvocationError("Value must be an encode-able string");
    if (typeof value !== "string" && !(value instanceof Uint8Array)) {
      throw new InvocationError("Value must be an encode-able string");
    }
    return (typeof value === "string" ? new TextEncoder().encode(value) : value).toBase64();
  },
});

export const get_str: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return a text of random characters: of `chars`, or of the enabled kinds; `printable` is all of them.",
    "random.get_str 128",
    "random.get_str 16 chars='abc123'",
    "random.get_str length=16 punctuation=False",
  ),
  params: {
    length: p.int(20),
    chars: p.str(null),
    lowercase: p.bool(true),
    uppercase: p.bool(true),
    digits: p.bool(true),
    punctuation: p.bool(true),
    whitespace: p.bool(false),
    printable: p.bool(false),
  },
  run: ({ length, chars, lowercase, uppercase, digits, punctuation, whitespace, printable }) => {
    const upper = LOWER.toUpperCase();
    const kinds = [
      lowercase ? LOWER : "",
      uppercase ? upper : "",
      digits ? DIGITS : "",
      punctuation ? PUNCTUATION : "",
      whitespace ? SPACE : "",
    ].join("");
    const chosen = printable ? DIGITS + LOWER + upper + PUNCTUATION + SPACE : chars || kinds;
    return securePassword(length, chosen);
  },
});

/** Python's methods of `crypt`: what a hash begins with, and how many characters of salt it takes. */
const METHODS: Readonly<Record<string, readonly [prefix: string, salt: number]>> = {
  sha512: ["$6$", 16],
  sha256: ["$5$", 16],
  blowfish: ["$2b$12$", 22],
  md5: ["$1$", 8],
  crypt: ["", 2],
};

export const shadow_hash: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return a hash for /etc/shadow: of a password or a random one, with a salt or a random one. The algorithm is sha512, sha256, blowfish, md5 or crypt.",
    "random.shadow_hash 'My5alT' 'MyP@asswd' md5",
  ),
  permissions: { ffi: true },
  params: { crypt_salt: p.str(null), password: p.str(null), algorithm: p.str("sha512") },
  run: ({ crypt_salt, password, algorithm }) => {
    if (!Object.hasOwn(METHODS, algorithm)) {
      const methods = Object.keys(METHODS).map((name) => `'${name}'`).join(", ");
      throw new InvocationError(
        `Cannot hash using '${algorithm}' hash algorithm. Natively supported algorithms are: [${methods}].`,
      );
    }
    const [prefix, length] = METHODS[algorithm];
    const salt = crypt_salt ?? securePassword(length, `${LOWER}${LOWER.toUpperCase()}${DIGITS}./`);
    const characters = LOWER + LOWER.toUpperCase() + DIGITS + PUNCTUATION;
    const hash = cryptPassword(password ?? securePassword(20, characters), prefix + salt);
    if (hash === undefined) {
      throw new CommandError(`This host's libcrypt is missing, or does not know the method '${algorithm}'`);
    }
    return hash;
  },
});

export const rand_int: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return an int from `start` to `end`, both included; with `seed`, always the same.",
    "random.rand_int 1 10",
  ),
  params: { start: p.int(1), end: p.int(10), seed: p.any(null) },
  run: ({ start, end, seed }) => {
    if (end < start) {
      throw new InvocationError(`empty range for randrange() (${start}, ${end + 1}, ${end + 1 - start})`);
    }
    const random = new PythonRandom(seed ?? freshSeed());
    return int(BigInt(start) + random.below(BigInt(end - start + 1)));
  },
});

function freshSeed(): string {
  return crypto.getRandomValues(new Uint8Array(32)).toHex();
}

export const seed: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return an int below `range` that is always the same for a minion, or for `hash`: to spread actions of minions over time.",
    "random.seed 10 hash=None",
  ),
  params: { range: p.int(10), hash: p.any(null) },
  run: ({ range, hash: given }, { grains }) => {
    if (range < 1) throw new InvocationError("empty range for randrange()");
    return int(new PythonRandom(given ?? grains.get("id") ?? "").below(BigInt(range)));
  },
});

function sampleOf(value: readonly Value[], size: number, given: Value): Value[] {
  if (size < 0 || size > value.length) throw new InvocationError("Sample larger than population or is negative");
  const digest = given === null ? freshSeed() : hashHex(str(given), "sha512");
  if (isInt(given)) throw new InvocationError("object supporting the buffer API required");
  return new PythonRandom(digest).sample(value, size);
}

const ITEMS = { value: p.list(), seed: p.any(null) };

export const sample: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return some items of a list; with `seed`, a text, always the same.",
    "random.sample '[\"one\", \"two\"]' 1 seed='static'",
  ),
  params: { value: ITEMS.value, size: p.int(), seed: ITEMS.seed },
  run: ({ value, size, seed: given }) => sampleOf(value, size, given),
});

export const shuffle: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return a list in random order; with `seed`, a text, always the same.",
    "random.shuffle '[\"one\", \"two\"]' seed='static'",
  ),
  params: ITEMS,
  run: ({ value, seed: given }) => sampleOf(value, value.length, given),
});
