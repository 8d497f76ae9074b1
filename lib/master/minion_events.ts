/**
 * The events of minions: what a minion may fire is told on the master's bus; acknowledgements and live output are kept
 * with their job.
 *
 * Whoever calls has been authenticated: `id` is the minion that signed in, and the load's own `id` is the same.
 * Source: salt-protocol.md section 6.
 * @module
 */

import { truncate } from "../text/truncate.ts";
import { StoreError } from "../errors.ts";
import { type JobSign, jobSign } from "../protocol/tags.ts";
import { batchFromMap } from "../protocol/live_batch.ts";
import type { Needs } from "./services.ts";
import { minionMayFire } from "../bus/minion_tags.ts";
import { isMap, map, type Value, type ValueMap } from "../values/value.ts";

/** What events need. */
export type EventNeeds = Needs<"jobs" | "minions" | "opts" | "log" | "complain" | "fire">;

/** `_minion_event`: fires one event, or a list of them, and keeps the grains that come along. @returns Salt's answer: `null`. */
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
  if (Array.isArray(events)) {
    for (const event of events) {
      const tag = isMap(event) ? event.get("tag") : undefined;
      if (!isMap(event) || typeof tag !== "string") continue;
      const data = event.get("data") ?? event;
      await fireFor(id, tag, isMap(data) ? data : map({ data }), services);
      if (typeof pretag === "string") {
        await fireFor(id, `${pretag}/${tag}`, isMap(data) ? data : map({ data }), services);
      }
    }
    return null;
  }
  const tag = load.get("tag");
  if (typeof tag === "string") await fireFor(id, tag, load, services);
  return null;
}

async function fireFor(id: string, tag: string, data: ValueMap, services: EventNeeds): Promise<void> {
  const { fire, complain } = services;
  // A newline could end the tag early, and make data of the minion's own out of the rest.
  if (!minionMayFire(tag, id) || /\p{Cc}/u.test(tag)) {
    complain(`Minion ${id} tried to fire the event ${truncate(tag)}, which is not its own`);
    return;
  }
  const sign = jobSign(tag);
  if (sign !== undefined && !keepSign(sign, id, data, services)) return;
  await fire(tag, data);
}

/** Keeps a sign that a minion gave of a job. @returns Whether others are to hear of it. */
function keepSign(sign: JobSign, id: string, data: ValueMap, services: EventNeeds): boolean {
  if (sign.id !== id) {
    services.complain(`Minion ${id} sent a sign of a job for ${truncate(sign.id)}`);
    return false;
  }
  return sign.kind === "out" ? keepOutput(sign, data, services) : keepAck(sign, data, services);
}

/** Keeps what a command wrote; what came before, or was not asked for, nobody hears of. */
function keepOutput({ jid, id }: JobSign, data: ValueMap, { jobs: { store }, log, complain }: EventNeeds): boolean {
  const batch = batchFromMap(data.get("data"));
  if (batch === undefined) {
    complain(`Minion ${id} sent output of job ${jid} that cannot be read`);
    return false;
  }
  try {
    if (!store.outputs.has(jid, id)) {
      const meant = store.getLoad(jid)?.get("Minions");
      if (!Array.isArray(meant) || !meant.includes(id)) return false;
    }
    const appended = store.outputs.append(jid, id, batch);
    if (appended === "refused") log.info(`Output of ${id} for job ${jid} is not kept: nobody asked, or it is too much`);
    return appended === "stored";
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    log.error(`Output of ${id} for job ${jid} is not in the job cache: ${error.message}`);
    return true; // whoever watches need not suffer
  }
}

/** Keeps an acknowledgement with its job. @returns Whether it is of a kind that there is. */
function keepAck({ jid, id }: JobSign, data: ValueMap, { jobs: { store }, log, complain }: EventNeeds): boolean {
  const about = data.get("data");
  const state = isMap(about) ? about.get("state") : undefined;
  if (state !== "received" && state !== "running") {
    complain(`Minion ${id} sent an acknowledgement of job ${jid} that says nothing`);
    return false;
  }
  try {
    store.acks.save(jid, id, { state, sinceMs: Date.now() });
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    log.error(`The acknowledgement of ${id} for job ${jid} is not in the job cache: ${error.message}`);
  }
  return true;
}
