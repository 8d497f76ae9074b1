/**
 * The first user of `external_auth`: a file with the hash of a random password, and a configuration file that names it.
 * Both are as an operator would write them for Salt.
 * @module
 */

import { lstatIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import { giveToOwnerOf } from "#lib/os/held_path.ts";
import { hashHex } from "#lib/crypto/hash.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { CommandError } from "#lib/errors.ts";
import { dumpYaml } from "#lib/yaml/dump.ts";
import { isMap, map } from "#lib/values/value.ts";

/** A new user. */
export interface FirstUser {
  readonly name: string;
  /** It is kept nowhere. */
  readonly password: string;
  /** The configuration file, which the master reads when it starts. */
  readonly path: string;
}

/** Bytes of a password: it is random, so that a hash without a salt and without rounds does not give it away. */
const PASSWORD_BYTES = 15;
/** What the user may do: everything. */
const RULES = [".*", "@runner", "@wheel", "@jobs"];
/** A name that needs no quotes, and is no group (`%`), no parameter (`^`) and not everybody (`*`). */
const NAME = /^[a-z_][a-z0-9_.-]{0,31}$/i;

/** Whether `external_auth` has rules for anybody. */
export function hasUsers({ external_auth }: Pick<MasterOpts, "external_auth">): boolean {
  return [...external_auth.values()].some((system) =>
    isMap(system) && [...system.keys()].some((name) => typeof name === "string" && !name.startsWith("^"))
  );
}

/**
 * Makes the user.
 * @param opts.config_dir The directory of the master's configuration file; the user's is in `master.d` below it.
 * @throws {CommandError} For a wrong name, or if there is a user, or a part of one, already.
 * @throws What writing throws.
 */
export function makeFirstUser(
  name: string,
  opts: Pick<MasterOpts, "external_auth" | "config_dir" | "pki_dir" | "salt_console">,
): FirstUser {
  if (!NAME.test(name)) throw new CommandError(`${name} is no name of a user: letters, digits, _, - and .`);
  if (opts.external_auth.size > 0) {
    throw new CommandError("external_auth has a user, or a system of users, already: add the user there");
  }
  const path = `${opts.config_dir}/master.d/first_user.conf`, passwords = `${opts.pki_dir}/first_user.passwd`;
  for (const file of [path, passwords]) {
    if (lstatIfExists(file) !== undefined) {
      throw new CommandError(`${file} is there already; the master reads it when it starts`);
    }
  }
  const password = crypto.getRandomValues(new Uint8Array(PASSWORD_BYTES)).toBase64({ alphabet: "base64url" });
  const own = { mode: 0o600, makeDirectory: true };
  writeFileAtomic(passwords, `${name}:${hashHex(password, "sha512")}\n`, own);
  // The master may run as another user than the one who types.
  giveToOwnerOf(opts.pki_dir, passwords);
  const system = { "^filename": passwords, "^filetype": "text", "^hashtype": "sha512", [name]: RULES };
  const settings = map({ ...!opts.salt_console && { salt_console: true }, external_auth: { file: system } });
  const head = "# Written by salt-run auth.first_user.\n";
  writeFileAtomic(path, head + dumpYaml(settings), { mode: 0o644, makeDirectory: true });
  return { name, password, path };
}
