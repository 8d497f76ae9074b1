/**
 * Execution module `ssh`: authorized keys, known hosts and host keys.
 *
 * Files below a user's home directory are that user's: as root this follows no link of theirs to a file of another's, and refuses to write there.
 * Source: the functions of Salt 3008.3 `salt/modules/ssh.py`.
 * @module
 */

import { runTool, sourceFiles } from "./_file_host.ts";
import { checkedWord } from "../../lib/host/run_program.ts";
import {
  type AuthorizedKey,
  expandTokens,
  type Fingerprint,
  formatKey,
  foundLines,
  keyType,
  type KnownHost,
  parseAuthorizedKeys,
  parseKnownHosts,
  removeKey,
  replaceKey,
} from "../../lib/config_files/authorized_keys.ts";
import { hashHex } from "../../lib/crypto/hash.ts";
import { HASH_TYPES } from "../../lib/crypto/hash_types.ts";
import { readText, replaceFile } from "../../lib/filesystem/contents.ts";
import { baseName, dirName, isLink, joinPath } from "../../lib/filesystem/paths.ts";
import { sourcePath } from "../../lib/filesystem/sources.ts";
import { CommandError } from "../../lib/errors.ts";
import { isAnything, isDirectory, isFile } from "../../lib/os/file_kind.ts";
import { isTrustedPath } from "../../lib/os/trusted_path.ts";
import { findUser, hostUsers, type User } from "../../lib/os/users.ts";
import { describe } from "../../lib/plugins/docs.ts";
import { fn, type JobContext } from "../../lib/plugins/job_context.ts";
import { any, bool, type ModuleFunction, str } from "../../lib/plugins/module.ts";
import type { Virtual } from "../../lib/plugins/virtual.ts";
import { map, str as text, truthy, type Value } from "../../lib/values/value.ts";

export const virtual: Virtual = {
  serves: [{ programs: ["ssh"], otherwise: "The module requires the ssh binary." }],
};

const CONFIG = ".ssh/authorized_keys";
const HASH = { fingerprint_hash_type: str(null) };
const DEFAULT_PORT = 22;

/** @throws {CommandError} If there is no such digest. */
function fingerprints(hashType: string | null): Fingerprint {
  const type = (hashType || "sha256").toLowerCase();
  if (!HASH_TYPES.some((known) => known === type)) {
    throw new CommandError(`The fingerprint_hash_type ${type} is not supported.`);
  }
  return (key) => {
    if (!/^(?:[A-Za-z0-9+/]{4})*(?:[A-Za-z0-9+/]{2}==|[A-Za-z0-9+/]{3}=)?$/.test(key)) return undefined;
    return hashHex(Uint8Array.fromBase64(key), type).match(/../g)?.join(":");
  };
}

/** @throws {CommandError} If there is no such user. */
function userOf(name: string): User {
  const user = findUser(name);
  if (user === undefined) throw new CommandError(`User '${name}' does not exist`);
  return user;
}

function keysPath(name: string, config: string): string {
  const { home } = userOf(name);
  return joinPath(home, expandTokens(config, { user: name, home }));
}

/** @throws {CommandError} If root would write where a link of the user's leads. */
function refuseLinks(path: string, user: User | undefined): void {
  if (Deno.uid() !== 0 || user === undefined || user.uid === 0 || isTrustedPath(path, user)) return;
  for (let at = path; at.startsWith(`${user.home}/`) && at !== user.home; at = dirName(at)) {
    if (isLink(at)) throw new CommandError(`${at} is a symbolic link of a user's, which is not followed as root`);
  }
}

/** Writes a file of a user's, which belongs to the user if it is new. */
function writeUsers(path: string, contents: string, user: User | undefined): void {
  refuseLinks(path, user);
  const isNew = !isAnything(path);
  replaceFile(path, new TextEncoder().encode(contents), { mode: 0o600 });
  if (isNew && Deno.uid() === 0 && user !== undefined) Deno.chownSync(path, user.uid, user.gid);
}

/** Makes a user's directory for files of ssh. */
function makeUsersDirectory(path: string, user: User | undefined): void {
  if (isDirectory(path)) return;
  refuseLinks(path, user);
  Deno.mkdirSync(path, { recursive: true });
  if (user === undefined) return;
  if (Deno.uid() === 0) Deno.chownSync(path, user.uid, user.gid);
  Deno.chmodSync(path, 0o700);
}

