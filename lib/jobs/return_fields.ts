/**
 * The fields of a return that are stored with it.
 * @module
 */

import { CHAIN, REFUSED_JOB } from "#lib/protocol/operator_field.ts";
import { CANCELLED_JOB } from "#lib/protocol/outcome.ts";
import type { Packable } from "#lib/values/msgpack.ts";
import { isMap, map, type Value, type ValueMap } from "#lib/values/value.ts";
import type { JobReturn } from "./store.ts";

/**
 * Ids that no return is stored of: names of files in the same directory as the minions' directories. Every store leaves
 * them out, so that jobs can be moved from one to another.
 */
export const RESERVED_IDS: ReadonlySet<string> = new Set(["jid", "nocache", "endtime"]);

/** The fields of a minion's message that are stored in a database, in one map. */
export function returnFields(load: ReadonlyMap<Value, Packable>): Map<Value, Packable> {
  const fields = new Map<Value, Packable>();
  for (const key of ["return", "retcode", "success", "interrupted", REFUSED_JOB, CANCELLED_JOB, CHAIN, "out"]) {
    const item = load.get(key);
    if (item !== undefined) fields.set(key, item);
  }
  return fields;
}

/** A return of `salt-call`, as the load of its own job. */
export function adoptedLoad(load: ValueMap): ValueMap {
  const adopted = new Map(load);
  adopted.set("arg", load.get("arg") ?? load.get("fun_args") ?? []);
  adopted.set("tgt_type", "glob");
  adopted.set("tgt", load.get("id") ?? "");
  return adopted;
}

/**
 * A return as it was stored.
 * @param value Its fields; of an old cache the function's result alone.
 * @param out The outputter, where it is stored apart.
 */
export function returnOfFields(value: Value, out?: Value): JobReturn {
  const fields = isMap(value) && value.has("return") ? value : map({ return: value });
  const outputter = out ?? fields.get("out");
  return {
    return: fields.get("return") ?? null,
    ...(fields.has("retcode") && { retcode: fields.get("retcode") }),
    ...(fields.has("success") && { success: fields.get("success") }),
    ...(fields.get("interrupted") === true && { interrupted: true }),
    ...(fields.get(REFUSED_JOB) === true && { refused: true }),
    ...(fields.get(CANCELLED_JOB) === true && { cancelled: true }),
    ...(fields.has(CHAIN) && { chain: fields.get(CHAIN) }),
    ...(outputter !== undefined && { out: outputter }),
  };
}
