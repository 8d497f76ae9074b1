/**
 * Signatures of files from other hosts. States check them with the function `verify` of an execution module: `gpg`, or
 * one that understands the same arguments. Source: Salt 3008.3 `salt/modules/file.py` and `salt/states/archive.py`,
 * _check_sig.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { removeIfExists } from "#lib/os/atomic_file.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { asList } from "#lib/values/shape.ts";
import { isMap, map, str, truthy, type Value } from "#lib/values/value.ts";

/** The accepted signers and the place of keys: passed on unchanged. */
export interface Signers {
  readonly signed_by_any: Value;
  readonly signed_by_all: Value;
  readonly keyring: Value;
  readonly gnupghome: Value;
  /** The name of the module that verifies. */
  readonly sig_backend: string;
}

/** The fields of `given` for it. */
export function signersOf({ signed_by_any, signed_by_all, keyring, gnupghome, sig_backend }: Signers): Signers {
  return { signed_by_any, signed_by_all, keyring, gnupghome, sig_backend };
}

/** The reason why signatures cannot be checked here; `undefined` if they can. */
export async function missingBackend({ sig_backend }: Signers, context: JobContext): Promise<string | undefined> {
  if (await context.catalogue.get(`${sig_backend}.verify`) !== undefined) return undefined;
  return `Cannot verify signatures because the ${sig_backend} module was not loaded`;
}

/** The file whose signature is checked. */
export interface SignedFile {
  readonly path: string;
  /** The URL or path of a detached signature, or a list of them; True: the file has it inside. */
  readonly signature: Value;
  readonly saltenv: string;
  /** Whether certificates of servers are checked that signatures come from. */
  readonly verifySsl?: boolean;
}

/**
 * Checks the signature of a file. If it is invalid, copies of the file and of its signatures in the minion's cache are
 * removed; files of the host are kept, which Salt removes as well.
 * @throws {CommandError} If it is invalid, or there is no module to check it.
 */
export async function checkSignature(
  { path, signature, saltenv, verifySsl = true }: SignedFile,
  signers: Signers,
  context: JobContext,
): Promise<void> {
  const { sig_backend, keyring, gnupghome, signed_by_any, signed_by_all } = signers;
  if (await missingBackend(signers, context) !== undefined) {
    throw new CommandError(
      `Signature verification requires the ${sig_backend} module, which could not be found. Make sure you have the ` +
        "necessary tools and libraries intalled",
    );
  }
  const urls = signature === true ? [] : asList(signature).map(str);
  const copies: string[] = [];
  for (const url of urls) {
    const copy = await context.call("cp.cache_file", [url, saltenv], map({ verify_ssl: verifySsl }));
    if (!truthy(copy) && sig_backend === "gpg") throw new CommandError(`Detached signature file ${url} not found`);
    copies.push(truthy(copy) ? str(copy) : url);
  }
  const files = signature === true ? null : Array.isArray(signature) ? copies : copies[0];
  const kwargs = map({ filename: path, signature: files, keyring, gnupghome, signed_by_any, signed_by_all });
  const verified = await context.call(`${sig_backend}.verify`, [], kwargs);
  if (isMap(verified) && verified.get("res") === true) return;
  const ours = `${context.opts.cachedir}/`;
  for (const file of [...copies, path]) if (file.startsWith(ours)) removeIfExists(file);
  const message = isMap(verified) ? str(verified.get("message") ?? "") : "";
  throw new CommandError(`The file's signature could not be verified: ${message}`);
}