function keysIn(path: string, hashType: string | null): Map<string, AuthorizedKey> {
  const fingerprint = fingerprints(hashType);
  try {
    return parseAuthorizedKeys(readText(path), fingerprint);
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
    "Return the authorized keys of a user, or by user of several or all.",
    "ssh.auth_keys root",
    "ssh.auth_keys user='[user1, user2]'",
  ),
  permissions: "all",
  params: { user: any(null), config: str(CONFIG), ...HASH },
  run: ({ user, config, fingerprint_hash_type: hashType }) => {
    const names = !truthy(user) ? hostUsers() : Array.isArray(user) ? user.map(text) : undefined;
    if (names === undefined) return keyMap(keysOfUser(text(user), config, hashType) ?? new Map());
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
  return Array.isArray(options) ? options.map(text) : [text(options)];
}

export const check_key: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return whether a key would be added, updated, or exists.",
    "ssh.check_key <user> <key> <enc> <comment> <options>",
  ),
  permissions: "all",
  params: {
    user: str(),
    key: str(),
    enc: str(),
    comment: str(),
    options: any(),
    config: str(CONFIG),
    cache_keys: any(null),
    ...HASH,
  },
  run: ({ user, key, enc, comment, options, config, fingerprint_hash_type: hashType }) =>
    checkKey(user, { key, enc, comment, options: optionsOf(options), config, hashType }),
});

const SOURCE = { user: str(), source: str(), config: str(CONFIG), saltenv: str("base"), ...HASH };

/** The keys in a source; none are said in the log. */
async function sourceKeys(
  source: string,
  { saltenv, hashType, context }: { saltenv: string; hashType: string | null; context: JobContext },
) {
  const path = await sourcePath(source, { saltenv, files: sourceFiles(context) });
  if (path === undefined || !isFile(path)) throw new CommandError("Failed to pull key file from salt file server");
  const keys = keysIn(path, hashType);
  if (keys.size === 0) context.log("error", `No keys detected in ${source}. Is file properly formatted?`);
  return keys;
}

export const check_key_file: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return for each key of a file, of this host or at a URL, what ssh.check_key does.",
    "ssh.check_key_file root /root/keys",
  ),
  permissions: "all",
  params: SOURCE,
  run: async ({ user, source, config, saltenv, fingerprint_hash_type: hashType }, context) => {
    const keys = await sourceKeys(source, { saltenv, hashType, context });
    return new Map([...keys].map(([key, about]) => [key, checkKey(user, { key, ...about, config, hashType })]));
  },
});

function removeFrom(user: string, { key, config, hashType }: Pick<KeyRequest, "key" | "config" | "hashType">): string {
  if (keysOfUser(user, config, hashType)?.has(key) !== true) return "Key not present";
  const path = keysPath(user, config);
  writeUsers(path, removeKey(readText(path), key), userOf(user));
  return "Key removed";
}

export const rm_auth_key: ModuleFunction<JobContext> = fn({
  doc: describe("Remove an authorized key, and say whether it was there.", "ssh.rm_auth_key <user> <key>"),
  permissions: "all",
  params: { user: str(), key: str(), config: str(CONFIG), ...HASH },
  run: ({ user, key, config, fingerprint_hash_type: hashType }) => removeFrom(user, { key, config, hashType }),
});

export const rm_auth_key_from_file: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Remove the authorized keys that a file, of this host or at a URL, has.",
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
  const found = findUser(user);
  if (found === undefined) return "fail";
  if (fingerprints(request.hashType)(request.key) === undefined) return "Invalid public key";
  const status = checkKey(user, request);
  if (status === "exists") return "no change";
  const path = keysPath(user, request.config);
  const line = formatKey(request.key, { ...request, enc });
  if (status === "update") {
    writeUsers(path, replaceKey(readText(path), request.key, line), found);
    return "replace";
  }
  if (path.startsWith(found.home) && !isDirectory(found.home)) return "fail";
  makeUsersDirectory(dirName(path), found);
  const old = isFile(path) ? readText(path) : "";
  writeUsers(path, `${old}${old === "" || old.endsWith("\n") ? "" : "\n"}${line}`, found);
  return "new";
}

export const set_auth_key: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Add a key to a user's authorized keys, or change its line. Returns new, replace, `no change`, invalid or fail.",
    "ssh.set_auth_key <user> '<key>' enc='dsa'",
  ),
  permissions: "all",
  params: {
    user: str(),
    key: str(),
    enc: str("ssh-rsa"),
    comment: str(""),
    options: any(null),
    config: str(CONFIG),
    cache_keys: any(null),
    ...HASH,
  },
  run: ({ user, key, enc, comment, options, config, fingerprint_hash_type: hashType }) =>
    setKey(user, { key, enc, comment, options: optionsOf(options), config, hashType }),
});

