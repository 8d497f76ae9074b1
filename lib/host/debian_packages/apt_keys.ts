/**
 * The keys of apt's repositories: files in a directory of keyrings, or the keyring of apt-key, where that program still
 * is. Source: Salt 3008.3, `salt/modules/aptpkg.py` get_repo_keys, add_repo_key, del_repo_key.
 * @module
 */

import { baseName } from "#lib/os/paths.ts";
import { createDirectory } from "#lib/os/new_files.ts";
import { runApt } from "./run_apt.ts";
import { parseRepositoryKeys } from "./apt_output.ts";
import { CommandError, InvocationError, messageOf } from "#lib/errors.ts";
import { checkedWord, runProgram } from "#lib/programs/run_program.ts";
import { which } from "#lib/programs/which.ts";
import { isDirectory } from "#lib/os/file_kind.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";

export interface KeyPlace {
  /** Whether apt-key is used, if it is there. */
  readonly aptkey: boolean;
  /** The directory of keyrings. Default: `/etc/apt/keyrings`. */
  readonly keydir: string | null;
}

const KEYRINGS = "/etc/apt/keyrings";

function usesAptKey({ aptkey }: KeyPlace): boolean {
  return aptkey && which("apt-key") !== undefined;
}

/** The keys by their ids; False if there is no such directory. */
export async function listKeys(place: KeyPlace, context: JobContext): Promise<ValueMap | false> {
  if (usesAptKey(place)) {
    const words = ["adv", "--batch", "--list-public-keys", "--with-fingerprint", "--with-fingerprint"];
    const result = await runApt(["apt-key", ...words, "--with-colons", "--fixed-list-mode"], context, { scope: false });
    if (result.retcode === 0) return parseRepositoryKeys(result.stdout);
    context.log("error", result.stderr);
    return new Map();
  }
  const keydir = place.keydir ?? KEYRINGS;
  if (!isDirectory(keydir)) {
    context.log("error", `The directory ${keydir} does not exist. Please create this directory only writable by root`);
    return false;
  }
  const keys: ValueMap = new Map();
  for (const file of keyFiles(keydir)) for (const [id, key] of await keysIn(file, context)) keys.set(id, key);
  return keys;
}

function keyFiles(keydir: string): string[] {
  return [...Deno.readDirSync(keydir)].map(({ name }) => `${keydir}/${name}`).sort();
}

async function keysIn(file: string, context: JobContext): Promise<ValueMap> {
  const words = ["gpg", "--no-default-keyring", "--keyring", file, "--list-keys", "--with-colons"];
  return parseRepositoryKeys((await runProgram(words, context)).stdout);
}

/** A key to add: one of a file, a text, or an id at a key server. */
export interface NewKey {
  readonly path: string | null;
  readonly text: string | null;
  readonly keyserver: string | null;
  readonly keyid: string | null;
  readonly saltenv: string;
  /** The name of its file. */
  readonly keyfile: string | null;
}

/**
 * Adds a key.
 * @returns Whether it exists now; if not, the log has the reason.
 */
export async function addKey(key: NewKey, place: KeyPlace, context: JobContext): Promise<boolean> {
  const keydir = place.keydir ?? KEYRINGS;
  const aptkey = usesAptKey(place);
  if (!aptkey) createDirectory(keydir, { recursive: true, mode: 0o755 });
  const { keyid } = key;
  if (keyid !== null) {
    const keys = await listKeys(place, context);
    if (isMap(keys) && [...keys.keys()].some((id) => str(id).endsWith(keyid))) return true;
  }
  const addKey = async (words: readonly string[], stdin?: string): Promise<boolean> => {
    const { retcode, stderr } = await runApt(words, context, stdin === undefined ? {} : { stdin });
    if (retcode !== 0) context.log("error", `Unable to add repo key: ${stderr}`);
    return retcode === 0;
  };
  if (key.path !== null) {
    const cached = await cachedFile(key.path, key.saltenv, context);
    return aptkey ? await addKey(["apt-key", "add", cached]) : await putKey(cached, { keydir, key, context });
  }
  if (key.text !== null) {
    // Salt calls apt-key here even if it is not installed.
    if (!aptkey) throw new CommandError("A key given as text needs apt-key: put it into a file, and give its path");
    return await addKey(["apt-key", "add", "-"], key.text);
  }
  if (key.keyserver !== null) {
    if (keyid === null) throw new InvocationError(`No keyid or keyid too short for keyserver: ${key.keyserver}`);
    const [server, id] = [checkedWord(key.keyserver, "key server"), checkedWord(keyid, "key id")];
    if (aptkey) return await addKey(["apt-key", "adv", "--batch", "--keyserver", server, "--recv", id]);
    if (key.keyfile === null) {
      context.log("error", "You must define the name of the key file to save the key. See keyfile argument");
      return false;
    }
    const ring = keyPath(keydir, key.keyfile);
    const done = await addKey([
      "gpg",
      "--no-default-keyring",
      "--keyring",
      ring,
      "--keyserver",
      server,
      "--recv-keys",
      id,
    ]);
    if (done) Deno.chmodSync(ring, 0o644);
    return done;
  }
  if (keyid !== null) throw new InvocationError(`No keyserver specified for keyid: ${keyid}`);
  throw new InvocationError("add_repo_key() takes at least 1 argument (0 given)");
}

