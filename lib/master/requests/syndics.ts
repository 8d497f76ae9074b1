/**
 * What syndics send to a higher master (`order_masters`): the returns and events of minions that only they know. A
 * syndic acts for minions below it, so it can forge what they say; it can never do so for an id that has a key here,
 * and only those that `syndics` names can do it at all, if the option is set. The caller has authenticated the syndic:
 * `id` is who signed in.
 * Source: docs/protocol.md "Returns through a syndic"; Salt 3007.15 `salt/master.py` _syndic_return,
 * `salt/daemons/masterapi.py` RemoteFuncs._minion_event.
 * @module
 */

import { StoreError } from "#lib/errors.ts";
import { minionMayFire } from "#lib/bus/minion_tags.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { statIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import { namesIn } from "#lib/os/directory_names.ts";
import { notDone } from "#lib/protocol/acknowledgement.ts";
import { isJid } from "#lib/protocol/jid.ts";
import { isValidId } from "#lib/protocol/minion_id.ts";
import { truncateValue } from "#lib/text/truncate.ts";
import { onlyStrings } from "#lib/values/shape.ts";
import { isMap, map, type Value, type ValueMap } from "#lib/values/value.ts";
import { storeReturn } from "./returns.ts";
import type { Needs } from "./services.ts";

/** What syndics' requests need. */
export type SyndicNeeds = Needs<"auth" | "jobs" | "opts" | "log" | "warn" | "fire">;

/** Fields that the returns of one job have in common. */
const COMMON = ["fun", "out", "master_id"];
/** Returns of one request at most. */
const MAX_RETURNS = 100_000;

/** Whether `id` may act for minions below it. */
export function maySpeakForOthers(id: string, { opts }: Needs<"opts">): boolean {
  return opts.order_masters && isValidId(id) && (opts.syndics === null || opts.syndics.includes(id));
}

/** The ids without those of syndics that have returned for others. The directory is read once for a whole publish. */
export async function withoutKnownSyndics(
  ids: readonly string[],
  { opts }: Needs<"opts">,
): Promise<readonly string[]> {
  if (!opts.order_masters) return ids;
  const known = new Set(await namesIn(syndicDirectory(opts)));
  return ids.filter((id) => !known.has(id));
}

/** It has a file named by each syndic that has returned for others. */
function syndicDirectory({ cachedir }: Pick<MasterOpts, "cachedir">): string {
  return `${cachedir}/syndics`;
}

/** Whether a syndic may say something for this id: no minion of this master's own. */
function isBelow(id: Value | undefined, { auth: { keys } }: Needs<"auth">): id is string {
  if (typeof id !== "string" || !isValidId(id)) return false;
  return keys.state(id) === undefined && keys.get(id, "denied") === undefined;
}

/**
 * `_syndic_return`: stores the returns of minions below, and fires their events.
 * @returns Salt's answer: `null`; or that not all of them are in the job cache, so that the syndic sends them again.
 */
export async function storeSyndicReturns(load: ValueMap, id: string, services: SyndicNeeds): Promise<Value> {
  if (!maySpeakForOthers(id, services)) {
    services.warn(`Minion ${id} sent returns of other minions, which it may not (order_masters, syndics)`);
    return null;
  }
  noteSyndic(id, services);
  const sent = load.get("load") ?? null;
  let left = MAX_RETURNS, areKept = true;
  for (const job of Array.isArray(sent) ? sent : [sent]) {
    const returns = isMap(job) ? job.get("return") : undefined;
    const jid = isMap(job) ? job.get("jid") : undefined;
    if (!isMap(job) || !isMap(returns) || typeof jid !== "string" || !isJid(jid)) {
      services.warn(`Syndic ${id} sent returns that cannot be read: ${truncateValue(job)}`);
      continue;
    }
    if (!await storeLoadFromBelow(jid, job.get("load"), services)) areKept = false;
    for (const [minion, returned] of returns) {
      if (left-- <= 0) {
        services.warn(`Syndic ${id} sent more than ${MAX_RETURNS} returns at once; the others are dropped`);
        return answer(areKept);
      }
      if (!await storeOne({ jid, minion, returned, job }, id, services)) areKept = false;
    }
  }
  return answer(areKept);
}

