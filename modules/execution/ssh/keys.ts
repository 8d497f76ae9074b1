/**
 * Execution module `ssh`: authorized keys, the keys of the host and those of its users. Its functions for `known_hosts`
 * are in `known_hosts.ts`.
 *
 * Files below a user's home directory are that user's: as root this follows no link of theirs to a file of another's,
 * and refuses to write there. Source: the functions of Salt 3008.3 `salt/modules/ssh.py`.
 * @module
 */

import { fingerprints, HASH, makeUsersDirectory, userOf, writeUsers } from "./files.ts";
import { sourceFiles } from "#modules/execution/_file_host.ts";
import {
  type AuthorizedKey,
  expandTokens,
  formatKey,
  keyType,
  parseAuthorizedKeys,
  removeKey,
  replaceKey,
} from "#lib/host/etc_files/authorized_keys.ts";
import { readUtf8File } from "#lib/host/filesystem/contents.ts";
import { baseName, dirName, joinPath } from "#lib/os/paths.ts";
import { sourcePath } from "#lib/host/filesystem/sources.ts";
import { CommandError } from "#lib/errors.ts";
import { isDirectory, isFile } from "#lib/os/file_kind.ts";
import { findUser, hostUsers } from "#lib/os/users.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { map, str, truthy, type Value } from "#lib/values/value.ts";

export const virtual: Virtual = {
  serves: [{ programs: ["ssh"], otherwise: "The module requires the ssh binary." }],
};

const CONFIG = ".ssh/authorized_keys";

function keysPath(name: string, config: string): string {
  const { home } = userOf(name);
  return joinPath(home, expandTokens(config, { user: name, home }));
}

function keysIn(path: string, hashType: string | null): Map<string, AuthorizedKey> {
  const fingerprint = fingerprints(hashType);
  try {
    return parseAuthorizedKeys(readUtf8File(path), fingerprint);
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) throw error;
    throw new CommandError(`Problem reading ssh key file ${path}`);
  }
}

/** A user's keys; none if there is no such user or file. */
function keysOfUser(name: string, config: string, hashType: string | null): Map<string, AuthorizedKey> | undefined {
  if (findUser(name) === undefined) return undefined;
  const path = keysPath(name, config);
  return isFile(path) ? keysIn(path, hashType) : undefined;
}

function keyMap(keys: ReadonlyMap<string, AuthorizedKey>): Map<Value, Value> {
  return new Map([...keys].map(([key, about]): [Value, Value] => [key, map({ ...about })]));
}

export const auth_keys: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the authorized keys of a user, or, by user, of several or all users.",
    "ssh.auth_keys root",
    "ssh.auth_keys user='[user1, user2]'",
  ),
  permissions: "all",
  params: { user: p.any(null), config: p.str(CONFIG), ...HASH },
  run: ({ user, config, fingerprint_hash_type: hashType }) => {
    const names = !truthy(user) ? hostUsers() : Array.isArray(user) ? user.map(str) : undefined;
    if (names === undefined) return keyMap(keysOfUser(str(user), config, hashType) ?? new Map());
    return new Map(names.flatMap((name): [Value, Value][] => {
      const keys = keysOfUser(name, config, hashType);
      return keys === undefined ? [] : [[name, keyMap(keys)]];
    }));
  },
});

interface KeyRequest {
  readonly key: string;
  readonly enc: string;
  readonly comment: string;
  readonly options: readonly string[];
  readonly config: string;
  readonly hashType: string | null;
}

function checkKey(user: string, request: KeyRequest): "add" | "update" | "exists" {
  const enc = keyType(request.enc);
  const current = keysOfUser(user, request.config, request.hashType)?.get(request.key);
  if (current === undefined) return "add";
  return formatKey(request.key, current) === formatKey(request.key, { ...request, enc }) ? "exists" : "update";
}

function optionsOf(options: Value): string[] {
  if (!truthy(options)) return [];
  return Array.isArray(options) ? options.map(str) : [str(options)];
}

export const check_key: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return whether a key would be added, updated, or exists.",
    "ssh.check_key <user> <key> <enc> <comment> <options>",
  ),
  permissions: "all",
  params: {
    user: p.str(),
    key: p.str(),
    enc: p.str(),
    comment: p.str(),
    options: p.any(),
    config: p.str(CONFIG),
    cache_keys: p.any(null),
    ...HASH,
  },
  run: ({ user, key, enc, comment, options, config, fingerprint_hash_type: hashType }) =>
    checkKey(user, { key, enc, comment, options: optionsOf(options), config, hashType }),
});

