/**
 * Signatures of the files that functions of the module `file` take from elsewhere.
 * @module
 */

import { checkSignature, type Signers, signersOf } from "#lib/host/gnupg/file_signature.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { any } from "#lib/plugins/module.ts";
import { str as text, truthy, type Value } from "#lib/values/value.ts";

/** Parameters of signatures. */
export const SIGNATURES = {
  source_hash_sig: any(null),
  signed_by_any: any(null),
  signed_by_all: any(null),
  keyring: any(null),
  gnupghome: any(null),
};

/** Checks a signature of files from elsewhere; `undefined` if there is none to check. */
export function signatureCheck(
  signature: Value,
  given: Signers & { readonly saltenv: Value; readonly verify_ssl?: boolean },
  context: JobContext,
): ((path: string) => Promise<void>) | undefined {
  if (!truthy(signature)) return undefined;
  const saltenv = truthy(given.saltenv) ? text(given.saltenv) : "base";
  return (path) =>
    checkSignature({ path, signature, saltenv, verifySsl: given.verify_ssl ?? true }, signersOf(given), context);
}
