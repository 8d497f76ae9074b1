/**
 * Execution module `key`: fingerprints of the minion's public key and of its master's.
 * Source: Salt 3008.3 `salt/modules/key.py`, `salt/utils/crypt.py` pem_finger.
 * @module
 */

import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { fingerprint } from "#lib/crypto/pem.ts";

export const finger: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the fingerprint of the minion's public key. Without `hash_type`, the minion's option of that name counts.",
    "key.finger",
  ),
  permissions: { read: ["{pki_dir}"] },
  params: { hash_type: p.str(null) },
  run: ({ hash_type }, { opts }) => fingerprintOf(`${opts.pki_dir}/minion.pub`, hash_type ?? opts.hash_type),
});

export const finger_master: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the fingerprint of the master's public key as the minion has it.",
    "key.finger_master",
  ),
  permissions: { read: ["{pki_dir}"] },
  params: { hash_type: p.str(null) },
  run: ({ hash_type }, { opts }) => fingerprintOf(`${opts.pki_dir}/minion_master.pub`, hash_type ?? opts.hash_type),
});

/** The fingerprint of the key in a file; empty if there is no such file, as Salt has it. */
async function fingerprintOf(path: string, hashType: string): Promise<string> {
  try {
    return fingerprint(await Deno.readTextFile(path), hashType);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return "";
    throw error;
  }
}
