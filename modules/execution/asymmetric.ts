/**
 * Execution module `asymmetric`: signatures by private keys, for instance of certificates.
 * Source: the functions of Salt 3008.3 `salt/modules/asymmetric.py`.
 * @module
 */

import { writeWithUmask } from "#lib/os/new_files.ts";
import { loadPrivateKey, loadPublicKey, publicFingerprint } from "#lib/crypto/asymmetric_keys.ts";
import { signData, type SignedData, verifyData } from "#lib/crypto/asymmetric_signatures.ts";
import { CommandError, InvocationError, messageOf } from "#lib/errors.ts";
import { schemeOf } from "#lib/host/filesystem/checksums.ts";
import { asCommandError } from "#lib/os/command_error.ts";
import { systemError } from "#lib/os/deno_texts.ts";
import { existsOrThrow, isFile } from "#lib/os/file_kind.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { asListIfTruthy, bytesOf } from "#lib/values/shape.ts";
import { str, truthy, type Value } from "#lib/values/value.ts";

/** A key as given: a text or bytes. */
function keyOf(given: Value): string | Uint8Array {
  return given instanceof Uint8Array ? given : str(given);
}

export const sign: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Sign a text or a file. Returns the signature as base64.

privkey
    An RSA, elliptic curve, Ed25519 or Ed448 key: PEM, hexadecimal digits, base64, or a path.

passphrase
    What it is encrypted with.

text, filename
    What is signed.

digest : sha256
    The digest, for RSA and elliptic curves.

raw
    Whether the bytes are returned instead. Default: if \`path\` is given.

path
    A file that gets the signature.`,
    "asymmetric.sign /root/my_privkey.pem text='I like you'",
    "asymmetric.sign /root/my_privkey.pem filename=/data/to/be/signed",
  ),
  permissions: "all",
  params: {
    privkey: p.any(),
    passphrase: p.str(null),
    text: p.any(null),
    filename: p.str(null),
    digest: p.str(null),
    raw: p.any(null),
    path: p.str(null),
  },
  run: async ({ privkey, passphrase, text, filename, digest, raw, path }) => {
    if (text === null && !truthy(filename)) throw new InvocationError("Either `text` or `filename` is required");
    const data: SignedData = text === null ? { path: filename ?? "" } : bytesOf(text);
    const key = loadPrivateKey(keyOf(privkey), passphrase);
    const signature = await orSystemError(() => signData(key, data, digest || "sha256"), filename ?? "");
    const plain = raw === null ? truthy(path) : truthy(raw);
    const answer = plain ? signature : signature.toBase64();
    if (path === null || path === "") return answer;
    const contents = plain ? signature : bytesOf(signature.toBase64());
    await orSystemError(() => Promise.try(() => writeWithUmask(path, contents)), path);
    return `Signature written to '${path}'`;
  },
});

/** @throws {CommandError} With Python's text of an error of the system. */
async function orSystemError<T>(act: () => Promise<T>, path: string): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw error instanceof Error && systemError(error) !== undefined ? asCommandError(error, path) : error;
  }
}

/**
 * A reference whose URL, if it is one, has become a path.
 * @throws {CommandError} If it cannot be fetched.
 */
async function fetchReference(reference: Value, context: JobContext): Promise<string | Uint8Array> {
  if (reference instanceof Uint8Array) return reference;
  const url = str(reference);
  const scheme = schemeOf(url);
  if (scheme === "") return url;
  const path = scheme === "file"
    ? url.replace(/^file:(?:\/\/[^/]*)?/i, "")
    : await context.call("cp.cache_file", [url]);
  if (!truthy(path) || !existsOrThrow(str(path))) throw new CommandError(`Failed fetching '${url}'`);
  return str(path);
}

/** The bytes of a signature: base64, or a file with base64 or the bytes. */
function signatureBytes(reference: string | Uint8Array): Uint8Array {
  const given = typeof reference === "string" && isFile(reference) ? Deno.readFileSync(reference) : reference;
  const text = typeof given === "string" ? given : new TextDecoder("latin1").decode(given);
  const digits = text.replaceAll("\n", "");
  try {
    const bytes = Uint8Array.fromBase64(digits);
    if (bytes.toBase64() === digits) return bytes;
  } catch {
    // No base64: a file has the bytes themselves.
  }
  if (given instanceof Uint8Array) return given;
  // What is not base64 is a wrong signature, not an error: others of a list may be right.
  // deno-lint-ignore no-control-regex
  if (/^[\x00-\x7f]*$/.test(given)) return new TextEncoder().encode(given);
  throw new CommandError(`Failed loading signature '${text}' as file and/or base64 string`);
}

/** A signature that none of those given is. */
class InvalidSignature extends CommandError {}

