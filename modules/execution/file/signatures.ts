/**
 * Signatures of the files that functions of the module `file` take from elsewhere.
 * @module
 */

import { checkSignature, type Signers, signersOf } from "#lib/host/gnupg/file_signature.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { p } from "#lib/plugins/module.ts";
import { str, truthy, type Value } from "#lib/values/value.ts";

/** Parameters of signatures. */
export const SIGNATURES = {
  source_hash_sig: p.any(null),
  signed_by_any: p.any(null),
  signed_by_all: p.any(null),
  keyring: p.any(null),
  gnupghome: p.any(null),
};

/** Checks a signature of files from elsewhere; `undefined` if there is none to check. */
export function signatureCheck(
  signature: Value,
  given: Signers & { readonly saltenv: Value; readonly verify_ssl?: boolean },
  context: JobContext,
): ((path: string) => Promise<void>) | undefined {
  if (!truthy(signature)) return undefined;
  const saltenv = truthy(given.saltenv) ? str(given.saltenv) : "base";
  return (path) =>
    checkSignature({ path, signature, saltenv, verifySsl: given.verify_ssl ?? true }, signersOf(given), context);
}
