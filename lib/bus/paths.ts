/**
 * The sockets of an event bus: files in a service's `sock_dir`.
 * @module
 */

import { hashHex } from "#lib/crypto/hash.ts";
import type { HashType } from "#lib/crypto/hash_types.ts";

/** The two sockets of a bus (ipc paths). */
export interface BusPaths {
  /** Subscribers connect here. */
  readonly pub: string;
  /** Senders push events here. */
  readonly pull: string;
}

/** Maximum time to connect to a bus on this host, in milliseconds. */
export const CONNECT_MS = 5_000;

/** The bus of the master with this `sock_dir`. Salt's names are those of {@linkcode pythonBus}. */
export function masterBus(sockDir: string): BusPaths {
  return { pub: `${sockDir}/event_bus_pub.ipc`, pull: `${sockDir}/event_bus_pull.ipc` };
}

/** Where a bus tells the readers of its log that there are new events. */
export function logSocket({ pub }: BusPaths): string {
  return pub.replace(/_pub\.ipc$/, "_log.ipc");
}

/** The master's bus as Python programs look for it. */
export function pythonBus(sockDir: string): BusPaths {
  return { pub: `${sockDir}/master_event_pub.ipc`, pull: `${sockDir}/master_event_pull.ipc` };
}

/** The minion options that determine its bus. */
export interface MinionBusOpts {
  /** Directory of the sockets. */
  readonly sock_dir: string;
  /** Ten hex digits of the id's digest are part of the names. */
  readonly id: string;
  /** The algorithm of that digest. */
  readonly hash_type: HashType;
}

/** The bus of the minion with these options. Salt's names are those of {@linkcode pythonMinionBus}. */
export function minionBus(opts: MinionBusOpts): BusPaths {
  return minionPaths("minion_bus", opts);
}

/** The same bus as Python programs look for it. */
export function pythonMinionBus(opts: MinionBusOpts): BusPaths {
  return minionPaths("minion_event", opts);
}

function minionPaths(name: string, { sock_dir, id, hash_type }: MinionBusOpts): BusPaths {
  const bus = `${sock_dir}/${name}_${hashHex(id, hash_type).slice(0, 10)}`;
  return { pub: `${bus}_pub.ipc`, pull: `${bus}_pull.ipc` };
}

/** The sockets that subscribers of the minions with this `sock_dir` connect to, sorted; none if it cannot be read. */
export function minionBusIn(sockDir: string): string[] {
  try {
    return [...Deno.readDirSync(sockDir)].map(({ name }) => name)
      .filter((name) => /^minion_bus_[0-9a-f]{10}_pub\.ipc$/.test(name)).sort().map((name) => `${sockDir}/${name}`);
  } catch (error) {
    if (error instanceof Deno.errors.NotFound || error instanceof Deno.errors.NotADirectory) return [];
    throw error;
  }
}

/** Removes a socket file, or another file of its directory, if it exists. */
export function removeSocketFile(path: string): void {
  try {
    Deno.removeSync(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}
