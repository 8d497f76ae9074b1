/**
 * The records of a master's journal: maps with a `kind`.
 * @module
 */

import type { DeadlineFields } from "#lib/os/moment.ts";
import type { Packable } from "#lib/values/msgpack.ts";
import type { Value } from "#lib/values/value.ts";

/** The fields of each kind. */
export interface MasterRecords {
  /** A job, as it was published. */
  load: { readonly jid: string; readonly load: ReadonlyMap<Value, Packable> };
  /** The minions that a job is for. */
  minions: { readonly jid: string; readonly minions: string[] };
  /** A `no_log` job, and the key that its returns are sealed for. */
  hidden: { readonly jid: string; readonly reader: string };
  /** A return: `jid`, `id`, `return`, … */
  return: { readonly load: ReadonlyMap<Value, Packable> };
  /** A job that may be delivered until `until`, in milliseconds since the epoch; sealed. */
  undelivered: { readonly jid: string; readonly sealed: Uint8Array } & DeadlineFields;
}

/** A record of the master's journal: what is stored, by the kind of the store. */
export function masterRecord<K extends keyof MasterRecords>(kind: K, fields: MasterRecords[K]): Map<Value, Packable> {
  return new Map<Value, Packable>([["kind", kind], ...Object.entries<Packable>({ ...fields })]);
}