/**
 * Those of the signatures that are of a key.
 * @throws {InvalidSignature} If none is.
 */
async function matching(
  pubkey: Value,
  signatures: readonly (string | Uint8Array)[],
  { data, digest }: { readonly data: SignedData; readonly digest: string },
  context: JobContext,
): Promise<(string | Uint8Array)[]> {
  const key = loadPublicKey(await fetchReference(pubkey, context));
  const matches: (string | Uint8Array)[] = [];
  for (const signature of signatures) {
    if (await verifyData(key, signatureBytes(signature), data, digest)) matches.push(signature);
  }
  if (matches.length === 0) throw new InvalidSignature(`Invalid signature for key ${publicFingerprint(key)}`);
  return matches;
}

/** Why a signature does not hold. Other errors continue. */
function reasonOf(error: unknown): string {
  if (error instanceof Deno.errors.NotCapable) throw error;
  return messageOf(error);
}

export const verify: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Check signatures of a text or a file. Returns \`res\` and \`message\`, as gpg.verify does.

text, filename
    What is signed.

pubkey
    The key that must have signed: PEM, hexadecimal digits, base64, a path or a URL.

signature
    The signature, as base64 or the path or URL of a file; with several keys a list of them.

digest : sha256
    The digest, for RSA and elliptic curves.

signed_by_any
    Keys, of which one must have signed.

signed_by_all
    Keys, which must all have signed.`,
    "asymmetric.verify pubkey=/root/my_pubkey.pem text='I like you' signature=/root/ilikeyou.sig",
  ),
  permissions: "all",
  params: {
    text: p.any(null),
    filename: p.str(null),
    pubkey: p.any(null),
    signature: p.any(null),
    digest: p.str(null),
    signed_by_any: p.any(null),
    signed_by_all: p.any(null),
  },
  varKwargs: "kwargs",
  run: async ({ text, filename, pubkey, signature, digest, signed_by_any, signed_by_all }, context) => {
    if (truthy(text) && truthy(filename)) {
      throw new InvocationError("`text` and `filename` arguments are mutually exclusive");
    }
    if (!truthy(signature)) throw new InvocationError("Missing `signature` parameter");
    const several = truthy(signed_by_any) || truthy(signed_by_all);
    if (several && truthy(pubkey)) {
      throw new InvocationError("Either specify pubkey + signature or signed_by_(any|all)");
    }
    if (!several && !truthy(pubkey)) throw new InvocationError("Missing pubkey(s) to check against");
    if (!several && Array.isArray(signature)) {
      throw new InvocationError(
        "`signature` must be a string or bytes when verifying a single signing `pubkey`",
      );
    }
    const all = several ? asListIfTruthy(signed_by_all) : [pubkey];
    if (!truthy(text) && !truthy(filename)) {
      throw new InvocationError("Missing data to verify. Either specify `text` or `filename`");
    }
    if (!truthy(text) && !existsOrThrow(filename ?? "")) throw new CommandError(`Path '${filename}' does not exist`);
    const data: SignedData = truthy(text) ? bytesOf(text) : { path: filename ?? "" };
    const signatures: (string | Uint8Array)[] = [];
    for (const one of asListIfTruthy(signature)) {
      try {
        signatures.push(await fetchReference(one, context));
      } catch (error) {
        if (!(error instanceof CommandError)) throw error;
        if (truthy(pubkey)) return { res: false, message: error.message };
        context.log("error", error.message);
      }
    }
    if (signatures.length === 0) throw new CommandError("Unable to locate any of the provided signatures");
    const what = { data, digest: digest || "sha256" };
    if (truthy(signed_by_any) && !await oneSigned(asListIfTruthy(signed_by_any), signatures, what, context)) {
      return {
        res: false,
        message: "None of the public keys listed in signed_by_any provided a valid signature",
      };
    }
    let left = signatures;
    for (const key of all) {
      try {
        const matches = await matching(key, left, what, context);
        left = left.filter((one) => !matches.includes(one));
      } catch (error) {
        const reason = reasonOf(error);
        context.log("error", reason);
        const what = truthy(pubkey) ? "Failed checking signature" : "Failed while checking `signed_by_all`";
        return { res: false, message: `${what}: ${reason}` };
      }
    }
    const message = truthy(pubkey) ? "The signature is valid" : "All required keys have provided a signature";
    return { res: true, message };
  },
});

async function oneSigned(
  keys: readonly Value[],
  signatures: readonly (string | Uint8Array)[],
  what: { readonly data: SignedData; readonly digest: string },
  context: JobContext,
): Promise<boolean> {
  for (const key of keys) {
    try {
      await matching(key, signatures, what, context);
      return true;
    } catch (error) {
      context.log(error instanceof InvalidSignature ? "info" : "error", reasonOf(error));
    }
  }
  return false;
}
