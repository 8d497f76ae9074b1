/**
 * Returns of minions: verifies their signature, stores them in the job cache, and fires them on the bus. The caller has
 * authenticated the minion: `id` is the minion that signed in, and equals the load's own `id`.
 * Source: docs/protocol.md "Returns".
 * @module
 */

import { notDone } from "#lib/protocol/acknowledgement.ts";
import { truncateValue } from "#lib/text/truncate.ts";
import { SIGNING_ALGORITHMS } from "#lib/config/common_options.ts";
import { messageOf, StoreError } from "#lib/errors.ts";
import { jobReturn } from "#lib/protocol/tags.ts";
import { isJid, jidToStartTime, makeJid } from "#lib/protocol/jid.ts";
import { outcomeOfReturn } from "#lib/protocol/outcome.ts";
import { NOCACHE_JID } from "#lib/protocol/own_job.ts";
import { hideReturn } from "#lib/protocol/hidden_return.ts";
import { inSpan } from "./trace.ts";
import type { Needs } from "./services.ts";
import { encode } from "#lib/values/msgpack.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { returnText } from "./job_text.ts";
import { OVERSIZED } from "#lib/jobs/oversized_return.ts";
import { driftDirectory, driftOf, keepDrift } from "#lib/jobs/drift_log.ts";
import { failedStateEvents } from "./failed_states.ts";
import { asBytes } from "#lib/protocol/payload.ts";
import { PublicKey } from "#lib/crypto/rsa.ts";
import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";

/** What storing a return needs. */
export type ReturnNeeds = Needs<"auth" | "jobs" | "opts" | "log" | "warn" | "fire" | "trace" | "metrics">;

/**
 * `_return`: stores a return and fires its event.
 * @returns Salt's answer: `null`; `""` for one that exists already; `false` for one that was dropped.
 */
export async function storeReturn(sent: ValueMap, id: string, services: ReturnNeeds): Promise<Value> {
  const { jobs: { store, fired, durable }, opts, log, fire, warn } = services;
  if (!acceptsSignature(sent, id, services)) return false;
  let load = sent;
  const jid = () => str(load.get("jid") ?? null);
  const cached = opts.job_cache && opts.ext_job_cache === "";
  let reply: Value = null;
  /** Why the return could not be stored; then the minion must keep it. */
  let unkept: string | undefined;
  try {
    // A salt-call without its own job: the master makes one.
    if (cached && load.get("jid") === "req") load = await store.adopt(load);
    if (load.get("jid") === "req") load = new Map(load).set("jid", newJid(opts));
    if (jid() === NOCACHE_JID) {
      // A scheduled job with `return_job: nocache`.
      await fire(jobReturn(jid(), id), load);
      return null;
    }
    if (!isJid(jid())) {
      warn(`Minion ${id} returned for ${truncateValue(load.get("jid"))}, which is not a job id`);
      return null;
    }
    const reader = await store.noLog.reader(jid());
    if (reader !== undefined) load = await hideReturn(load, reader);
    const storing = () => inSpan(services.trace, "salt.store.return", () => store.saveReturn(load));
    const stored = cached ? await measured(services, storing) : "ignored";
    if (stored === "stored" && opts.job_cache_store_endtime) await noteEndTime(jid(), services);
    if (stored === "duplicate") {
      // Fired again, as in Salt: the first time, only storing may have succeeded. The event has the stored return.
      warn(`Minion ${id} returned twice for job ${jid()}; the first return stands`);
      load = new Map([...load, ...map({ ...await store.getReturn(jid(), id) })]);
      reply = "";
    }
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    if (load.get("jid") === "req") load = new Map(load).set("jid", newJid(opts));
    log.error(`The return of ${id} for job ${jid()} is not in the job cache: ${error.message}`);
    unkept = "The return is not in the job cache";
  }
  try {
    await measured(services, durable);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    log.error(`The return of ${id} for job ${jid()} would be lost by a power failure: ${error.message}`);
    unkept ??= "The return is not on the disk";
  }
  if (unkept !== undefined) {
    // It is published now, once, for waiting clients, and stored when the minion sends it again.
    reply = notDone(unkept);
    if (!fired.addNew(jid(), id)) return reply;
  }
  countReturn(load, services);
  warnOfSize(load, id, services);
  noteDrift(load, id, services);
  log.info(() => `${id} returned ${truncateValue(load.get("fun"))} (jid ${jid()}): ${returnText(load)}`);
  await fire(jobReturn(jid(), id), load);
  for (const { tag, data } of failedStateEvents(load, { jid: jid(), id })) await fire(tag, data);
  return reply;
}