function answer(areKept: boolean): Value {
  return areKept ? null : notDone("Not all of the returns are in the job cache");
}

/** @returns Whether it must not be sent again. */
async function storeOne(
  { jid, minion, returned, job }: {
    readonly jid: string;
    readonly minion: Value;
    readonly returned: Value;
    readonly job: ValueMap;
  },
  syndic: string,
  services: SyndicNeeds,
): Promise<boolean> {
  if (!isBelow(minion, services)) {
    services.warn(
      `Syndic ${syndic} sent a return of ${truncateValue(minion)}, which has a key here or is no id: dropped`,
    );
    return true;
  }
  if (!isMap(returned) || !returned.has("return")) return true;
  const whole = map({ jid, id: minion });
  for (const [key, value] of returned) if (key !== "sig" && key !== "cmd") whole.set(key, value);
  for (const key of COMMON) if (job.has(key) && job.get(key) !== null) whole.set(key, job.get(key) ?? null);
  // Who it is of and for which job is decided above.
  // Otherwise it was stored, is there already, or is dropped.
  return !isMap(await storeReturn(whole.set("jid", jid).set("id", minion), minion, services));
}

/**
 * Stores the load of a job that was started below; one of this master's own stays as it is.
 * @returns Whether it must not be sent again.
 */
async function storeLoadFromBelow(
  jid: string,
  load: Value | undefined,
  { opts, jobs: { store }, log }: SyndicNeeds,
): Promise<boolean> {
  if (!isMap(load) || load.size === 0 || !opts.job_cache || opts.ext_job_cache !== "") return true;
  try {
    if (await store.getLoad(jid) !== undefined) return true;
    await store.prepare(jid);
    await store.saveLoad(jid, new Map(load).set("jid", jid), onlyStrings(load.get("Minions")));
    return true;
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    log.error(`Job ${jid}, which a syndic reports, is not in the job cache: ${error.message}`);
    return false;
  }
}

/** Remembers that `id` is a syndic, for commands that would wait for it. */
function noteSyndic(id: string, { opts, log }: Needs<"opts" | "log">): void {
  const path = `${syndicDirectory(opts)}/${id}`;
  try {
    if (statIfExists(path) !== undefined) return;
    writeFileAtomic(path, new Uint8Array(), { mode: 0o600, makeDirectory: true });
    if (opts.syndics === null) {
      log.warning(`${id} returns for minions below it. The option syndics can name who may do that`);
    }
  } catch (error) {
    if (!(error instanceof Error)) throw error;
    log.error(`The syndic ${id} is not remembered in ${path}: ${error.message}`);
  }
}

/**
 * The tags under which an event from a syndic is fired here: below `syndic/<id>` always, and under its own tag if the
 * minion that it is of could fire it.
 */
export function tagsFromBelow(tag: string, data: ValueMap, id: string, services: SyndicNeeds): string[] {
  const of = data.get("id");
  const isOwn = minionMayFire(tag, id) || (isBelow(of, services) && minionMayFire(tag, of));
  return [`syndic/${id}/${tag}`, ...isOwn ? [tag] : []];
}

/** The minions below a syndic that a job is for, as its events say. */
export async function noteMinionsBelow(
  data: ValueMap,
  id: string,
  { jobs: { store }, opts, log }: SyndicNeeds,
): Promise<void> {
  const jid = data.get("jid"), minions = data.get("minions");
  if (typeof jid !== "string" || !isJid(jid) || !Array.isArray(minions)) return;
  if (!opts.job_cache || opts.ext_job_cache !== "") return;
  try {
    await store.saveMinionsBelow(jid, onlyStrings(minions).filter(isValidId), id);
  } catch (error) {
    if (!(error instanceof StoreError)) throw error;
    log.error(`The minions of job ${jid} below ${id} are not in the job cache: ${error.message}`);
  }
}