const SOURCE = { user: p.str(), source: p.str(), config: p.str(CONFIG), saltenv: p.str("base"), ...HASH };

/** How the keys in a source are read. */
interface SourceOptions {
  readonly saltenv: string;
  readonly hashType: string | null;
  readonly context: JobContext;
}

/**
 * The keys in a source to be set or removed.
 * @throws {CommandError} If it is not there.
 */
async function sourceKeys(source: string, options: SourceOptions) {
  const path = await sourceFile(source, options);
  if (path === undefined || !isFile(path)) throw new CommandError("Failed to pull key file from salt file server");
  return keysOf(source, path, options);
}

function sourceFile(source: string, { saltenv, context }: SourceOptions): Promise<string | undefined> {
  return sourcePath(source, { saltenv, files: sourceFiles(context) });
}

/** The keys in a file; none are said in the log. */
function keysOf(source: string, path: string, { hashType, context }: SourceOptions) {
  const keys = keysIn(path, hashType);
  if (keys.size === 0) context.log("error", `No keys detected in ${source}. Is file properly formatted?`);
  return keys;
}

export const check_key_file: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the result of ssh.check_key for each key of a file on this host or at a URL; none if no server has it.",
    "ssh.check_key_file root /root/keys",
  ),
  permissions: "all",
  params: SOURCE,
  run: async ({ user, source, config, saltenv, fingerprint_hash_type: hashType }, context) => {
    const options = { saltenv, hashType, context };
    const path = await sourceFile(source, options);
    if (path === undefined) return new Map();
    if (!isFile(path)) throw new CommandError(`Problem reading ssh key file ${path}`);
    const keys = keysOf(source, path, options);
    return new Map([...keys].map(([key, about]) => [key, checkKey(user, { key, ...about, config, hashType })]));
  },
});

function removeFrom(user: string, { key, config, hashType }: Pick<KeyRequest, "key" | "config" | "hashType">): string {
  if (keysOfUser(user, config, hashType)?.has(key) !== true) return "Key not present";
  const path = keysPath(user, config);
  writeUsers(path, removeKey(readUtf8File(path), key), userOf(user));
  return "Key removed";
}

export const rm_auth_key: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Remove an authorized key. Return a text that says whether it was there.",
    "ssh.rm_auth_key <user> <key>",
  ),
  permissions: "all",
  params: { user: p.str(), key: p.str(), config: p.str(CONFIG), ...HASH },
  run: ({ user, key, config, fingerprint_hash_type: hashType }) => removeFrom(user, { key, config, hashType }),
});

export const rm_auth_key_from_file: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Remove the authorized keys that are in a file on this host or at a URL.",
    "ssh.rm_auth_key_from_file <user> /root/keys",
  ),
  permissions: "all",
  params: SOURCE,
  run: async ({ user, source, config, saltenv, fingerprint_hash_type: hashType }, context) => {
    const keys = await sourceKeys(source, { saltenv, hashType, context });
    if (keys.size === 0) return "fail";
    const results = [...keys.keys()].map((key) => removeFrom(user, { key, config, hashType }));
    return results.includes("Key removed") ? "Key removed" : "Key not present";
  },
});

function setKey(user: string, request: KeyRequest): string {
  if (request.key.split(/\s+/).length > 1) return "invalid";
  const enc = keyType(request.enc);
  const account = findUser(user);
  if (account === undefined) return "fail";
  if (fingerprints(request.hashType)(request.key) === undefined) return "Invalid public key";
  const status = checkKey(user, request);
  if (status === "exists") return "no change";
  const path = keysPath(user, request.config);
  const line = formatKey(request.key, { ...request, enc });
  if (status === "update") {
    writeUsers(path, replaceKey(readUtf8File(path), request.key, line), account);
    return "replace";
  }
  if (path.startsWith(account.home) && !isDirectory(account.home)) return "fail";
  makeUsersDirectory(dirName(path), account);
  const old = isFile(path) ? readUtf8File(path) : "";
  writeUsers(path, `${old}${old === "" || old.endsWith("\n") ? "" : "\n"}${line}`, account);
  return "new";
}

