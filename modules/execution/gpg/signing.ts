/**
 * Execution module `gpg`: signatures and encryption by GnuPG; keys are in `keys.ts`.
 * Source: the functions of Salt 3008.3 `salt/modules/gpg.py`, and what python-gnupg 0.5.7 makes of gpg's answers.
 * @module
 */

import { KEYCHAIN, neededPassphrase, openGpg, writeGpgOutput } from "./home.ts";
import { InvocationError } from "#lib/errors.ts";
import type { GpgInput } from "#lib/host/gnupg/gpg.ts";
import { readCrypted, type Verification, verification, type VerifiedSignature } from "#lib/host/gnupg/verification.ts";
import { asCommandError } from "#lib/os/command_error.ts";
import { existsOrThrow } from "#lib/os/file_kind.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { asList, asListIfTruthy } from "#lib/values/shape.ts";
import { str, truthy, type Value } from "#lib/values/value.ts";

export const virtual: Virtual = {
  serves: [{
    programs: ["gpg"],
    otherwise: "The gpg execution module cannot be loaded: gpg binary is not in the path.",
  }],
};

/** The part of the documentation that all functions here share. */
const SHARED = `

user, gnupghome, keyring
    The user of the keyring, its home directory, and the path of another keyring.`;

/**
 * A text, or a file that can be read.
 * @throws {InvocationError} Without either.
 * @throws {CommandError} If the file cannot be read.
 */
function inputOf(input: string | null, filename: string | null): GpgInput {
  if (truthy(input)) return { input: input ?? "" };
  if (!truthy(filename)) throw new InvocationError("filename or text must be passed.");
  const path = filename ?? "";
  try {
    Deno.openSync(path).close();
  } catch (error) {
    throw asCommandError(error, path);
  }
  return { file: path };
}

async function withPassphrase(input: GpgInput, wanted: boolean, context: JobContext): Promise<GpgInput> {
  return wanted ? { ...input, passphrase: await neededPassphrase(context) } : input;
}

/** The options with which gpg writes to a file without asking. */
function outputWords(output: string | null): string[] {
  if (output === null || output === "") return [];
  return [...existsOrThrow(output) ? ["--yes"] : [], "--output", output];
}

export const sign: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Return a text, or the text of a file, in a clear signature.

keyid
    The key. Default: the first secret one.

text, filename
    What is signed.

output
    A file that also gets the result, if a file is signed.

use_passphrase : False
    Whether the key needs the \`gpg_passphrase\` of the pillar.${SHARED}`,
    "gpg.sign text='Hello there.  How are you?'",
    "gpg.sign filename='/path/to/important.file' use_passphrase=True",
  ),
  permissions: "all",
  params: {
    user: p.str(null),
    keyid: p.str(null),
    text: p.str(null),
    filename: p.str(null),
    output: p.str(null),
    use_passphrase: p.bool(false),
    gnupghome: KEYCHAIN.gnupghome,
    keyring: KEYCHAIN.keyring,
  },
  run: async ({ keyid, text: input, filename, output, use_passphrase, ...keychain }, context) => {
    const given = await withPassphrase({}, use_passphrase, context);
    const gpg = await openGpg(keychain, context);
    const words = ["-sa", "--clearsign", ...truthy(keyid) ? ["--default-key", keyid ?? ""] : []];
    const { stdout } = await gpg.run(words, { ...given, ...inputOf(input, filename) });
    if (!truthy(input) && truthy(output)) writeGpgOutput(output ?? "", stdout);
    return stdout;
  },
});

const TRUST_MODELS = ["pgp", "classic", "tofu", "tofu+pgp", "direct", "always", "auto"];

export const verify: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Check a signature. Returns \`res\` and \`message\`, and who signed.

text, filename
    The signed text or file, with its signature unless that is in a separate file.

signature
    The path of a detached signature of \`filename\`.

trustmodel
    ${TRUST_MODELS.join(", ")}.

signed_by_any
    Fingerprints, of which one must have signed, with any trust.

signed_by_all
    Fingerprints, which must all have signed.${SHARED}`,
    "gpg.verify text='Hello there.  How are you?'",
    "gpg.verify filename='/path/to/important.file' trustmodel=direct",
  ),
  permissions: "all",
  params: {
    text: p.str(null),
    user: p.str(null),
    filename: p.str(null),
    gnupghome: p.str(null),
    signature: p.str(null),
    trustmodel: p.str(null),
    signed_by_any: p.any(null),
    signed_by_all: p.any(null),
    keyring: p.any(null),
  },
  run: async (given, context) => {
    const { text: input, filename, signature, trustmodel, signed_by_any, signed_by_all, ...keychain } = given;
    if (trustmodel !== null && trustmodel !== "" && !TRUST_MODELS.includes(trustmodel)) {
      const message = `Invalid trustmodel defined: ${trustmodel}. Use one of: ${TRUST_MODELS.join(", ")}`;
      context.log("warning", message);
      return { res: false, message };
    }
    const gpg = await openGpg(keychain, context);
    const signers = truthy(signed_by_any) || truthy(signed_by_all);
    const words = [
      "--verify",
      ...truthy(trustmodel) ? ["--trust-model", trustmodel ?? ""] : [],
      // In batch mode gpg stops at the first signature that is not valid.
      ...signers ? ["--no-batch"] : [],
    ];
    const detached = !truthy(input) && truthy(filename) && truthy(signature);
    const what = inputOf(input, detached ? signature : filename);
    const { status } = detached
      ? await gpg.run([...words, "--", what.file ?? "", filename ?? ""])
      : await gpg.run(words, what);
    const verified = verification(status);
    return signers ? signersAnswer(verified.signatures, signed_by_any, signed_by_all) : plainAnswer(verified);
  },
});

