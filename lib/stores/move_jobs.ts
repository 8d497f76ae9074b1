/**
 * Moves jobs from one store to another: into a database, and back into files of Salt's layout.
 * @module
 */

import type { JobStore } from "#lib/jobs/store.ts";
import { jidMs } from "#lib/protocol/jid.ts";
import { onlyStrings } from "#lib/values/shape.ts";
import { map, type Value } from "#lib/values/value.ts";

/** What was moved; what the other store had already is not counted. */
export interface MovedJobs {
  readonly jobs: number;
  readonly returns: number;
}

/**
 * Copies the jobs of one store to another. It may be repeated: nothing is doubled, and nothing that is there is
 * overwritten.
 * @param sinceMs Older jobs are left out, in milliseconds since the epoch.
 * @throws {StoreError} If something cannot be read or stored.
 */
export async function copyJobs(from: JobStore, to: JobStore, sinceMs = 0): Promise<MovedJobs> {
  let jobs = 0, returns = 0;
  for await (const { jid } of from.list()) {
    if (jidMs(jid) < sinceMs) continue;
    const load = await from.getLoad(jid);
    if (load === undefined) continue;
    if (!await to.exists(jid)) jobs++;
    const minions = onlyStrings(load.get("Minions"));
    load.delete("Minions");
    const reader = await from.noLog.reader(jid);
    if (reader !== undefined) await to.restore(map({ kind: "hidden", jid, reader }));
    await to.restore(map({ kind: "load", jid, load }));
    if (minions.length > 0) await to.restore(map({ kind: "minions", jid, minions }));
    for (const [id, stored] of await from.getReturns(jid)) {
      const record = new Map<Value, Value>([...map({ jid, id }), ...map({ ...stored })]);
      if (await to.saveReturn(record) === "stored") returns++;
    }
    await copyRest(from, to, jid);
  }
  return { jobs, returns };
}

/** What belongs to a job besides its load and returns. */
async function copyRest(from: JobStore, to: JobStore, jid: string): Promise<void> {
  const acks = await from.acks.all(jid), there = await to.acks.all(jid);
  for (const [id, ack] of acks) if (!there.has(id)) await to.acks.save(jid, id, ack);
  const ended = await from.getEndTime(jid);
  if (ended !== undefined && await to.getEndTime(jid) === undefined) await to.saveEndTime(jid, ended);
  const batch = await from.batches.read(jid);
  if (batch !== undefined && await to.batches.read(jid) === undefined) await to.batches.save(batch);
  const ids = await from.outputs.ids(jid);
  if (ids.length > 0) await to.outputs.open(jid);
  for (const id of ids) {
    for (const one of await from.outputs.read(jid, id)) await to.outputs.append(jid, id, one);
  }
}
