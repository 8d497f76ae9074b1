/**
 * The id of a node that has none in its configuration: the cached one, else one made from the host's names.
 *
 * No name server is asked: `/etc/hosts` usually has the full name, and a start must not wait for DNS. Source:
 * salt/config (get_id), salt/utils/network (generate_minion_id).
 * @module
 */

import { dirName } from "#lib/os/paths.ts";
import { ConfigError, messageOf } from "#lib/errors.ts";
import { readTextFileIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import type { Value } from "#lib/values/value.ts";

/** The names of the host; tests pass their own. */
export interface HostNames {
  /** The kernel's name of the host. */
  readonly hostname: string;
  /** Text of `/etc/hosts`. */
  readonly hosts: string;
  /** Text of `/etc/hostname`. */
  readonly hostnameFile: string;
  /** Addresses of the interfaces. */
  readonly addresses: readonly string[];
}

/**
 * The names of this host. Files that cannot be read name nothing.
 * @param etc The directory of `hosts` and `hostname`.
 */
export function readHostNames(etc = "/etc"): HostNames {
  return {
    hostname: Deno.hostname(),
    hosts: readOrEmpty(`${etc}/hosts`),
    hostnameFile: readOrEmpty(`${etc}/hostname`),
    addresses: Deno.networkInterfaces().map((one) => one.address).filter((address) =>
      !/^(127\.|::1|fe80:)/.test(address)
    ),
  };
}

function readOrEmpty(path: string): string {
  try {
    return readTextFileIfExists(path) ?? "";
  } catch {
    return "";
  }
}

/** Names that every host has, so that they cannot identify one. */
const NOBODY = /^(localhost|ip6-|127\.\d|0\.0\.0\.0|::1|ipv6-|fe00::|fe02::|1.0.0.*.ip6.arpa)/;

/** The full name of `hostname` by a hosts file: the first name with a dot on its line; else `hostname`. */
export function fullHostname(hostname: string, hosts: string): string {
  if (hostname.includes(".")) return hostname;
  for (const [, ...names] of hostsLines(hosts)) {
    if (names.includes(hostname)) return names.find((name) => name.includes(".") && !NOBODY.test(name)) ?? hostname;
  }
  return hostname;
}

/** The words of each line of a hosts file: an address, then names. */
function hostsLines(text: string): string[][] {
  return text.split("\n").map((line) => line.split("#")[0].trim()).filter((line) => line !== "")
    .map((line) => line.split(/\s+/));
}

/** A name for this host: its full name, another name of it, an address, or `localhost` if it has nothing else. */
export function generateMinionId(names: HostNames): string {
  const candidates = [fullHostname(names.hostname, names.hosts), names.hostname];
  for (const words of [...hostsLines(names.hostnameFile), ...hostsLines(names.hosts)]) {
    if (words.length === 1 || /^(127\.|::1)/.test(words[0])) candidates.push(...words);
  }
  candidates.push(...names.addresses);
  return candidates.find((name) => name !== "" && !NOBODY.test(name)) ?? "localhost";
}

/** The options that shape an id. */
export interface IdOptions {
  /** Whether the cached id is used and written. */
  readonly minion_id_caching: boolean;
  /** Whether a made id is in lower case. */
  readonly minion_id_lowercase: boolean;
  /** Whether a made id loses its domain; a string: that domain only. */
  readonly minion_id_remove_domain: Value;
}

/** An id and where it is from. */
export interface FoundId {
  readonly id: string;
  /** Whether it was read from the cache and not made just now. */
  readonly cached: boolean;
}

/**
 * The id that is cached in the file `cache`, else one made from `names`.
 * @throws {ConfigError} If the file cannot be read: a node that guessed another id would be another node to its master.
 */
export function findMinionId(options: IdOptions, from: { cache: string; names: HostNames }): FoundId {
  if (options.minion_id_caching) {
    const cached = readCachedId(from.cache).replace(/^\ufeff/, "").split("\n")[0].trim();
    if (cached !== "" && cached !== "localhost") return { id: cached, cached: true };
  }
  let id = generateMinionId(from.names);
  if (options.minion_id_lowercase) id = id.toLowerCase();
  return { id: removeDomain(id, options.minion_id_remove_domain), cached: false };
}

function readCachedId(path: string): string {
  try {
    return readTextFileIfExists(path) ?? "";
  } catch (error) {
    throw new ConfigError(`the id of this node cannot be read: ${messageOf(error)}`, { file: path });
  }
}

function removeDomain(id: string, domain: Value): string {
  if (isIpv4Address(id)) return id;
  if (domain === true) return id.split(".")[0];
  if (typeof domain !== "string" || domain === "") return id;
  return id.toLowerCase().endsWith(`.${domain.toLowerCase()}`) ? id.slice(0, -domain.length - 1) : id;
}

/** Whether `id` is an IPv4 address, to which no domain is added. */
export function isIpv4Address(id: string): boolean {
  return /^\d{1,3}(\.\d{1,3}){3}$/.test(id);
}

/**
 * Keeps `id` for the next start.
 * @throws What writing throws.
 */
export function cacheMinionId(id: string, cache: string): void {
  Deno.mkdirSync(dirName(cache), { recursive: true });
  writeFileAtomic(cache, id, { mode: 0o644, sync: true });
}