export const set_auth_key_from_file: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Add the keys of a file, of this host or at a URL, to a user's authorized keys.",
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

/** A failure as the functions for known hosts return it. */
function failure(error: string): Map<Value, Value> {
  return map({ status: "error", error });
}

/** The file of known hosts, a user's or the host's; a failure if nothing tells where it is. */
function knownHostsPath(config: string | null, user: string | null): string | Map<Value, Value> {
  const path = config || (user ? ".ssh/known_hosts" : "/etc/ssh/ssh_known_hosts");
  if (path.startsWith("/")) return path;
  if (!user) return failure("Cannot determine absolute path to file.");
  const found = findUser(user);
  return found === undefined ? failure(`User ${user} does not exist`) : joinPath(found.home, path);
}

function hostPort(hostname: string, port: Value): string {
  return !truthy(port) || text(port) === String(DEFAULT_PORT) ? hostname : `[${hostname}]:${text(port)}`;
}

const KNOWN = { config: str(null), port: any(null), ...HASH };

interface KnownRequest {
  readonly path: string;
  readonly hostname: string;
  readonly port: Value;
  readonly hashType: string | null;
}

async function storedHosts(
  { path, hostname, port, hashType }: KnownRequest,
  context: JobContext,
): Promise<KnownHost[]> {
  const words = ["ssh-keygen", "-F", hostPort(hostname, port), "-f", path];
  const { stdout } = await runTool(context, words, { ignoreRetcode: true, joined: true });
  return parseKnownHosts(stdout, fingerprints(hashType));
}

function hostMaps(hosts: readonly Partial<KnownHost>[]): Value {
  return hosts.length === 0 ? null : hosts.map((host) => map({ ...host }));
}

export const get_known_host_entries: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the known keys of a host; None if there are none.",
    "ssh.get_known_host_entries <user> <hostname>",
  ),
  permissions: "all",
  params: { user: any(), hostname: str(), ...KNOWN },
  run: async ({ user, hostname, config, port, fingerprint_hash_type: hashType }, context) => {
    const path = knownHostsPath(config, truthy(user) ? text(user) : null);
    if (typeof path !== "string") return path;
    return hostMaps(await storedHosts({ path, hostname, port, hashType }, context));
  },
});

interface ScanRequest {
  readonly enc: string | null;
  readonly port: Value;
  readonly hash: boolean;
  readonly timeout: Value;
  readonly hashType: string | null;
}

/** Times that a host that says nothing is asked. */
const ATTEMPTS = 5;

async function scanHost(hostname: string, request: ScanRequest, context: JobContext): Promise<KnownHost[]> {
  const words = [
    "ssh-keyscan",
    ...truthy(request.port) ? ["-p", text(request.port)] : [],
    ...request.enc ? ["-t", request.enc] : [],
    ...request.hash ? ["-H"] : [],
    "-T",
    text(request.timeout),
    // ssh-keyscan has options that read files.
    checkedWord(hostname, "host name"),
  ];
  for (let attempt = 0; attempt < ATTEMPTS; attempt++) {
    const { stdout } = await runTool(context, words, { joined: true });
    if (stdout !== "") return parseKnownHosts(stdout, fingerprints(request.hashType));
  }
  return [];
}

export const recv_known_host_entries: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Ask a host for its keys with `ssh-keyscan`; None if it gives none.",
    "ssh.recv_known_host_entries <hostname> enc=<enc> port=<port>",
  ),
  permissions: "all",
  params: { hostname: str(), enc: str(null), port: any(null), hash_known_hosts: bool(true), timeout: any(5), ...HASH },
  run: async ({ hostname, enc, port, hash_known_hosts: hash, timeout, fingerprint_hash_type: hashType }, context) =>
    hostMaps(await scanHost(hostname, { enc, port, hash, timeout, hashType }, context)),
});

export const check_known_host: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return whether a host's key would be added, updated, or exists.",
    "ssh.check_known_host <user> <hostname> key='AAAA...FAaQ=='",
  ),
  permissions: "all",
  params: { user: str(null), hostname: str(null), key: str(null), fingerprint: str(null), ...KNOWN },
  run: async ({ user, hostname, key, fingerprint, config, port, fingerprint_hash_type: hashType }, context) => {
    if (!hostname) return failure("hostname argument required");
    const path = knownHostsPath(config, user);
    if (typeof path !== "string") return path;
    const known = await storedHosts({ path, hostname, port, hashType }, context);
    if (known.length === 0) return "add";
    if (key) return known.some((host) => host.key === key) ? "exists" : "update";
    if (fingerprint) return known.some((host) => host.fingerprint === fingerprint) ? "exists" : "update";
    return "exists";
  },
});