export const set_auth_key: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Add a key to a user's authorized keys, or change its line. Returns new, replace, `no change`, invalid or fail.",
    "ssh.set_auth_key <user> '<key>' enc='dsa'",
  ),
  permissions: "all",
  params: {
    user: p.str(),
    key: p.str(),
    enc: p.str("ssh-rsa"),
    comment: p.str(""),
    options: p.any(null),
    config: p.str(CONFIG),
    cache_keys: p.any(null),
    ...HASH,
  },
  run: ({ user, key, enc, comment, options, config, fingerprint_hash_type: hashType }) =>
    setKey(user, { key, enc, comment, options: optionsOf(options), config, hashType }),
});

export const set_auth_key_from_file: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Add the keys of a file on this host or at a URL to a user's authorized keys.",
    "ssh.set_auth_key_from_file <user> /root/id_rsa.pub",
  ),
  permissions: "all",
  params: SOURCE,
  varKwargs: "kwargs",
  run: async ({ user, source, config, saltenv, fingerprint_hash_type: hashType }, context, { kwargs }) => {
    const keys = await sourceKeys(source, { saltenv, hashType, context });
    if (keys.size === 0) return "fail";
    const given = optionsOf(kwargs.get("options") ?? null);
    const results = [...keys].map(([key, about]) =>
      setKey(user, { key, ...about, options: given.length > 0 ? given : about.options, config, hashType })
    );
    return ["fail", "replace", "new"].find((one) => results.includes(one)) ?? "no change";
  },
});

export const host_keys: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the host keys; with private=False, without the private ones.",
    "ssh.host_keys",
    "ssh.host_keys keydir=/etc/ssh private=False",
  ),
  permissions: "all",
  params: { keydir: p.str(null), private: p.bool(true), certs: p.bool(true) },
  run: ({ keydir, private: withPrivate, certs }) => {
    const directory = keydir || "/etc/ssh";
    const keys = new Map<Value, Value>();
    for (const { name } of Deno.readDirSync(directory)) {
      const match = /^ssh_host_(.+)_key((-cert)?\.pub)?/.exec(name);
      if (match === null) continue;
      const [, type, pub = "", cert] = match;
      if ((pub === "" && !withPrivate) || (cert !== undefined && !certs)) continue;
      const path = joinPath(directory, name);
      keys.set(type + pub, isFile(path) ? readUtf8File(path).trim() : "");
    }
    return keys;
  },
});

const USER_KEYS = ["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"];

export const user_keys: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the keys of users, by user and file. `pubfile` and `prvfile` name other files; False omits that kind.",
    "ssh.user_keys user=user1",
    "ssh.user_keys user=user1 pubfile=/home/user1/.ssh/id_rsa.pub prvfile=False",
  ),
  permissions: "all",
  params: { user: p.any(null), pubfile: p.any(null), prvfile: p.any(null) },
  run: ({ user, pubfile, prvfile }) => {
    const names = !truthy(user) ? hostUsers() : Array.isArray(user) ? user.map(str) : [str(user)];
    const choose = (given: Value, usual: readonly string[]) =>
      truthy(given) ? [str(given)] : given === false ? [] : usual;
    const files = [...choose(pubfile, USER_KEYS.map((name) => `${name}.pub`)), ...choose(prvfile, USER_KEYS)];
    return new Map(names.flatMap((name): [Value, Value][] => {
      const home = findUser(name)?.home;
      if (home === undefined) return [];
      const keys = new Map(files.flatMap((file): [Value, Value][] => {
        const path = file.startsWith("/") ? file : `${home}/.ssh/${file}`;
        return isFile(path) ? [[file.startsWith("/") ? baseName(file) : file, readUtf8File(path).trim()]] : [];
      }));
      return keys.size === 0 ? [] : [[name, keys]];
    }));
  },
});

export const key_is_encrypted: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return whether a private key file is encrypted with a passphrase.",
    "ssh.key_is_encrypted /root/id_rsa",
  ),
  permissions: "all",
  params: { key: p.str() },
  run: ({ key }) => {
    if (!isFile(key)) throw new CommandError(`${key} does not exist`);
    const data = readUtf8File(key);
    if (!/BEGIN (?:\w+\s)*PRIVATE KEY/.test(data)) throw new CommandError(`${key} is not a private key`);
    return data.includes("ENCRYPTED");
  },
});
