/**
 * The jobs of a minion: queues, acknowledges and runs each job (in the pool), and spools its return. Knows neither
 * sockets nor the master.
 * Source: docs/protocol.md "A job on a minion", docs/protocol.md "Returns".
 * @module
 */

import { describeError, messageOf } from "#lib/errors.ts";
import { cacheMinionJob } from "#lib/jobs/minion_jobs.ts";
import { stampNow } from "#lib/bus/event.ts";
import { jobAck, jobOutput, jobStart, SCHEDULE_RETURN } from "#lib/protocol/tags.ts";
import { interruptedRunLines, runsStates } from "#lib/states/control/interrupted_run.ts";
import { interruptedReturn } from "#lib/minion/worker/interrupted.ts";
import { type JobPool, LEFT_TO_NEXT_MINION } from "#lib/minion/worker/job_pool.ts";
import { removeDetached, takeOverDetached } from "#lib/programs/detached_commands.ts";
import { isAboutJobs } from "#lib/protocol/about_jobs.ts";
import { batchToMap, type LiveBatch } from "#lib/protocol/live_batch.ts";
import { ERROR_DETAILS } from "#lib/protocol/error_details.ts";
import { hideReturn } from "#lib/protocol/hidden_return.ts";
import { LiveOutput } from "#lib/minion/worker/live_output.ts";
import type { JobReturners } from "./job_returners.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { asNoted, NO_LOG, noLogReader } from "#lib/protocol/no_log.ts";
import type { MinionOpts } from "#lib/config/options.ts";
import type { AcknowledgedState } from "#lib/protocol/outcome.ts";
import type { ProcFiles, ProcState } from "#lib/minion/worker/proc_files.ts";
import type { Returns } from "#lib/minion/masters/unsent_returns.ts";
import { CHAIN, REFUSED_JOB } from "#lib/protocol/operator_field.ts";
import type { CheckedJob } from "#lib/operators/check_job.ts";
import type { JobChain } from "#lib/operators/job_chain.ts";
import { NO_JID, OWN_JOB, SCHEDULED } from "#lib/protocol/own_job.ts";
import { returnsToMaster, scheduledReturn } from "#lib/minion/schedule/scheduled_load.ts";
import { traceStates } from "#lib/tracing/state_spans.ts";
import { readTrace, type TraceContext, writeTrace } from "#lib/tracing/trace_context.ts";
import type { Tracer } from "#lib/tracing/tracer.ts";
import { map, str, type ValueMap } from "#lib/values/value.ts";
import { clearTimeout, setTimeout } from "#lib/os/timers.ts";

/** A job that runs longer is acknowledged separately, in milliseconds. */
const ACKNOWLEDGE_MS = 100;
/** How long a return waits for the job's pending output, in milliseconds. */
const OUTPUT_MS = 500;

/** The parts of the minion that its jobs use. */
export interface JobParts {
  readonly opts: MinionOpts;
  readonly log: Logger;
  /** Runs the jobs. */
  readonly pool: Pick<JobPool, "run" | "size">;
  /** Takes their returns. */
  readonly spool: Returns;
  /** Take the returns too. */
  readonly returners: Pick<JobReturners, "give">;
  /** Notes jobs on disk. */
  readonly proc: ProcFiles;
  /** Has a record of each job and return. Default: there is no chain. */
  readonly chain?: Pick<JobChain, "accepted" | "refused" | "returned">;
  /** With `durability: machine`: syncs the proc files, the spool and the chain. */
  readonly journal?: { commit(): Promise<void> };
  /**
   * Sends an event about a job to its master: `tag` and `data`. Resolves with whether the master accepted it; never
   * rejects.
   */
  fireMaster(event: ValueMap, load: ValueMap): Promise<boolean>;
  /** Fires an event on the minion's own bus. Resolves with whether the bus took it. */
  fireLocal(tag: string, data: ValueMap): Promise<boolean>;
  /** Bytes of the largest request that the master of a job accepts, if known. */
  maxRequestBytes(load: ValueMap): number | undefined;
  /** Makes spans of jobs. */
  readonly tracer?: Tracer;
  /** The first job that runs states has begun, or the last one has ended. */
  onStateRun(running: boolean): void;
}

