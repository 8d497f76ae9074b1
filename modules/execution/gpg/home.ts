/**
 * Where the functions of the module `gpg` find keys: the home directory of a user's keys, made if need be, and gpg in
 * it. Source: Salt 3008.3 `salt/modules/gpg.py` _get_user_info, _get_user_gnupghome, _create_gpg, _restore_ownership.
 * @module
 */

import { writeWithUmask } from "#lib/os/new_files.ts";
import { InvocationError } from "#lib/errors.ts";
import { Gpg } from "#lib/host/gnupg/gpg.ts";
import { asCommandError } from "#lib/os/command_error.ts";
import { existsOrThrow, isDirectory } from "#lib/os/file_kind.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { p } from "#lib/plugins/module.ts";
import { listOrEmpty } from "#lib/values/shape.ts";
import { isMap, map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** The arguments that select the keys. */
export interface Keychain {
  readonly user: string | null;
  readonly gnupghome: string | null;
  readonly keyring?: Value;
}

/** Parameters of a {@linkcode Keychain} in the order that most functions have them. */
export const KEYCHAIN = { user: p.str(null), gnupghome: p.str(null), keyring: p.any(null) };

async function userInfo(user: string | null, context: JobContext): Promise<ValueMap> {
  const name = truthy(user) ? user : str(await context.call("config.option", ["user"]));
  const info = await context.call("user.info", [name]);
  if (isMap(info) && info.size > 0) return info;
  // The user `salt` is the minion's own user if the host has no user of that name.
  if (name === "salt" && truthy(user)) return await userInfo(null, context);
  throw new InvocationError(`User ${name} does not exist`);
}

async function homeOf(user: string | null, context: JobContext): Promise<string> {
  if (user === "salt") return `${str(await context.call("config.get", ["config_dir"]))}/gpgkeys`;
  let home: string;
  if (user === null) home = str(await context.call("environ.get", ["GNUPGHOME"]));
  else {
    const kwargs = map({ python_shell: true, runas: user });
    home = str(await context.call("cmd.run_stdout", ['echo -n "$GNUPGHOME"'], kwargs)).trim();
    if (home.startsWith("~")) {
      context.log("warning", "Found GNUPGHOME beginning with tilde, ignoring");
      home = "";
    }
  }
  return home || `${str((await userInfo(user, context)).get("home") ?? "")}/.gnupg`;
}

/** gpg with the selected keys; the home directory is created if it is missing. */
export async function openGpg({ user, gnupghome, keyring = null }: Keychain, context: JobContext): Promise<Gpg> {
  const home = truthy(gnupghome) && gnupghome !== null ? gnupghome : await homeOf(user, context);
  if (truthy(keyring) && typeof keyring !== "string") {
    throw new InvocationError("Please pass keyring as a string. Multiple keyrings are not allowed");
  }
  if (!isDirectory(home)) await makeHome(home, user, context);
  return new Gpg({ home, ...typeof keyring === "string" && keyring !== "" && { keyring } }, context);
}

async function makeHome(home: string, user: string | null, context: JobContext): Promise<void> {
  const info = await userInfo(user, context);
  const owner = { user: info.get("uid") ?? null, group: info.get("gid") ?? null };
  await context.call("file.mkdir", [home], map({ ...owner, mode: "0700" }));
}

/** Does what changes keys of another user as the minion's user; the files belong to the other user afterwards. */
export async function withOwnership<T>(
  keychain: Keychain,
  context: JobContext,
  act: (gpg: Gpg) => Promise<T>,
): Promise<T> {
  const { user, gnupghome, keyring = null } = keychain;
  const home = truthy(gnupghome) && gnupghome !== null ? gnupghome : await homeOf(user, context);
  const [theirs, ours] = [await userInfo(user, context), await userInfo(null, context)];
  if (!existsOrThrow(home)) await makeHome(home, user, context);
  const open = () => openGpg({ ...keychain, gnupghome: home }, context);
  if (theirs.get("uid") === ours.get("uid")) return await act(await open());
  const give = async (owner: ValueMap) => {
    const inside = await context.call("file.find", [home]);
    const paths = [home, ...listOrEmpty(inside)];
    if (typeof keyring === "string" && keyring !== "" && existsOrThrow(keyring)) paths.push(keyring);
    const to = map({ user: owner.get("uid") ?? null, group: owner.get("gid") ?? null });
    for (const path of paths) await context.call("file.chown", [path], to);
  };
  await give(ours);
  try {
    return await act(await open());
  } finally {
    await give(theirs);
  }
}

/** What is in the pillar as `gpg_passphrase`; `undefined` if nothing does. */
export async function passphraseOf(context: JobContext): Promise<string | undefined> {
  const passphrase = await context.call("pillar.get", ["gpg_passphrase"], map({ unmask: true }));
  return truthy(passphrase) ? str(passphrase) : undefined;
}

/**
 * The same.
 * @throws {InvocationError} If there is none.
 */
export async function neededPassphrase(context: JobContext): Promise<string> {
  const passphrase = await passphraseOf(context);
  if (passphrase === undefined) throw new InvocationError("gpg_passphrase not available in pillar.");
  return passphrase;
}

/**
 * Writes what gpg gave to a file.
 * @throws {CommandError} If it cannot be written.
 */
export function writeGpgOutput(path: string, bytes: Uint8Array): void {
  try {
    writeWithUmask(path, bytes);
  } catch (error) {
    throw asCommandError(error, path);
  }
}
