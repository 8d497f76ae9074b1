/**
 * Execution module `hashutil`: digests and base64.
 * Source: the functions of Salt 3008.3 `salt/modules/hashutil.py`.
 * @module
 */

import { writeWithUmask } from "#lib/os/new_files.ts";
import { hashHex } from "#lib/crypto/hash.ts";
import { hmacHex, isHmacHash } from "#lib/crypto/hmac.ts";
import { CommandError, InvocationError } from "#lib/errors.ts";
import { isFile } from "#lib/os/file_kind.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { str, type Value } from "#lib/values/value.ts";
import { sameText } from "#lib/crypto/same_text.ts";
import { bytesOf } from "#lib/values/shape.ts";

/** Bytes as text if they are UTF-8, else as they are. */
function textIfPossible(bytes: Uint8Array): Value {
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch {
    return bytes;
  }
}

/** Characters in a line of base64, and the bytes that they stand for. */
const LINE_CHARACTERS = 76;

/** Base64 in lines, each with its end: Python's `encodebytes`. */
function base64Lines(bytes: Uint8Array): string {
  return bytes.toBase64().replace(new RegExp(`.{1,${LINE_CHARACTERS}}`, "g"), "$&\n");
}

/**
 * Python's `b64decode`, which skips what is not base64.
 * @throws {InvocationError} If its end is missing.
 */
function fromBase64(encoded: Value): Uint8Array {
  const characters = str(encoded instanceof Uint8Array ? new TextDecoder().decode(encoded) : encoded);
  const clean = characters.replace(/[^A-Za-z0-9+/=]/g, "");
  try {
    if (clean.length % 4 !== 0) throw new SyntaxError("its end is missing");
    return Uint8Array.fromBase64(clean);
  } catch {
    throw new InvocationError("Incorrect padding");
  }
}

const DIGESTS = ["md5", "sha256", "sha512"];

function digestOf(value: Value, checksum: string): string {
  if (!DIGESTS.includes(checksum)) throw new CommandError(`Hash func '${checksum}' is not supported.`);
  return hashHex(bytesOf(value), checksum);
}

export const digest: ModuleFunction<JobContext> = fn({
  doc: describe("Return the digest of a text: md5, sha256 or sha512.", "hashutil.digest 'get salted'"),
  params: { instr: p.any(), checksum: p.str("md5") },
  run: ({ instr, checksum }) => digestOf(instr, checksum),
});

export const digest_file: ModuleFunction<JobContext> = fn({
  doc: describe("Return the digest of a file.", "hashutil.digest_file /path/to/file"),
  permissions: { read: true },
  params: { infile: p.str(), checksum: p.str("md5") },
  run: ({ infile, checksum }) => {
    if (!isFile(infile)) throw new CommandError(`File path '${infile}' not found.`);
    return digestOf(Deno.readFileSync(infile), checksum);
  },
});

export const base64_b64encode: ModuleFunction<JobContext> = fn({
  doc: describe("Return a text in base64, in one line.", "hashutil.base64_b64encode 'get salted'"),
  params: { instr: p.any() },
  run: ({ instr }) => bytesOf(instr).toBase64(),
});

export const base64_b64decode: ModuleFunction<JobContext> = fn({
  doc: describe("Decode base64.", "hashutil.base64_b64decode 'Z2V0IHNhbHRlZA=='"),
  params: { instr: p.any() },
  run: ({ instr }) => textIfPossible(fromBase64(instr)),
});

export const base64_encodestring: ModuleFunction<JobContext> = fn({
  doc: describe("Return a text in base64, in lines of 76 characters.", "hashutil.base64_encodestring 'get salted'"),
  params: { instr: p.any() },
  run: ({ instr }) => base64Lines(bytesOf(instr)),
});

export const base64_decodestring: ModuleFunction<JobContext> = fn({
  doc: describe("Decode base64 in lines.", "hashutil.base64_decodestring instr='Z2V0IHNhbHRlZAo='"),
  params: { instr: p.any() },
  run: ({ instr }) => textIfPossible(fromBase64(instr)),
});

export const base64_encodefile: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return a file in base64, in lines of 76 characters.",
    "hashutil.base64_encodefile /path/to/binary_file",
  ),
  permissions: { read: true },
  params: { fname: p.str() },
  run: ({ fname }) => base64Lines(Deno.readFileSync(fname)),
});

export const base64_decodefile: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Decode base64 into a file.",
    "hashutil.base64_decodefile instr='Z2V0IHNhbHRlZAo=' outfile='/path/to/binary_file'",
  ),
  permissions: { read: true, write: true },
  params: { instr: p.any(), outfile: p.str() },
  run: ({ instr, outfile }) => {
    writeWithUmask(outfile, fromBase64(instr));
    return true;
  },
});

/** A function for one digest. */
function digester(name: string): ModuleFunction<JobContext> {
  return fn({
    doc: describe(`Return the ${name} digest of a text.`, `hashutil.${name}_digest 'get salted'`),
    params: { instr: p.any() },
    run: ({ instr }) => digestOf(instr, name),
  });
}

export const md5_digest: ModuleFunction<JobContext> = digester("md5");
export const sha256_digest: ModuleFunction<JobContext> = digester("sha256");
export const sha512_digest: ModuleFunction<JobContext> = digester("sha512");

const SIGNED = { string: p.any(), shared_secret: p.any() };

export const hmac_signature: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return whether a base64 signature is the HMAC-SHA256 of a text.",
    "hashutil.hmac_signature 'get salted' 'shared secret' 'eBWf9bstXg+NiP5AOwppB5HMvZiYMPzEM9W5YMm/AmQ='",
  ),
  params: { ...SIGNED, challenge_hmac: p.any() },
  run: ({ string, shared_secret, challenge_hmac }) => {
    const signature = Uint8Array.fromHex(hmacHex("sha256", { key: bytesOf(shared_secret), data: bytesOf(string) }))
      .toBase64();
    return sameText(signature, str(challenge_hmac));
  },
});

export const hmac_compute: ModuleFunction<JobContext> = fn({
  doc: describe("Return the HMAC-SHA256 of a text.", "hashutil.hmac_compute 'get salted' 'shared secret'"),
  params: SIGNED,
  run: ({ string, shared_secret }) => hmacHex("sha256", { key: bytesOf(shared_secret), data: bytesOf(string) }),
});

export const github_signature: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return whether a signature of GitHub, `TYPE=HEX`, is the HMAC of a text.",
    "hashutil.github_signature '{\"ref\":....} ' 'shared secret' 'sha1=bc6550fc290acf5b42283fa8deaf55cea0f8c206'",
  ),
  params: { ...SIGNED, challenge_hmac: p.str() },
  run: ({ string, shared_secret, challenge_hmac }) => {
    const [type, challenge, ...more] = challenge_hmac.split("=");
    if (challenge === undefined || more.length > 0 || !isHmacHash(type)) {
      throw new InvocationError("challenge_hmac is not TYPE=HEX");
    }
    return sameText(hmacHex(type, { key: bytesOf(shared_secret), data: bytesOf(string) }), challenge);
  },
});