/** The current jobs of a minion. */
export class MinionJobs {
  readonly #parts: JobParts;
  readonly #queue: ValueMap[] = [];
  /** Number of running jobs that run states. */
  #stateRuns = 0;
  /** By job id: called when a scheduled job has ended. */
  readonly #ended = new Map<string, () => void>();

  constructor(parts: JobParts) {
    this.#parts = parts;
  }

  /**
   * Runs a job now, or when fewer than `process_count_max` are running. First the job is recorded durably, so that it
   * is not run again after a power failure.
   */
  take(load: ValueMap): void {
    if (this.#parts.journal === undefined) return this.#take(load);
    void this.#durable(load).then(() => this.#take(load));
  }

  /** Runs a job that this minion gives to itself: like {@linkcode take}, with its note. */
  begin(load: ValueMap): void {
    this.note(str(load.get("jid") ?? ""), load, "running");
    this.take(load);
  }

  /**
   * Runs a scheduled job: like {@linkcode begin}.
   * @param isNoted Whether it has a proc file.
   * @param ended Called when it has ended, and its return is kept.
   */
  beginScheduled(load: ValueMap, isNoted: boolean, ended: () => void): void {
    this.#ended.set(str(load.get("jid") ?? ""), ended);
    if (isNoted) this.begin(load);
    else this.take(load);
  }

  /** Never rejects: with a full disk jobs still run and returns are still kept. */
  async #durable(load: ValueMap): Promise<void> {
    try {
      await this.#parts.journal?.commit();
    } catch (error) {
      const jid = str(load.get("jid") ?? "");
      this.#parts.log.error(`A power failure would lose job ${jid}: ${messageOf(error)}`);
    }
  }

  #take(load: ValueMap): void {
    if (this.#hasRoom() || isAboutJobs(load.get("fun") ?? null)) return void this.#run(load);
    const max = this.#parts.opts.process_count_max;
    this.#parts.log.warning(`Job ${str(load.get("jid") ?? "")} waits: ${max} jobs are running (process_count_max)`);
    this.#queue.push(load);
    this.note(str(load.get("jid") ?? ""), load, "queued");
    void this.#acknowledge(load, "received");
  }

