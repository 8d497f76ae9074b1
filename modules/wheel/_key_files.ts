/**
 * The files that callers of the wheel functions of `key` may name, as paths of a client are: no directory but the pki
 * directory's `generated`, and no pair of the master. On the master's host `salt-key` takes any path.
 * @module
 */

import { InvocationError } from "#lib/errors.ts";
import { followLinks, isReallyBelow } from "#lib/files/backends/safe_path.ts";
import { movedMasterKey } from "#lib/keys/pair.ts";
import { isValidId } from "#lib/protocol/minion_id.ts";
import type { MasterOpts } from "#lib/config/options.ts";

type Opts = Pick<MasterOpts, "pki_dir" | "id" | "master_sign_key_name">;

/** Where a new pair is written. */
interface PairPlace {
  readonly directory: string;
  readonly name: string;
}

/**
 * Where a caller's pair is written: in the pki directory, or in `generated` there or below it.
 * @throws {InvocationError} For another directory, also by a link, and for a name that the master's own pairs have.
 */
export async function placeOfPair(
  { keydir, keyname }: { readonly keydir: string | null; readonly keyname: string | null },
  opts: Opts,
): Promise<PairPlace> {
  const name = keyname || "minion", directory = keydir || opts.pki_dir;
  await checkDirectory(directory, "keydir", opts);
  const own = ["master", opts.master_sign_key_name, movedMasterKey(opts.id), opts.id];
  if (!isValidId(name) || own.includes(name)) {
    throw new InvocationError(
      `keyname must be the name of a file, and none of the master's own keys (${own.join(", ")})`,
    );
  }
  return { directory, name };
}

/** Files of {@linkcode checkSigning}; `undefined`: the default. */
export interface SigningFiles {
  readonly priv?: string;
  readonly pub?: string;
  readonly signaturePath?: string;
}

/**
 * Checks the files of a signature: only the master's public key is signed, because minions accept what is signed as the
 * key of their master, and only with its signing key.
 * @throws {InvocationError} For other files, and for another directory than {@linkcode placeOfPair} allows.
 */
export async function checkSigning({ priv, pub, signaturePath }: SigningFiles, opts: Opts): Promise<void> {
  const { pki_dir, id, master_sign_key_name } = opts;
  if (priv !== undefined && priv !== `${pki_dir}/${master_sign_key_name}.pem`) {
    throw new InvocationError(`priv must be empty or ${pki_dir}/${master_sign_key_name}.pem`);
  }
  const own = ["master", movedMasterKey(id)].map((name) => `${pki_dir}/${name}.pub`);
  if (pub !== undefined && !own.includes(pub)) throw new InvocationError(`pub must be empty or ${own[0]}`);
  if (signaturePath !== undefined) await checkDirectory(signaturePath, "signature_path", opts);
}

async function checkDirectory(directory: string, name: string, { pki_dir }: Opts): Promise<void> {
  const generated = `${pki_dir}/generated`;
  if (directory.startsWith("/") && !directory.includes("\0")) {
    if (await followLinks(directory) === await followLinks(pki_dir)) return;
    // A link in place of `generated` itself would move the bound.
    if (
      await isReallyBelow(`${await followLinks(pki_dir)}/generated`, directory) &&
      await isReallyBelow(pki_dir, directory)
    ) {
      return;
    }
  }
  throw new InvocationError(`${name} must be ${pki_dir}, ${generated} or a directory below that`);
}
