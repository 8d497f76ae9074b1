/**
 * What returners on the master get of its events: with `event_return` the events themselves, with the others the jobs
 * and returns that some of them carry.
 * Source: Salt 3008.3 `EventReturn` of `salt/utils/event.py`, `salt/utils/job.py` store_job; `master_return` is not in
 * Salt.
 * @module
 */

import type { BusEvent } from "#lib/bus/event.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { UnavailableError } from "#lib/errors.ts";
import { invoke } from "#lib/plugins/call.ts";
import type { Functions } from "#lib/plugins/loader.ts";
import type { ReturnerContext } from "#lib/plugins/returner.ts";
import { jobSign } from "#lib/protocol/tags.ts";
import type { EventOption } from "#lib/returners/event_position.ts";
import { compileGlob } from "#lib/text/glob.ts";
import { map, type Value, type ValueMap } from "#lib/values/value.ts";

/** A returner, and what it is given. */
export interface EventSink {
  readonly option: EventOption;
  /** The returner. */
  readonly name: string;
  /** Whether it is given events of this tag. */
  wants(tag: string): boolean;
  /**
   * Stores events.
   * @param stored Called when some are stored, with their number.
   * @throws {UnavailableError} If there is no such returner.
   * @throws What the returner throws.
   */
  store(events: readonly BusEvent[], stored: (count: number) => void): Promise<void>;
}

/** The returners, and the context of their calls. */
export interface SinkParts {
  readonly opts: MasterOpts;
  readonly family: Functions<ReturnerContext>;
  readonly context: ReturnerContext;
}

/** What the returner `name` of an option gets. */
export function makeSink(option: EventOption, name: string, parts: SinkParts): EventSink {
  return option === "event_return" ? eventSink(name, parts) : jobSink(option, name, parts);
}

/**
 * Makes a returner remove old jobs, if it can.
 * @throws What the returner throws.
 */
export async function cleanJobs(name: string, parts: SinkParts): Promise<void> {
  if (await parts.family.get(`${name}.clean_old_jobs`) !== undefined) await call(`${name}.clean_old_jobs`, [], parts);
}

/** A returner of `event_return`: it gets the events that the white list names and the black list does not. */
function eventSink(name: string, parts: SinkParts): EventSink {
  const { opts } = parts;
  const white = opts.event_return_whitelist.map(compileGlob), black = opts.event_return_blacklist.map(compileGlob);
  return {
    option: "event_return",
    name,
    wants: (tag) =>
      (white.length === 0 || white.some((matches) => matches(tag))) && !black.some((matches) => matches(tag)),
    async store(events, stored) {
      await call(`${name}.event_return`, [events.map(({ tag, data }) => map({ tag, data }))], parts);
      stored(events.length);
    },
  };
}

/**
 * A returner that gets each job that the master publishes, and each return; of `ext_job_cache` the jobs alone, because
 * minions give it their returns; of `master_job_cache` also what the master's own functions return (`runner_returns`).
 */
function jobSink(option: Exclude<EventOption, "event_return">, name: string, parts: SinkParts): EventSink {
  const takesReturns = option !== "ext_job_cache";
  const takesRuns = option === "master_job_cache" && parts.opts.runner_returns;
  const saveLoad = async (jid: string, load: ValueMap, minions: Value) => {
    if (await parts.family.get(`${name}.save_load`) === undefined) return;
    await call(`${name}.save_load`, [jid, load, minions], parts);
  };
  return {
    option,
    name,
    wants: (tag) =>
      publishedJid(tag) !== undefined || (takesReturns && jobSign(tag)?.kind === "ret") ||
      (takesRuns && runJid(tag) !== undefined),
    async store(events, stored) {
      for (const { tag, data } of events) {
        const jid = publishedJid(tag), run = runJid(tag);
        if (jid !== undefined) {
          const load = new Map([...data].filter(([key]) => key !== "_stamp" && key !== "missing"));
          await saveLoad(jid, load, data.get("minions") ?? null);
        } else if (run !== undefined) {
          const { id } = parts.opts;
          const load = map({ id, tgt: id, jid: run, fun: data.get("fun") ?? null, user: data.get("user") ?? null });
          await saveLoad(run, load, null);
          await call(`${name}.returner`, [new Map(load).set("return", data)], parts);
        } else await call(`${name}.returner`, [withoutOptions(data)], parts);
        stored(1);
      }
    },
  };
}

/** Fields of a return that choose options of a returner. In one that a minion sends they are the minion's words. */
const OPTION_FIELDS: readonly Value[] = ["ret_config", "ret_kwargs"];

/** The return of a minion for a returner of the master, whose options are the master's alone. */
function withoutOptions(data: ValueMap): ValueMap {
  return new Map([...data].filter(([key]) => !OPTION_FIELDS.includes(key)));
}

/** The job whose publish an event of this tag tells; `undefined`: none. */
function publishedJid(tag: string): string | undefined {
  return /^salt\/job\/(\d+)\/new$/.exec(tag)?.[1];
}

/** The job of the master's own function that an event of this tag ends; `undefined`: none. */
function runJid(tag: string): string | undefined {
  return /^salt\/run\/(\d+)\/ret$/.exec(tag)?.[1];
}

async function call(fun: string, args: Value[], { family, context }: SinkParts): Promise<void> {
  const found = await family.get(fun);
  if (found === undefined) throw new UnavailableError(fun);
  await invoke(found, { name: fun, args, kwargs: new Map(), context });
}
