/**
 * Jobs on a fleet through the local client, for tests that check more than the output of `salt`.
 * @module
 */

import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { toWireArgs } from "#lib/yaml/arguments.ts";
import type { PublishedJob, Returned, Silent } from "#lib/client/job.ts";
import { LocalClient } from "#lib/client/local.ts";
import { map, type Value } from "#lib/values/value.ts";
import type { Fleet } from "./fleet.ts";

/** The options of a job. */
export interface JobOptions {
  /** Default: every minion. */
  readonly tgt?: Value;
  /** Default: `glob`. */
  readonly tgtType?: string;
  /** Positional arguments. */
  readonly arg?: readonly unknown[];
  readonly kwargs?: Readonly<Record<string, unknown>>;
  /** Default: the master makes one. */
  readonly jid?: string;
  /** Fields of the load for the master and the minions. */
  readonly fields?: Readonly<Record<string, unknown>>;
  /** Milliseconds until silent minions are asked whether they run the job, and the timeout of their answers. */
  readonly timeoutMs?: number;
  readonly gatherMs?: number;
  /** Ends the collection of returns. */
  readonly signal?: AbortSignal;
}

/** A published job and its returns. */
export interface StartedJob extends PublishedJob {
  /** All collected items, in order. */
  readonly done: Promise<(Returned | Silent)[]>;
}

/** Publishes a job; its returns are collected in the background. */
export async function startJob(fleet: Fleet, fun: Value, options: JobOptions = {}): Promise<StartedJob> {
  const { tgt = "*", tgtType = "glob", arg = [], kwargs = {}, fields = {}, jid } = options;
  const client = await LocalClient.connect(fleet.masterOpts, { user: "root", log: SILENT_LOGGER });
  try {
    const wire = toWireArgs([...arg] as Value[], map(kwargs));
    const job = await client.publish({ tgt, tgtType, fun, arg: wire, kwargs: map(fields), jid });
    return { ...job, done: collect(client, job, options) };
  } catch (error) {
    client.close();
    throw error;
  }
}

async function collect(client: LocalClient, job: PublishedJob, options: JobOptions): Promise<(Returned | Silent)[]> {
  const { timeoutMs = 15_000, gatherMs = 5_000, signal } = options;
  const collected: (Returned | Silent)[] = [];
  try {
    for await (const one of client.collect(job, { timeoutMs, gatherMs }, { signal })) collected.push(one);
  } finally {
    client.close();
  }
  return collected;
}

/**
 * Runs a job.
 * @returns The return of each minion.
 * @throws {Error} If a minion did not return.
 */
export async function runJob(fleet: Fleet, fun: Value, options: JobOptions = {}): Promise<Map<string, Value>> {
  const job = await startJob(fleet, fun, options);
  const returns = new Map<string, Value>();
  for (const one of await job.done) {
    if (one.kind === "silent") throw new Error(`${one.id} did not return for ${fun} (${job.jid})`);
    if (returns.has(one.id)) throw new Error(`${one.id} returned twice for ${fun} (${job.jid})`);
    returns.set(one.id, one.return);
  }
  return returns;
}

/**
 * Runs a job on one minion.
 * @returns Its return.
 */
export async function runOn(fleet: Fleet, id: string, fun: Value, ...arg: unknown[]): Promise<Value> {
  return (await runJob(fleet, fun, { tgt: id, arg })).get(id) ?? null;
}