/** Runs `ssh-keygen` on a user's file, which stays the user's. */
async function rewriteKnown(
  path: string,
  words: readonly string[],
  { user, context }: { user: string | null; context: JobContext },
) {
  const owner = user ? userOf(user) : undefined;
  refuseLinks(path, owner);
  const { mode } = Deno.statSync(path);
  const { stdout } = await runTool(context, ["ssh-keygen", ...words, "-f", path], { joined: true });
  Deno.chmodSync(path, (mode ?? 0o600) & 0o7777);
  if (Deno.uid() === 0 && owner !== undefined) Deno.chownSync(path, owner.uid, owner.gid);
  return stdout;
}

export const rm_known_host: ModuleFunction<JobContext> = fn({
  doc: describe("Remove all keys of a host from the known ones.", "ssh.rm_known_host <user> <hostname>"),
  permissions: "all",
  params: { user: str(null), hostname: str(null), config: str(null), port: any(null) },
  run: async ({ user, hostname, config, port }, context) => {
    if (!hostname) return failure("hostname argument required");
    const path = knownHostsPath(config, user);
    if (typeof path !== "string") return path;
    if (!isFile(path)) return failure(`Known hosts file ${path} does not exist`);
    const comment = await rewriteKnown(path, ["-R", hostPort(hostname, port)], { user, context });
    return map({ status: "removed", comment });
  },
});

export const hash_known_hosts: ModuleFunction<JobContext> = fn({
  doc: describe("Replace the names of known hosts by digests.", "ssh.hash_known_hosts"),
  permissions: "all",
  params: { user: str(null), config: str(null) },
  run: async ({ user, config }, context) => {
    const path = knownHostsPath(config, user);
    if (typeof path !== "string") return path;
    if (!isFile(path)) return failure(`Known hosts file ${path} does not exist`);
    return map({ status: "updated", comment: await rewriteKnown(path, ["-H"], { user, context }) });
  },
});

export const set_known_host: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Add a host's key to the known ones: the given one, or what the host itself says, which `fingerprint` verifies.",
    "ssh.set_known_host <user> fingerprint='xx:xx:..:xx' enc='ssh-rsa' config='.ssh/known_hosts'",
  ),
  permissions: "all",
  params: {
    user: str(null),
    hostname: str(null),
    fingerprint: str(null),
    key: str(null),
    port: any(null),
    enc: str(null),
    config: str(null),
    hash_known_hosts: bool(true),
    timeout: any(5),
    ...HASH,
  },
  run: async (given, context) => {
    const { user, hostname, fingerprint, key, port, enc, hash_known_hosts: hash, fingerprint_hash_type: hashType } =
      given;
    if (!hostname) return failure("hostname argument required");
    if (port !== null && text(port) !== String(DEFAULT_PORT) && hash) {
      return failure("argument port can not be used in conjunction with argument hash_known_hosts");
    }
    const path = knownHostsPath(given.config, user);
    if (typeof path !== "string") return path;
    const stored = await storedHosts({ path, hostname, port, hashType }, context);
    const storedKeys = stored.filter((host) => enc === null || host.enc === enc).map((host) => host.key);
    const outdated = stored.length === 0 ||
      (!!fingerprint && !stored.some((host) => host.fingerprint === fingerprint)) ||
      (!!key && !storedKeys.includes(key));
    const unsure = !outdated && key === null && fingerprint === null;
    if (!outdated && !unsure) return map({ status: "exists", keys: storedKeys });
    let fresh: Partial<KnownHost>[] = [{ hostname, enc: enc ?? "None", key: key ?? "" }];
    if (!key) {
      const scanned = await scanHost(hostname, { enc, port, hash, timeout: given.timeout, hashType }, context);
      if (scanned.length === 0) return failure("Unable to receive remote host keys");
      if (fingerprint && !scanned.some((host) => host.fingerprint === fingerprint)) {
        return failure("Remote host public keys found but none of their fingerprints match the one you have provided");
      }
      const same = new Set(scanned.map((host) => host.key));
      if (unsure && same.size === new Set(storedKeys).size && storedKeys.every((each) => same.has(each))) {
        return map({ status: "exists", keys: storedKeys });
      }
      fresh = scanned;
    }
    await addKnown(path, { ...given, fresh, hostname }, context);
    const shown = fresh.map((host) => isBare(String(host.hostname), { hash, port }) ? host : { ...host, port });
    return map({ status: "updated", old: hostMaps(stored), new: hostMaps(shown) });
  },
});