function plainAnswer({ trustLevel, username, keyId }: Verification): Record<string, Value> {
  if (trustLevel === null) return { res: false, message: "The signature could not be verified." };
  return { res: true, username, key_id: keyId, trust_level: trustLevel, message: "The signature is verified." };
}

function signersAnswer(found: readonly VerifiedSignature[], anyOf: Value, allOf: Value): Record<string, Value> {
  const signatures = found.map(({ username, keyid, fingerprint, trustLevel, status }) =>
    new Map<Value, Value>(
      Object.entries({ username, key_id: keyid, fingerprint, trust_level: trustLevel, status }),
    )
  );
  const listOf = (given: Value) => asListIfTruthy(given).map(str);
  const has = (signer: string) => found.some((one) => one.trustLevel !== null && one.fingerprint === signer);
  const answer = (res: boolean, message: string) => ({ res, message, signatures });
  if (truthy(anyOf) && !listOf(anyOf).some(has)) {
    return answer(false, "None of the public keys listed in signed_by_any provided a valid signature");
  }
  const missing = listOf(allOf).find((signer) => !has(signer));
  if (missing !== undefined) {
    return answer(
      false,
      `Public key ${missing} has not provided a valid signature, but was listed in signed_by_all`,
    );
  }
  return answer(true, "All required keys have provided a signature");
}

/** What `encrypt` and `decrypt` return. */
function answerOf(
  { ok, status }: { readonly ok: boolean; readonly status: string },
  { data, output, bare, done }: {
    readonly data: Uint8Array;
    readonly output: string | null;
    readonly bare: boolean;
    readonly done: string;
  },
): Value | Record<string, Value> {
  if (bare) return ok ? data : false;
  if (!ok) return { res: false, comment: `${status}.\nPlease check the salt-minion log.` };
  return { res: true, comment: truthy(output) ? `${done} data has been written to ${output}` : data };
}

export const encrypt: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Encrypt a text or a file. Returns \`res\` and \`comment\`, the encrypted text.

recipients
    A key id, fingerprint or address, or a list of them.

text, filename
    What is encrypted.

output
    A file that gets the result; \`comment\` says so then.

sign
    True, or a key id: whether the message is signed too.

use_passphrase : False
    Whether signing needs the \`gpg_passphrase\` of the pillar.

always_trust : False
    Whether keys of any trust are used.

bare : False
    Whether the encrypted text is returned alone.${SHARED}`,
    "gpg.encrypt text='Hello there.  How are you?' recipients=recipient@example.com",
    "gpg.encrypt filename='/path/to/important.file' sign=True use_passphrase=True recipients=recipient@example.com",
  ),
  permissions: "all",
  params: {
    user: p.str(null),
    recipients: p.any(null),
    text: p.str(null),
    filename: p.str(null),
    output: p.str(null),
    sign: p.any(null),
    use_passphrase: p.bool(false),
    always_trust: p.bool(false),
    gnupghome: p.str(null),
    bare: p.bool(false),
    keyring: p.any(null),
  },
  run: async (given, context) => {
    const { recipients, text: input, filename, output, sign: signer, use_passphrase, always_trust, bare } = given;
    const passphrase = await withPassphrase({}, truthy(signer) && use_passphrase, context);
    const gpg = await openGpg(given, context);
    const what = inputOf(input, filename);
    if (!truthy(recipients)) {
      throw new InvocationError("No recipients or hidden recipients specified with asymmetric encryption");
    }
    const words = [
      "--encrypt",
      ...asList(recipients).flatMap((one) => ["--recipient", str(one)]),
      "--armor",
      ...outputWords(output),
      ...truthy(signer) ? ["--sign", ...signer === true ? [] : ["--default-key", str(signer)]] : [],
      ...always_trust ? ["--trust-model", "always"] : [],
    ];
    const { status, stdout, stderr } = await gpg.run(words, { ...passphrase, ...what });
    const result = readCrypted(status);
    if (!result.ok) context.log("error", stderr);
    return answerOf(result, { data: stdout, output, bare, done: "Encrypted" });
  },
});

export const decrypt: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Decrypt a text or a file. Returns \`res\` and \`comment\`, the decrypted text.

text, filename
    What is decrypted.

output
    A file that gets the result, if a file is decrypted; \`comment\` says so then.

use_passphrase : False
    Whether the key needs the \`gpg_passphrase\` of the pillar.

bare : False
    Whether the decrypted text is returned alone.${SHARED}`,
    "gpg.decrypt filename='/path/to/important.file.gpg'",
    "gpg.decrypt filename='/path/to/important.file.gpg' use_passphrase=True",
  ),
  permissions: "all",
  params: {
    user: p.str(null),
    text: p.str(null),
    filename: p.str(null),
    output: p.str(null),
    use_passphrase: p.bool(false),
    gnupghome: p.str(null),
    bare: p.bool(false),
    keyring: p.any(null),
  },
  run: async ({ text: input, filename, output, use_passphrase, bare, ...keychain }, context) => {
    const passphrase = await withPassphrase({}, use_passphrase, context);
    const gpg = await openGpg(keychain, context);
    const words = ["--decrypt", ...truthy(input) ? [] : outputWords(output)];
    const { status, stdout, stderr } = await gpg.run(words, { ...passphrase, ...inputOf(input, filename) });
    const result = readCrypted(status);
    if (!result.ok) context.log("error", stderr);
    return answerOf(result, { data: stdout, output, bare, done: "Decrypted" });
  },
});
