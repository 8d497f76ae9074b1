/**
 * Where the sockets of an event bus are: files of a service's `sock_dir`.
 * @module
 */

import { hashHex } from "../crypto/hash.ts";
import type { HashType } from "../crypto/hash_types.ts";

/** The two ends of a bus, as paths of ipc sockets. */
export interface BusPaths {
  /** Where subscribers connect. */
  readonly pub: string;
  /** Where events are pushed. */
  readonly pull: string;
}

/** How long a connection to a bus on this host may take before nobody is there, in milliseconds. */
export const CONNECT_MS = 5_000;

/** The bus of the master whose `sock_dir` is given. */
export function masterBus(sockDir: string): BusPaths {
  return { pub: `${sockDir}/master_event_pub.ipc`, pull: `${sockDir}/master_event_pull.ipc` };
}

/** The options of a minion that say where its bus is. */
export interface MinionBusOpts {
  /** Directory of the sockets. */
  readonly sock_dir: string;
  /** The minion's id: ten hex digits of its digest are in the names. */
  readonly id: string;
  /** The digest. */
  readonly hash_type: HashType;
}

/** The bus of the minion that has these options. */
export function minionBus({ sock_dir, id, hash_type }: MinionBusOpts): BusPaths {
  const bus = `${sock_dir}/minion_event_${hashHex(id, hash_type).slice(0, 10)}`;
  return { pub: `${bus}_pub.ipc`, pull: `${bus}_pull.ipc` };
}

/** Removes a file beside the bus's sockets, or a socket's own, if it is there. */
export function removeSocketFile(path: string): void {
  try {
    Deno.removeSync(path);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  }
}