async function cachedFile(path: string, saltenv: string, context: JobContext): Promise<string> {
  if (path.startsWith("/")) return path;
  const cached = await context.call("cp.cache_file", [path], map({ saltenv }));
  if (typeof cached === "string" && cached !== "") return cached;
  throw new CommandError(`Unable to get cached copy of file: ${path}`);
}

/** A key file's path; its name has no directory in it. */
function keyPath(keydir: string, name: string): string {
  const last = baseName(name);
  return `${keydir}/${checkedWord(last, "name of a key file")}`;
}

/** Copies a key's file into the directory of keyrings; an armored one is converted to binary form. */
async function putKey(
  file: string,
  { keydir, key, context }: { readonly keydir: string; readonly key: NewKey; readonly context: JobContext },
): Promise<boolean> {
  const target = keyPath(keydir, key.keyfile ?? file);
  const bytes = Deno.readFileSync(file);
  const isArmored = new TextDecoder().decode(bytes.subarray(0, 64)).replace(/^-+/, "").startsWith("BEGIN PGP");
  if (isArmored && !target.endsWith(".asc")) {
    if (which("gpg") === undefined) {
      context.log(
        "error",
        `Detected an ASCII armored key ${file} and the gpg binary is not available. Not decrypting the key.`,
      );
      return false;
    }
    const { retcode, stderr } = await runProgram(["gpg", "--yes", "--output", target, "--dearmor", file], context);
    if (retcode !== 0) context.log("error", `Failed to decrypt the key ${file}: ${stderr}`);
    if (retcode !== 0) return false;
  } else Deno.writeFileSync(target, bytes);
  Deno.chmodSync(target, 0o644);
  return true;
}

/**
 * Deletes a key.
 * @returns Its id, or False if it is not there.
 */
export async function deleteKey(keyid: string, place: KeyPlace, context: JobContext): Promise<Value> {
  if (usesAptKey(place)) {
    const { retcode, stderr } = await runApt(["apt-key", "del", checkedWord(keyid, "key id")], context, {
      scope: false,
    });
    if (retcode === 0) return keyid;
    throw new CommandError(`Failed to remove keyid ${keyid}${stderr === "" ? "" : `: ${stderr}`}`);
  }
  const keydir = place.keydir ?? KEYRINGS;
  if (!isDirectory(keydir)) {
    context.log("error", `The directory ${keydir} does not exist. Please create this directory only writable by root`);
    return false;
  }
  if (keyid.length !== 8 && keyid.length !== 16) {
    context.log("error", "The keyid needs to be either 8 or 16 characters");
    return false;
  }
  for (const file of keyFiles(keydir)) {
    const ids = [...(await keysIn(file, context)).keys()].map(str);
    if (!ids.some((id) => id.endsWith(keyid))) continue;
    Deno.removeSync(file);
    return keyid;
  }
  context.log("error", `Could not find the key file for keyid: ${keyid}`);
  return false;
}

/**
 * Launchpad's data about a personal archive of Ubuntu.
 * @throws {CommandError} If it cannot be asked.
 */
export async function personalArchive(owner: string, name: string): Promise<ReadonlyMap<string, unknown>> {
  const url = `https://launchpad.net/api/1.0/~${encodeURIComponent(owner)}/+archive/${encodeURIComponent(name)}`;
  try {
    const answer = await fetch(url, { headers: { accept: "application/json" }, signal: AbortSignal.timeout(30_000) });
    if (!answer.ok) throw new CommandError(`${answer.status} ${answer.statusText}`);
    const body: unknown = await answer.json();
    return new Map(Object.entries(typeof body === "object" && body !== null ? body : {}));
  } catch (error) {
    throw new CommandError(`Launchpad does not know about ${owner}/${name}: ${messageOf(error)}`);
  }
}
