/**
 * The functions of the module `ssh` for the keys of other hosts: `known_hosts`.
 * Source: the functions of Salt 3008.3 `salt/modules/ssh.py`.
 * @module
 */

import { holdTarget } from "#lib/os/held_path.ts";
import { fingerprints, HASH, makeUsersDirectory, refuseLinks, userOf, writeUsers } from "./files.ts";
import { runTool } from "#modules/execution/_file_host.ts";
import { checkedWord } from "#lib/programs/run_program.ts";
import { foundLines, type KnownHost, parseKnownHosts } from "#lib/host/etc_files/authorized_keys.ts";
import { copyKeeping, readUtf8File, replaceFile } from "#lib/host/filesystem/contents.ts";
import { dirName, joinPath } from "#lib/os/paths.ts";
import { isFile } from "#lib/os/file_kind.ts";
import { findUser } from "#lib/os/users.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { map, str, truthy, type Value } from "#lib/values/value.ts";

const DEFAULT_PORT = 22;

/** A failure as the functions for known hosts return it. */
function failure(error: string): Map<Value, Value> {
  return map({ status: "error", error });
}

/** The file of known hosts, a user's or the host's; a failure if nothing tells where it is. */
function knownHostsPath(config: string | null, user: string | null): string | Map<Value, Value> {
  const path = config || (user ? ".ssh/known_hosts" : "/etc/ssh/ssh_known_hosts");
  if (path.startsWith("/")) return path;
  if (!user) return failure("Cannot determine absolute path to file.");
  const account = findUser(user);
  return account === undefined ? failure(`User ${user} does not exist`) : joinPath(account.home, path);
}

function hostPort(hostname: string, port: Value): string {
  return !truthy(port) || str(port) === String(DEFAULT_PORT) ? hostname : `[${hostname}]:${str(port)}`;
}

const KNOWN = { config: p.str(null), port: p.any(null), ...HASH };

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
  params: { user: p.any(), hostname: p.str(), ...KNOWN },
  run: async ({ user, hostname, config, port, fingerprint_hash_type: hashType }, context) => {
    const path = knownHostsPath(config, truthy(user) ? str(user) : null);
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
    ...truthy(request.port) ? ["-p", str(request.port)] : [],
    ...request.enc ? ["-t", request.enc] : [],
    ...request.hash ? ["-H"] : [],
    "-T",
    str(request.timeout),
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
  params: {
    hostname: p.str(),
    enc: p.str(null),
    port: p.any(null),
    hash_known_hosts: p.bool(true),
    timeout: p.any(5),
    ...HASH,
  },
  run: async ({ hostname, enc, port, hash_known_hosts: hash, timeout, fingerprint_hash_type: hashType }, context) =>
    hostMaps(await scanHost(hostname, { enc, port, hash, timeout, hashType }, context)),
});

export const check_known_host: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return whether a host's key would be added, updated, or exists.",
    "ssh.check_known_host <user> <hostname> key='AAAA...FAaQ=='",
  ),
  permissions: "all",
  params: { user: p.str(null), hostname: p.str(null), key: p.str(null), fingerprint: p.str(null), ...KNOWN },
  run: async ({ user, hostname, key, fingerprint, config, port, fingerprint_hash_type: hashType }, context) => {
    if (!hostname) return failure("hostname argument required");
    const path = knownHostsPath(config, user);
    if (typeof path !== "string") return path;
    const hosts = await storedHosts({ path, hostname, port, hashType }, context);
    if (hosts.length === 0) return "add";
    if (key) return hosts.some((host) => host.key === key) ? "exists" : "update";
    if (fingerprint) return hosts.some((host) => host.fingerprint === fingerprint) ? "exists" : "update";
    return "exists";
  },
});

/**
 * Runs `ssh-keygen` on a copy of a user's file, and puts what it writes in the file's place, which stays the user's.
 * Run on the file itself by root, it would read what a link leads to that the user has put there meanwhile.
 */