/** Does a part of the storing, and notes how long it took. */
async function measured<T>({ metrics }: Needs<"metrics">, work: () => Promise<T>): Promise<T> {
  return metrics === undefined ? await work() : await metrics.timed("salt.store.commit", work);
}

function countReturn(load: ValueMap, { metrics }: Needs<"metrics">): void {
  if (metrics === undefined) return;
  // The first is the name of Salt 3008.
  metrics.count("salt.jobs.completed", {
    fun: str(load.get("fun") ?? ""),
    success: String(load.get("success") !== false),
  });
  metrics.count("salt.returns", { outcome: outcomeOfReturn({ retcode: load.get("retcode") }) });
}

function newJid({ unique_jid }: MasterOpts): string {
  return makeJid(undefined, { unique: unique_jid });
}

/** `job_cache_store_endtime`: each return of a job stores its time, in Salt's format; the last one remains. */
async function noteEndTime(
  jid: string,
  { jobs, opts, log }: Needs<"jobs" | "opts" | "log">,
): Promise<void> {
  try {
    await jobs.store.saveEndTime(jid, jidToStartTime(newJid(opts)));
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    log.error(`The end time of job ${jid} is not in the job cache: ${error.message}`);
  }
}

/** A return of the scheduled job `drift` is kept for a month. One that cannot be kept is told; the job goes on. */
function noteDrift(load: ValueMap, id: string, { opts, log, warn }: Needs<"opts" | "log" | "warn">): void {
  const found = driftOf(load);
  if (found === undefined) return;
  try {
    const entry = { id, atMs: Date.now(), ...found };
    const isKept = keepDrift(driftDirectory(opts.cachedir), entry, log.warning);
    if (!isKept) warn(`The drift of ${id} is not kept: the file of this day is full`);
  } catch (error) {
    log.error(`The drift of ${id} is not kept: ${messageOf(error)}`);
  }
}

/** The minion has sent a failure instead of its return. */
function warnOfSize(load: ValueMap, id: string, { warn, opts }: Needs<"warn" | "opts">): void {
  const oversized = load.get(OVERSIZED);
  if (!isMap(oversized)) return;
  warn(
    `The return of ${id} for job ${
      truncateValue(load.get("jid"))
    } was too large to be sent, and a failure came in its place: ` +
      `${truncateValue(oversized.get("bytes"))} bytes, of at most ${opts.max_request_bytes} (max_request_bytes)`,
  );
}

/** Checks a return by `require_minion_sign_messages` and `drop_messages_signature_fail`. */
function acceptsSignature(load: ValueMap, id: string, { opts, auth, log }: Needs<"auth" | "opts" | "log">): boolean {
  const signature = asBytes(load.get("sig"));
  if (signature === undefined) {
    if (!opts.require_minion_sign_messages) return true;
    log.critical(`Dropped a return of ${id}: it is not signed, and require_minion_sign_messages is on`);
    return false;
  }
  const signed = new Map(load);
  signed.delete("sig");
  const bytes = encode(signed, "disk");
  const key = PublicKey.fromPem(auth.keys.get(id, "accepted") ?? "");
  if (SIGNING_ALGORITHMS.some((algorithm) => key.verify(algorithm, bytes, signature))) return true;
  const dropped = opts.drop_messages_signature_fail;
  log[dropped ? "critical" : "warning"](
    `The signature of a return of ${id} does not hold${
      dropped ? ": dropped" : "; drop_messages_signature_fail is off"
    }`,
  );
  return !dropped;
}