  #hasRoom(): boolean {
    const max = this.#parts.opts.process_count_max;
    return max <= 0 || this.#parts.pool.size < max;
  }

  /** Runs a queued job. */
  #takeNext(): void {
    const next = this.#hasRoom() ? this.#queue.shift() : undefined;
    if (next === undefined) return;
    this.note(str(next.get("jid") ?? ""), next, "running");
    void this.#run(next);
  }

  async #run(load: ValueMap, resumed = false): Promise<void> {
    const isStateRun = runsStates(load.get("fun"));
    if (isStateRun && ++this.#stateRuns === 1) this.#parts.onStateRun(true);
    await this.#runToEnd(load, resumed);
    if (isStateRun && --this.#stateRuns === 0) this.#parts.onStateRun(false);
    this.#takeNext();
  }

  async #runToEnd(load: ValueMap, resumed: boolean): Promise<void> {
    const jid = str(load.get("jid") ?? "");
    const { id } = this.#parts.opts;
    const field = (key: string) => load.get(key) ?? null;
    this.#parts.log.info(`User ${str(field("user"))} Executing command ${str(field("fun"))} with jid ${jid}`);
    try {
      if (load.get("start_event") === true) {
        const { fun, tgt, tgt_type, user } = Object.fromEntries(
          ["fun", "tgt", "tgt_type", "user"].map((k) => [k, field(k)]),
        );
        const data = { id, jid, fun, tgt, tgt_type, user };
        void this.#parts.fireMaster(map({ tag: jobStart(jid, id), data }), load);
      }
      // A job that has ended by then is acknowledged by its return.
      const acknowledging = setTimeout(() => void this.#acknowledge(load, "running"), ACKNOWLEDGE_MS);
      const span = this.#traceRun(load);
      const live = load.get("live") === true && !resumed ? this.#liveOutput(load) : undefined;
      const outcome = await this.#parts.pool.run(load, (written) => live?.write(written), { resumed });
      clearTimeout(acknowledging);
      span?.end(outcome);
      if (outcome === LEFT_TO_NEXT_MINION) {
        // Its commands continue; the next minion finds its proc file, and returns their outcome.
        await live?.end(0);
        return;
      }
      // Queued before the return, so that a client that watches the job has all output when the return arrives.
      for (const batch of await live?.end(OUTPUT_MS) ?? []) this.#parts.spool.add(this.#outputLoad(load, batch), load);
      this.#parts.log.info(`Returning information for job: ${jid}`);
      this.#parts.log.debug(() =>
        `Job ${jid} ended with return code ${str(outcome.get("retcode") ?? null)}, success: ${
          str(outcome.get("success") ?? null)
        }`
      );
      const reader = noLogReader(load.get(NO_LOG));
      const returned = this.#returnLoad(load, outcome);
      writeTrace(returned, span?.context);
      if (load.has(SCHEDULED)) await this.#parts.fireLocal(SCHEDULE_RETURN, returned);
      this.#giveBack(load, reader === undefined ? returned : await hideReturn(returned, reader));
      this.#parts.returners.give(load, returned);
      // The note is removed only when the return is durable: with neither, the job would never end.
      if (this.#parts.journal !== undefined) await this.#durable(load);
      this.#parts.proc.remove(jid);
      if (resumed) removeDetached(this.#parts.opts.cachedir, jid);
    } catch (error) {
      this.#parts.log.critical(`Job ${jid} was lost: ${describeError(error)}`);
    }
    this.#ended.get(jid)?.();
    this.#ended.delete(jid);
  }

  /** Begins the spans of a job. Its end makes those of its states. */
  #traceRun(load: ValueMap): { readonly context: TraceContext; end(outcome: ValueMap): void } | undefined {
    const { tracer } = this.#parts;
    if (tracer === undefined) return undefined;
    const fun = str(load.get("fun") ?? ""), attributes = { "salt.fun": fun, "salt.jid": str(load.get("jid") ?? "") };
    const received = tracer.start(`salt.minion.recv.${fun}`, { kind: "server", parent: readTrace(load), attributes });
    const startMs = Date.now();
    const run = tracer.start(`salt.minion.exec.${fun}`, { parent: received.context, attributes });
    received.end();
    return {
      context: run.context,
      end: (outcome) => {
        if (outcome === LEFT_TO_NEXT_MINION) return run.end({ error: "it is left to the next minion" });
        // Names and comments of states belong to the result, which is hidden.
        if (runsStates(fun) && !load.has(NO_LOG)) {
          traceStates(outcome.get("return") ?? null, { parent: run.context, startMs }, tracer);
        }
        const failed = outcome.get("success") === false;
        run.end(failed ? { error: `return code ${str(outcome.get("retcode") ?? null)}` } : {});
      },
    };
  }

  /** Acknowledges a job to the master, so that the master neither sends it again nor asks about it. */
  async #acknowledge(load: ValueMap, state: AcknowledgedState): Promise<void> {
    if (load.has(OWN_JOB)) return;
    const { id } = this.#parts.opts;
    const jid = str(load.get("jid") ?? "");
    await this.#parts.fireMaster(map({ tag: jobAck(jid, id), data: { id, jid, fun: load.get("fun"), state } }), load);
  }

  #liveOutput(load: ValueMap): LiveOutput {
    const { live_output_rate, live_output_max } = this.#parts.opts;
    return new LiveOutput({
      send: (batch) => this.#parts.fireMaster(this.#outputLoad(load, batch), load),
      limits: {
        rateBytes: live_output_rate,
        maxBytes: live_output_max,
        requestBytes: this.#parts.maxRequestBytes(load),
      },
    });
  }

  #outputLoad(load: ValueMap, batch: LiveBatch): ValueMap {
    const { id } = this.#parts.opts;
    const jid = str(load.get("jid") ?? "");
    const data = new Map([...map({ id, jid }), ...batchToMap(batch)]);
    return map({ id, cmd: "_minion_event", jid, tag: jobOutput(jid, id), data });
  }

  /**
   * Returns the jobs that the last process of this minion had when it died, unless their own returns are spooled. Takes
   * over those whose commands continued, and returns them when these have ended.
   */
  async returnLeft(): Promise<void> {
    const spooled = this.#parts.proc.left.length === 0 ? undefined : this.#parts.spool.jids();
    const left = this.#parts.proc.left.map((job) => ({ ...job, jid: str(job.load.get("jid") ?? "") }));
    const open = left.filter(({ jid }) => !spooled?.has(jid));
    const goesOn = await this.#jobsThatGoOn(open);
    for (const { load, state, jid } of open) {
      if (goesOn.has(jid)) {
        this.#parts.log.info(`Job ${jid}, whose command kept running when the minion ended before, is taken over`);
        void this.#run(load, true);
      } else {
        const more = runsStates(load.get("fun")) ? interruptedRunLines(this.#parts.opts.cachedir, jid) : [];
        const returned = this.#returnLoad(load, interruptedReturn(state, more));
        this.#giveBack(load, returned);
        this.#parts.returners.give(load, returned);
        this.#parts.log.warning(`Job ${jid}, which was ${state} when this minion ended, is returned as interrupted`);
      }
    }
    const forgotten = left.filter(({ jid }) => !goesOn.has(jid));
    if (forgotten.length > 0 && this.#parts.journal !== undefined) await this.#durable(forgotten[0].load);
    for (const { jid } of forgotten) this.#parts.proc.remove(jid);
  }

  async #jobsThatGoOn(open: readonly { readonly jid: string }[]): Promise<Set<string>> {
    try {
      return await takeOverDetached(this.#parts.opts.cachedir, new Set(open.map(({ jid }) => jid)));
    } catch (error) {
      this.#parts.log.error(`The commands that kept running cannot be read: ${messageOf(error)}`);
      return new Set();
    }
  }

  /** Records a job that a master gave, before its id is remembered. */
  admit(jid: string, load: ValueMap, signed: CheckedJob | undefined): void {
    this.#parts.chain?.accepted(load, signed);
    this.note(jid, load, "running");
  }

  /** Returns a job that is not run: its operator's signature is missing, or does not hold. */
  async refuse(load: ValueMap, why: string, signed: CheckedJob): Promise<void> {
    const text = `Refused by the minion: ${why}`;
    const returned = this.#returnLoad(load, map({ return: text, retcode: 1, success: false, out: "nested" }));
    returned.set(REFUSED_JOB, true);
    const link = this.#parts.chain?.refused(load, why, signed);
    if (link !== undefined) returned.set(CHAIN, [link.n, link.hash]);
    const reader = noLogReader(load.get(NO_LOG));
    this.#parts.spool.add(reader === undefined ? returned : await hideReturn(returned, reader), load);
  }

  /** Records on disk that this minion has a job. */
  note(jid: string, load: ValueMap, state: ProcState): void {
    try {
      this.#parts.proc.add(jid, asNoted(load), state);
    } catch (error) {
      // With a full disk the job runs anyway; it may be the one that frees space.
      this.#parts.log.error(`There is no proc file of job ${jid}: ${messageOf(error)}`);
    }
  }

  /** Spools the return of a job, if the master is to have it. With `cache_jobs` this minion keeps a copy. */
  #giveBack(load: ValueMap, returned: ValueMap): void {
    if (!returnsToMaster(load)) return;
    if (!load.has(OWN_JOB)) {
      const link = this.#parts.chain?.returned(load, returned.get("retcode") ?? null);
      if (link !== undefined) returned.set(CHAIN, [link.n, link.hash]);
    }
    const { opts: { cache_jobs, cachedir }, log, spool } = this.#parts;
    if (cache_jobs) cacheMinionJob(str(load.get("jid") ?? ""), returned, { cachedir, log });
    if (load.get("pub_ret") !== false) spool.add(returned, load);
  }

  #returnLoad(load: ValueMap, outcome: ValueMap): ValueMap {
    const scheduled = scheduledReturn(load, outcome);
    if (scheduled !== undefined) return scheduled.set("_stamp", stampNow());
    const returned = map({
      cmd: "_return",
      id: this.#parts.opts.id,
      success: outcome.get("success"),
      return: outcome.get("return"),
      retcode: outcome.get("retcode"),
      jid: load.has(OWN_JOB) ? NO_JID : load.get("jid"),
      fun: load.get("fun"),
      fun_args: load.get("arg"),
      user: load.get("user"),
      _stamp: stampNow(),
    });
    for (const key of ["out", "interrupted", ERROR_DETAILS]) {
      if (outcome.has(key)) returned.set(key, outcome.get(key) ?? null);
    }
    for (const key of ["master_id", "metadata"]) if (load.has(key)) returned.set(key, load.get(key) ?? null);
    return returned;
  }
}