async function rewriteKnown(
  path: string,
  words: readonly string[],
  { user, context }: { user: string | null; context: JobContext },
) {
  const owner = user ? userOf(user) : undefined;
  refuseLinks(path, owner);
  const directory = Deno.makeTempDirSync({ prefix: "known_hosts_" });
  try {
    const copy = directory + path;
    Deno.mkdirSync(dirName(copy), { recursive: true, mode: 0o700 });
    using held = holdTarget(path);
    Deno.writeFileSync(copy, Deno.readFileSync(held.path), { createNew: true, mode: 0o600 });
    const { stdout } = await runTool(context, ["ssh-keygen", ...words, "-f", copy], { joined: true });
    if (isFile(`${copy}.old`)) {
      copyKeeping(held.path, `${path}.old`, { owner: true });
      if (Deno.uid() === 0 && owner !== undefined) Deno.chownSync(held.path, owner.uid, owner.gid);
      const { uid, gid, mode } = held.status();
      const belongs = uid === null || gid === null || Deno.uid() !== 0 ? undefined : { uid, gid };
      replaceFile(path, Deno.readFileSync(copy), { owner: belongs, mode: (mode ?? 0o600) & 0o7777 });
    }
    return stdout.replaceAll(directory, "");
  } finally {
    Deno.removeSync(directory, { recursive: true });
  }
}

export const rm_known_host: ModuleFunction<JobContext> = fn({
  doc: describe("Remove all keys of a host from the known hosts.", "ssh.rm_known_host <user> <hostname>"),
  permissions: "all",
  params: { user: p.str(null), hostname: p.str(null), config: p.str(null), port: p.any(null) },
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
  params: { user: p.str(null), config: p.str(null) },
  run: async ({ user, config }, context) => {
    const path = knownHostsPath(config, user);
    if (typeof path !== "string") return path;
    if (!isFile(path)) return failure(`Known hosts file ${path} does not exist`);
    return map({ status: "updated", comment: await rewriteKnown(path, ["-H"], { user, context }) });
  },
});

export const set_known_host: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Add a host's key to the known hosts: the given key, or the host's answer, verified by `fingerprint`.",
    "ssh.set_known_host <user> fingerprint='xx:xx:..:xx' enc='ssh-rsa' config='.ssh/known_hosts'",
  ),
  permissions: "all",
  params: {
    user: p.str(null),
    hostname: p.str(null),
    fingerprint: p.str(null),
    key: p.str(null),
    port: p.any(null),
    enc: p.str(null),
    config: p.str(null),
    hash_known_hosts: p.bool(true),
    timeout: p.any(5),
    ...HASH,
  },
  run: async (given, context) => {
    const { user, hostname, fingerprint, key, port, enc, hash_known_hosts: hash, fingerprint_hash_type: hashType } =
      given;
    if (!hostname) return failure("hostname argument required");
    if (port !== null && str(port) !== String(DEFAULT_PORT) && hash) {
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
    const hosts = fresh.map((host) => isBare(String(host.hostname), { hash, port }) ? host : { ...host, port });
    return map({ status: "updated", old: hostMaps(stored), new: hostMaps(hosts) });
  },
});

/** Whether a host's name is in its line without the port. */
function isBare(name: string, { hash, port }: { readonly hash: boolean; readonly port: Value }): boolean {
  return hash || !truthy(port) || str(port) === String(DEFAULT_PORT) || name.includes(":");
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
    lines = (readUtf8File(path).match(/[^\n]*\n|[^\n]+$/g) ?? []).filter((_line, i) => !gone.has(i + 1));
  }
  for (const host of fresh) {
    const name = String(host.hostname);
    lines.push(`${isBare(name, { hash, port }) ? name : `[${name}]:${str(port)}`} ${host.enc} ${host.key}\n`);
  }
  makeUsersDirectory(dirName(path), owner);
  writeUsers(path, lines.join(""), owner);
  if (key && hash) await rewriteKnown(path, ["-H"], { user, context });
}
