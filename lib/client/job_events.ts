/**
 * What events of the master's bus tell about a job whose returns are collected: returns, acknowledgements, output,
 * states that are done, presence, and minions below syndics.
 * Source: docs/protocol.md "How a client waits".
 * @module
 */

import type { CollectOptions, PublishedJob, Returned, StateDone } from "./job.ts";
import type { BusEvent } from "#lib/bus/event.ts";
import { ERROR_DETAILS, readErrorDetails } from "#lib/protocol/error_details.ts";
import { batchFromMap } from "#lib/protocol/live_batch.ts";
import { REFUSED_JOB } from "#lib/protocol/operator_field.ts";
import { CANCELLED_JOB, outcomeOfReturn } from "#lib/protocol/outcome.ts";
import { jobNew, jobSign, jobTurn, PRESENCE_CHANGE_EVENT, stateProgressSign } from "#lib/protocol/tags.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { onlyStrings } from "#lib/values/shape.ts";
import { isMap, toNumber, type Value, type ValueMap } from "#lib/values/value.ts";
import type { OutputFollower } from "./output_follower.ts";
import type { JobWatch } from "./watch.ts";

/** What begins the tags of events that syndics send from the masters below. */
export const SYNDIC_EVENTS = "syndic/";

/** Whether an event of a syndic names the minions of a job: `salt/job/<jid>/new`, of Salt 3006 and 3007 `<jid>`. */
function isNamedBelow(tag: string, jid: string): boolean {
  const [, , ...own] = tag.split("/");
  const below = own.join("/");
  return below === jid || below === jobNew(jid);
}

/** Whether an event may be about a job whose returns are collected. */
export function concernsJob(tag: string, { job, questionJid }: Collection): boolean {
  if (tag.startsWith(SYNDIC_EVENTS)) return isNamedBelow(tag, job.jid);
  if (tag === jobTurn(job.jid)) return true;
  const jid = (jobSign(tag) ?? stateProgressSign(tag))?.jid;
  return jid === job.jid || (jid !== undefined && jid === questionJid) || tag === PRESENCE_CHANGE_EVENT;
}

/**
 * Takes an event.
 * @returns A minion's return, if the event has it and it is the first one.
 */
export async function takeEvent(event: BusEvent, collection: Collection): Promise<Returned | undefined> {
  if (event.tag.startsWith(SYNDIC_EVENTS)) {
    collection.watch.add(onlyStrings(event.data.get("minions")), performance.now());
    return undefined;
  }
  const met = recognize(event, collection);
  return met && await EVENT_HANDLERS[met.kind](collection, met.id, event.data);
}

/** A job whose returns are collected. */
export interface Collection extends Pick<CollectOptions, "onAbsent" | "onState" | "onTurn"> {
  readonly job: PublishedJob;
  readonly watch: JobWatch;
  /** The id of the last question whether the job runs; empty before it. */
  questionJid: string;
  /** Whether the master has refused to ask. */
  refused: boolean;
  /** Time for an answer to that question, in milliseconds. */
  readonly gatherMs: number;
  readonly output?: OutputFollower;
  readonly log: Logger;
}

/**
 * Handles an event of a minion.
 * @returns The minion's return, if the event has it.
 */
type EventHandler = (
  collection: Collection,
  id: string,
  data: ValueMap,
) => undefined | Promise<Returned | undefined>;

/** What is done with an event, by its kind. */
const EVENT_HANDLERS = {
  /** Minions came or went; it is of no single minion. */
  presence({ watch }, _id, data) {
    for (const lost of onlyStrings(data.get("lost"))) watch.presence(lost, false, performance.now());
    for (const come of onlyStrings(data.get("new"))) watch.presence(come, true, performance.now());
    return undefined;
  },
  /** Minions wait for a place, or have one now. */
  turn({ watch, onTurn }, _id, data) {
    const waiting = onlyStrings(data.get("waiting"));
    watch.held(waiting);
    watch.released(onlyStrings(data.get("named")), performance.now());
    if (waiting.length > 0) onTurn?.(waiting, toNumber(data.get("rule")) ?? 0);
    return undefined;
  },
  /** A state of the job is done. */
  state({ watch, onState }, id, data) {
    watch.acknowledged(id, performance.now());
    const done = readStateDone(data.get("data"));
    if (done !== undefined) onState?.(id, done);
    return undefined;
  },
  /** The minion has taken the job. */
  ack({ watch }, id) {
    watch.acknowledged(id, performance.now());
    return undefined;
  },
  /** Output of the job's commands. */
  async out({ watch, output }, id, data) {
    watch.acknowledged(id, performance.now());
    const batch = batchFromMap(data.get("data"));
    if (batch !== undefined) await output?.receive(id, batch);
    return undefined;
  },
  async ret({ job, watch, output, log }, id, data) {
    if (!data.has("return") || !watch.returned(id)) return undefined;
    await output?.catchUp(id);
    log.debug(`jid ${job.jid} return from ${id}`);
    return toReturned(id, await shownReturn(data, job));
  },
  /** The answer to the question whether the job runs. */
  async answer({ job, watch }, id, data) {
    const answer = (await shownReturn(data, job)).get("return");
    watch.answered(id, isMap(answer) && answer.size > 0, performance.now());
    return undefined;
  },
} as const satisfies Readonly<Record<string, EventHandler>>;

/**
 * The kind of an event, and the minion that it is of; `undefined` if it does not concern the job, or the minion lies.
 */
function recognize(
  { tag, data }: BusEvent,
  { job, questionJid }: Collection,
): { readonly kind: keyof typeof EVENT_HANDLERS; readonly id: string } | undefined {
  if (tag === PRESENCE_CHANGE_EVENT) return { kind: "presence", id: "" };
  if (tag === jobTurn(job.jid)) return { kind: "turn", id: "" };
  const state = stateProgressSign(tag);
  if (state !== undefined) return data.get("id") === state.id ? { kind: "state", id: state.id } : undefined;
  const sign = jobSign(tag);
  if (sign === undefined || data.get("id") !== sign.id) return undefined;
  if (sign.jid === job.jid) return { kind: sign.kind, id: sign.id };
  return sign.jid === questionJid && sign.kind === "ret" ? { kind: "answer", id: sign.id } : undefined;
}

function readStateDone(data: Value | undefined): StateDone | undefined {
  if (!isMap(data)) return undefined;
  const ret = data.get("ret");
  const len = toNumber(data.get("len"));
  return isMap(ret) && len !== undefined ? { ret, len } : undefined;
}

/** The event of a return, decrypted for the client that published the job. */
async function shownReturn(data: ValueMap, { noLog }: PublishedJob): Promise<ValueMap> {
  if (noLog === undefined) return data;
  const { showReturn } = await import("#lib/protocol/hidden_return.ts");
  return await showReturn(data, noLog);
}

/** A minion's return, from the data of its event or as it is stored. */
export function toReturned(id: string, data: ValueMap): Returned {
  const out = data.get("out");
  const plain: Returned = {
    kind: "returned",
    id,
    return: data.get("return") ?? null,
    retcode: data.get("retcode") ?? 0,
    outcome: outcomeOfReturn({
      retcode: data.get("retcode"),
      interrupted: data.get("interrupted") === true,
      refused: data.get(REFUSED_JOB) === true,
      cancelled: data.get(CANCELLED_JOB) === true,
    }),
  };
  const errorDetails = readErrorDetails(data.get(ERROR_DETAILS), plain.return);
  return { ...plain, ...typeof out === "string" && { out }, ...errorDetails !== undefined && { errorDetails } };
}
