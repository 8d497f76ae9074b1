/**
 * The jobs that the runner `jobs` shows: those of the master's own files, or those that a returner has stored
 * (`ext_job_cache`, `ext_source`, `master_job_cache`).
 * Source: Salt 3008.3 `salt/runners/jobs.py` _get_returner.
 * @module
 */

import type { RunnerContext } from "#lib/client/runner_context.ts";
import { CommandError, messageOf } from "#lib/errors.ts";
import type { JobEntry, JobQuery, JobReturn, JobStore } from "#lib/jobs/store.ts";
import { listed } from "#lib/jobs/job_query.ts";
import { invoke } from "#lib/plugins/call.ts";
import { ALIASES } from "#lib/plugins/aliases.ts";
import { type Functions, loadFamily } from "#lib/plugins/loader.ts";
import type { ReturnerContext } from "#lib/plugins/returner.ts";
import { isJid } from "#lib/protocol/jid.ts";
import { jobReader, LOCAL_CACHE } from "#lib/returners/master_returners.ts";
import { listOrEmpty } from "#lib/values/shape.ts";
import { compareStrings, isMap, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { RETURNERS } from "#modules/returners/_built_in.ts";

/** What the runner reads of jobs. */
export interface JobReader extends Pick<JobStore, "exists" | "getLoad" | "getReturns" | "getEndTime" | "list"> {
  readonly acks: Pick<JobStore["acks"], "all">;
}

/** The context of the runner, whose jobs may be a returner's. */
export interface JobsContext extends Omit<RunnerContext, "jobs"> {
  readonly jobs: JobReader;
  /** Where they are read: the name of a returner. */
  readonly reader: string;
}

/** Which jobs are read: the loads of all, or these with their loads and returns. */
export type WantedJobs = "all" | readonly string[];

/**
 * The context with the jobs of the cache that the options and `ext_source` name.
 * @throws {CommandError} If the returner is not there, or cannot read: its server may be away.
 */
export async function readingJobs(
  context: RunnerContext,
  source: string | null,
  wanted: WantedJobs,
): Promise<JobsContext> {
  const name = jobReader(context.opts, source);
  if (name === undefined) return { ...context, reader: LOCAL_CACHE };
  const returner = new StoredJobs(name, context);
  await (wanted === "all" ? returner.readAll() : returner.read(wanted));
  return { ...context, jobs: returner, reader: name };
}

/** Jobs that a returner has stored, as far as they were read. */
class StoredJobs implements JobReader {
  readonly #name: string;
  readonly #family: Functions<ReturnerContext>;
  readonly #context: ReturnerContext;
  readonly #loads = new Map<string, ValueMap>();
  readonly #returns = new Map<string, Map<string, JobReturn>>();
  /** The acknowledgements are the master's own. */
  readonly acks: Pick<JobStore["acks"], "all">;

  constructor(name: string, { opts, jobs, log }: RunnerContext) {
    this.#name = name;
    this.acks = jobs.acks;
    this.#family = loadFamily<ReturnerContext>(RETURNERS, {
      directories: [`${opts.extension_modules}/returners`],
      aliases: ALIASES.returners,
      warn: (text) => log("warning", text),
    });
    this.#context = { opts, grains: new Map(), pillar: new Map(), signal: new AbortController().signal, log };
  }

  async readAll(): Promise<void> {
    const jobs = await this.#call("get_jids", []);
    if (!isMap(jobs)) return;
    for (const [jid, job] of jobs) if (isJid(str(jid)) && isMap(job)) this.#loads.set(str(jid), loadOf(job));
  }

  async read(jids: readonly string[]): Promise<void> {
    for (const jid of jids) {
      if (!isJid(jid)) continue;
      const load = await this.#call("get_load", [jid]);
      if (isMap(load) && load.size > 0) this.#loads.set(jid, withMinions(load));
      const returns = await this.#call("get_jid", [jid]);
      this.#returns.set(
        jid,
        new Map(isMap(returns) ? [...returns].map(([id, stored]) => [str(id), returnOf(stored)]) : []),
      );
    }
  }

  async #call(fun: string, args: Value[]): Promise<Value> {
    const name = `${this.#name}.${fun}`, found = await this.#family.get(name);
    if (found === undefined) throw new CommandError(`'${name}' is not available: the jobs cannot be read from there`);
    try {
      return await invoke(found, { name, args, kwargs: new Map(), context: this.#context });
    } catch (error) {
      throw new CommandError(`Jobs cannot be read by the returner ${this.#name}: ${messageOf(error)}`, {
        cause: error,
      });
    }
  }

  exists(jid: string): Promise<boolean> {
    return Promise.resolve(this.#loads.has(jid) || (this.#returns.get(jid)?.size ?? 0) > 0);
  }

  getLoad(jid: string): Promise<ValueMap | undefined> {
    return Promise.resolve(this.#loads.get(jid));
  }

  getReturns(jid: string): Promise<Map<string, JobReturn>> {
    const returns = this.#returns.get(jid) ?? new Map<string, JobReturn>();
    return Promise.resolve(new Map([...returns].sort(([a], [b]) => compareStrings(a, b))));
  }

  getEndTime(): Promise<undefined> {
    return Promise.resolve(undefined);
  }

  list(query: JobQuery = {}): AsyncIterable<JobEntry> {
    return listed([...this.#loads].map(([jid, load]) => ({ jid, load })), query);
  }
}

/** The load of a job that is written under Salt's headings. */
function loadOf(job: ValueMap): ValueMap {
  const load: ValueMap = new Map();
  for (const [heading, field] of Object.entries(FIELDS)) {
    if (job.has(heading)) load.set(field, job.get(heading) ?? null);
  }
  return load;
}

const FIELDS: Readonly<Record<string, string>> = {
  Function: "fun",
  Arguments: "arg",
  Target: "tgt",
  "Target-type": "tgt_type",
  User: "user",
  Metadata: "metadata",
  Minions: "Minions",
};

/** A load with the minions of the publish under the heading that the master's own files give them. */
function withMinions(load: ValueMap): ValueMap {
  const minions = listOrEmpty(load.get("minions")).map(str);
  return load.has("Minions") || minions.length === 0
    ? load
    : new Map(load).set("Minions", minions.sort(compareStrings));
}

function returnOf(stored: Value): JobReturn {
  if (!isMap(stored) || !stored.has("return")) return { return: stored };
  const field = (key: "retcode" | "success" | "out") => stored.has(key) ? { [key]: stored.get(key) ?? null } : {};
  return { return: stored.get("return") ?? null, ...field("retcode"), ...field("success"), ...field("out") };
}
