/**
 * Events of minions: allowed events are fired on the master's bus; acknowledgements and live output are stored with
 * their job. The caller has authenticated the minion: `id` is the minion that signed in, and equals the load's own
 * `id`.
 * Source: docs/protocol.md "Commands of minions".
 * @module
 */

import { truncate } from "#lib/text/truncate.ts";
import { StoreError } from "#lib/errors.ts";
import { type JobSign, jobSign } from "#lib/protocol/tags.ts";
import { batchFromMap } from "#lib/protocol/live_batch.ts";
import type { Needs } from "./services.ts";
import { isForeignTag, minionMayFire } from "#lib/bus/minion_tags.ts";
import { maySpeakForOthers, noteMinionsBelow, tagsFromBelow } from "./syndics.ts";
import { isMap, map, type Value, type ValueMap } from "#lib/values/value.ts";

/** What events need. */
export type EventNeeds = Needs<"auth" | "jobs" | "minions" | "opts" | "log" | "warn" | "fire">;

/**
 * `_minion_event`: fires one event or a list of them, and stores grains that come with it.
 * @returns Salt's answer: `null`.
 */
export async function fireEvents(load: ValueMap, id: string, services: EventNeeds): Promise<Value> {
  const grains = load.get("grains");
  if (services.opts.minion_data_cache && isMap(grains) && grains.size > 0) {
    try {
      services.minions.data.setGrains(id, grains);
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      services.log.error(`The grains of ${id} are not in the data cache: ${error.message}`);
    }
  }
  const pretag = load.get("pretag");
  const events = load.get("events");
  if (Array.isArray(events) && pretag === `syndic/${id}` && maySpeakForOthers(id, services)) {
    for (const event of events) await fireFromBelow(event, id, services);
    return null;
  }
  if (Array.isArray(events)) {
    for (const event of events) {
      const tag = isMap(event) ? event.get("tag") : undefined;
      if (!isMap(event) || typeof tag !== "string") continue;
      const own = withError(event), data = isMap(own) ? own : map({ data: own });
      await fireFor(id, tag, data, services);
      if (typeof pretag === "string") await fireFor(id, `${pretag}/${tag}`, data, services);
    }
    return null;
  }
  const tag = load.get("tag");
  if (typeof tag === "string") await fireFor(id, tag, load, services);
  return null;
}

/** An event from the bus of a master below. */
async function fireFromBelow(event: Value, id: string, services: EventNeeds): Promise<void> {
  const tag = isMap(event) ? event.get("tag") : undefined;
  const data = isMap(event) ? event.get("data") ?? null : null;
  if (typeof tag !== "string" || !isMap(data) || !isForeignTag(tag)) return;
  await noteMinionsBelow(data, id, services);
  for (const fired of tagsFromBelow(tag, data, id, services)) {
    const sign = fired === tag ? jobSign(fired) : undefined;
    if (sign === undefined || await keepSign(sign, data, services)) await services.fire(fired, data);
  }
}

/** The data of an event of a list. That of a beacon that failed is empty in Salt; here it has the text. */
function withError(event: ValueMap): Value {
  const data = event.get("data") ?? event, error = event.get("error");
  return isMap(data) && data !== event && error !== undefined && !data.has("error")
    ? new Map(data).set("error", error)
    : data;
}

async function fireFor(id: string, tag: string, data: ValueMap, services: EventNeeds): Promise<void> {
  const { fire, warn } = services;
  if (!minionMayFire(tag, id)) {
    warn(`Minion ${id} tried to fire the event ${truncate(tag)}, which it may not fire`);
    return;
  }
  // The rules above let a minion sign for itself alone.
  const sign = jobSign(tag);
  if (sign !== undefined && !await keepSign(sign, data, services)) return;
  await fire(tag, data);
}

/**
 * Stores a minion's acknowledgement or output of a job.
 * @returns Whether it is fired on the bus too.
 */
async function keepSign(sign: JobSign, data: ValueMap, services: EventNeeds): Promise<boolean> {
  return await (sign.kind === "out" ? keepOutput(sign, data, services) : keepAck(sign, data, services));
}

/** Stores output of a command; repeated or unrequested output is dropped. */
async function keepOutput(
  { jid, id }: JobSign,
  data: ValueMap,
  { jobs: { store }, log, warn }: EventNeeds,
): Promise<boolean> {
  const batch = batchFromMap(data.get("data"));
  if (batch === undefined) {
    warn(`Minion ${id} sent output of job ${jid} that cannot be read`);
    return false;
  }
  try {
    if (!await store.outputs.has(jid, id)) {
      const targets = (await store.getLoad(jid))?.get("Minions");
      if (!Array.isArray(targets) || !targets.includes(id)) return false;
    }
    const appended = await store.outputs.append(jid, id, batch);
    if (appended === "refused") {
      log.info(`Output of ${id} for job ${jid} is dropped: the job is not a --live job, or the output is too large`);
    }
    return appended === "stored";
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    log.error(`Output of ${id} for job ${jid} is not in the job cache: ${error.message}`);
    return true; // it is fired anyway, for clients that watch the job
  }
}

/**
 * Stores an acknowledgement with its job.
 * @returns Whether it is valid.
 */
async function keepAck(
  { jid, id }: JobSign,
  data: ValueMap,
  { jobs: { store }, log, warn }: EventNeeds,
): Promise<boolean> {
  const about = data.get("data");
  const state = isMap(about) ? about.get("state") : undefined;
  if (state !== "received" && state !== "running") {
    warn(`Minion ${id} sent an invalid acknowledgement of job ${jid}`);
    return false;
  }
  try {
    await store.acks.save(jid, id, { state, sinceMs: Date.now() });
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    log.error(`The acknowledgement of ${id} for job ${jid} is not in the job cache: ${error.message}`);
  }
  return true;
}
