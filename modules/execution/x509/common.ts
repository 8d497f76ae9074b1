/**
 * What the functions of the module `x509` have in common: encodings of what they return, files that they write, signing
 * policies. Source: Salt 3008.3 `salt/modules/x509_v2.py`.
 * @module
 */

import { referencedBytes } from "#lib/crypto/asymmetric_keys.ts";
import { CommandError, InvocationError } from "#lib/errors.ts";
import { existsOrThrow } from "#lib/os/file_kind.ts";
import { writeWithUmask } from "#lib/os/new_files.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { isMap, map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import { pemOf, type Reference } from "#lib/host/x509/loading.ts";
import { pemEntry } from "#lib/host/x509/pem_entry.ts";

/** @throws {CommandError} If the encoding is none of those. */
export function checkEncoding(encoding: string, known: readonly string[]): void {
  if (!known.includes(encoding)) {
    throw new CommandError(`Invalid value '${encoding}' for encoding. Valid: ${known.join(", ")}`);
  }
  if (encoding === "pkcs12") throw new CommandError("Containers of PKCS#12 are not written here");
}

/** What a function returns or writes: PEM as text, other bytes as base64; raw: the bytes. */
export function encodeDocument(der: Uint8Array, { encoding, label, raw }: {
  readonly encoding: string;
  readonly label: string;
  readonly raw: boolean;
}): string | Uint8Array {
  const pem = encoding === "pem" || encoding === "pkcs7_pem" ? pemOf(label, der) : undefined;
  if (raw) return pem === undefined ? der : new TextEncoder().encode(pem);
  return pem ?? der.toBase64();
}

/**
 * The text of a reference; `undefined` if its bytes are not UTF-8.
 * @throws {InvocationError} If there are no bytes.
 */
export function textOrUndefined(reference: Reference): string | undefined {
  const bytes = referencedBytes(reference);
  try {
    return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes);
  } catch (error) {
    if (error instanceof TypeError) return undefined;
    throw error;
  }
}

/**
 * The text of a reference.
 * @throws {InvocationError} If it is none.
 */
export function readReference(reference: Reference): string {
  const text = textOrUndefined(reference);
  if (text === undefined) throw new InvocationError("'utf-8' codec can't decode the bytes");
  return text;
}

/** A block of PEM, or `""`. */
function entryOrNothing(text: string, kind: string): string {
  try {
    return pemEntry(text, kind);
  } catch (error) {
    if (error instanceof InvocationError) return "";
    throw error;
  }
}

/**
 * Writes a block of PEM to a file that only its owner may read.
 * @returns What to say.
 */
export function writePem(text: string, path: string, overwrite: boolean, kind: string | null): string {
  const entry = pemEntry(text, kind);
  const keeps = kind === "CERTIFICATE" && !overwrite && existsOrThrow(path);
  const before = keeps ? Deno.readTextFileSync(path) : "";
  const key = keeps ? entryOrNothing(before, "(?:RSA )?PRIVATE KEY") : "";
  const parameters = keeps ? entryOrNothing(before, "DH PARAMETERS") : "";
  writeWithUmask(path, key + entry + parameters, 0o600);
  return `PEM written to ${path}`;
}

/** The pillar's, or the configuration's, signing policy. An empty map: there is none. */
export async function localPolicy(name: Value, context: JobContext): Promise<ValueMap> {
  if (name === null) return new Map();
  const ways = [
    () => context.call("pillar.get", ["x509_signing_policies", new Map()], map({ unmask: true })),
    () => context.call("config.get", ["x509_signing_policies", new Map()]),
  ];
  for (const way of ways) {
    const policies = await way();
    const policy = isMap(policies) ? policies.get(name) ?? null : null;
    if (!truthy(policy)) continue;
    if (Array.isArray(policy)) return new Map(policy.filter(isMap).flatMap((item) => [...item]));
    if (isMap(policy)) return new Map(policy);
  }
  return new Map();
}

/**
 * Asks another minion to sign, or for its policy.
 * @throws {InvocationError | CommandError} If it does not.
 */
export async function askRemote(
  server: string,
  { policy, kwargs, policyOnly }: { readonly policy: Value; readonly kwargs: ValueMap; readonly policyOnly: boolean },
  context: JobContext,
): Promise<Value> {
  const plain = new Map([...kwargs].filter(([name]) => !str(name).startsWith("__")));
  const publishOptions = map({ arg: [policy, plain, policyOnly], timeout: 60 });
  const answers = await context.call("publish.publish", [server, "x509.sign_remote_certificate"], publishOptions);
  if (!isMap(answers) || answers.size === 0) {
    throw new InvocationError(
      "ca_server did not respond. Salt master must permit peers to call the sign_remote_certificate function.",
    );
  }
  const [answer] = answers.values();
  if (!isMap(answer) || !answer.has("data")) {
    context.log("error", `Received invalid return value from ca_server: ${str(answer)}`);
    throw new CommandError("Received invalid return value from ca_server. See minion log for details");
  }
  const errors = answer.get("errors");
  if (Array.isArray(errors) && errors.length > 0) {
    throw new CommandError(`ca_server reported errors:\n${errors.map(str).join("\n")}`);
  }
  return answer.get("data") ?? null;
}