/** Whether a host's name stands in its line without the port. */
function isBare(name: string, { hash, port }: { readonly hash: boolean; readonly port: Value }): boolean {
  return hash || !truthy(port) || text(port) === String(DEFAULT_PORT) || name.includes(":");
}

async function addKnown(
  path: string,
  { user, hostname, key, port, enc, hash_known_hosts: hash, fresh }: {
    readonly user: string | null;
    readonly hostname: string;
    readonly key: string | null;
    readonly port: Value;
    readonly enc: string | null;
    readonly hash_known_hosts: boolean;
    readonly fresh: readonly Partial<KnownHost>[];
  },
  context: JobContext,
): Promise<void> {
  const owner = user ? userOf(user) : undefined;
  let lines: string[] = [];
  if (isFile(path)) {
    const words = ["ssh-keygen", "-F", hostPort(hostname, port), "-f", path];
    const { stdout } = await runTool(context, words, { ignoreRetcode: true, joined: true });
    const gone = new Set(foundLines(stdout, enc));
    lines = (readText(path).match(/[^\n]*\n|[^\n]+$/g) ?? []).filter((_line, i) => !gone.has(i + 1));
  }
  for (const host of fresh) {
    const name = String(host.hostname);
    lines.push(`${isBare(name, { hash, port }) ? name : `[${name}]:${text(port)}`} ${host.enc} ${host.key}\n`);
  }
  makeUsersDirectory(dirName(path), owner);
  writeUsers(path, lines.join(""), owner);
  if (key && hash) await rewriteKnown(path, ["-H"], { user, context });
}

export const host_keys: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the host's own keys, without the private ones with private=False.",
    "ssh.host_keys",
    "ssh.host_keys keydir=/etc/ssh private=False",
  ),
  permissions: "all",
  params: { keydir: str(null), private: bool(true), certs: bool(true) },
  run: ({ keydir, private: withPrivate, certs }) => {
    const directory = keydir || "/etc/ssh";
    const keys = new Map<Value, Value>();
    for (const { name } of Deno.readDirSync(directory)) {
      const found = /^ssh_host_(.+)_key((-cert)?\.pub)?/.exec(name);
      if (found === null) continue;
      const [, type, pub = "", cert] = found;
      if ((pub === "" && !withPrivate) || (cert !== undefined && !certs)) continue;
      const path = joinPath(directory, name);
      keys.set(type + pub, isFile(path) ? readText(path).trim() : "");
    }
    return keys;
  },
});

const USER_KEYS = ["id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"];

export const user_keys: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the keys of users, by user and file. `pubfile` and `prvfile` name other files, False leaves that kind out.",
    "ssh.user_keys user=user1",
    "ssh.user_keys user=user1 pubfile=/home/user1/.ssh/id_rsa.pub prvfile=False",
  ),
  permissions: "all",
  params: { user: any(null), pubfile: any(null), prvfile: any(null) },
  run: ({ user, pubfile, prvfile }) => {
    const names = !truthy(user) ? hostUsers() : Array.isArray(user) ? user.map(text) : [text(user)];
    const choose = (given: Value, usual: readonly string[]) =>
      truthy(given) ? [text(given)] : given === false ? [] : usual;
    const files = [...choose(pubfile, USER_KEYS.map((name) => `${name}.pub`)), ...choose(prvfile, USER_KEYS)];
    return new Map(names.flatMap((name): [Value, Value][] => {
      const home = findUser(name)?.home;
      if (home === undefined) return [];
      const keys = new Map(files.flatMap((file): [Value, Value][] => {
        const path = file.startsWith("/") ? file : `${home}/.ssh/${file}`;
        return isFile(path) ? [[file.startsWith("/") ? baseName(file) : file, readText(path).trim()]] : [];
      }));
      return keys.size === 0 ? [] : [[name, keys]];
    }));
  },
});

export const key_is_encrypted: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return whether a private key has a pass phrase, by what its file says.",
    "ssh.key_is_encrypted /root/id_rsa",
  ),
  permissions: "all",
  params: { key: str() },
  run: ({ key }) => {
    if (!isFile(key)) throw new CommandError(`${key} does not exist`);
    const data = readText(key);
    if (!/BEGIN (?:\w+\s)*PRIVATE KEY/.test(data)) throw new CommandError(`${key} is not a private key`);
    return data.includes("ENCRYPTED");
  },
});
