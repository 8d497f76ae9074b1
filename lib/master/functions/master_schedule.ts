/**
 * The schedule of a master: runners at their times, each in a process of its own.
 * Source: Salt 3008.3 `salt/utils/schedule.py` handle_func, `salt/master.py` Maintenance.handle_schedule.
 * @module
 */

import type { MasterOpts } from "#lib/config/options.ts";
import { makeJid } from "#lib/protocol/jid.ts";
import { NO_JID } from "#lib/protocol/own_job.ts";
import { SCHEDULE_RETURN } from "#lib/protocol/tags.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { placeOfEntry } from "#lib/config/entry_places.ts";
import { type DueJob, Schedule } from "#lib/schedule/schedule.ts";
import { ScheduleLoop } from "#lib/schedule/schedule_loop.ts";
import { map, type Value, type ValueMap } from "#lib/values/value.ts";
import { packFunctionJob, unpackFunctionOutcome } from "./messages.ts";
import type { FunctionProcesses } from "./processes.ts";

/** What a master's schedule needs. */
export interface MasterScheduleParts {
  readonly opts: MasterOpts;
  readonly log: Logger;
  readonly functions: Pick<FunctionProcesses, "take">;
  /** Whether jobs are this master's to run: in a cluster one master runs them for all. */
  isRunHere(): boolean;
  /** Stamps an event and fires it on the master's bus. */
  fire(tag: string, data: ValueMap): Promise<void>;
}

/** The return code of a job whose process was lost, or that could not run. */
const FAILED = 254;

/** The schedule of one master. */
export class MasterSchedule {
  readonly #parts: MasterScheduleParts;
  readonly #loop: ScheduleLoop;
  readonly #running = new Map<string, number>();

  /** Reads the jobs of the configuration. */
  constructor(parts: MasterScheduleParts) {
    const { opts, log } = this.#parts = parts;
    const schedule = new Schedule({
      id: opts.id,
      whens: () => undefined,
      random: Math.random,
      running: (title) => this.#running.get(title) ?? 0,
      report: (name, error) => {
        const place = placeOfEntry(opts, "schedule", name);
        log.error(`${place === undefined ? "" : `${place}: `}schedule${name === "" ? "" : `, job ${name}`}: ${error}`);
      },
    });
    this.#loop = new ScheduleLoop({ schedule, log, start: (due) => this.#start(due) });
    schedule.setOwn(opts.schedule, this.#loop.nowMs);
  }

  /** Begins to run jobs. */
  start(): void {
    this.#loop.turn();
  }

  #start({ job, run }: DueJob): void {
    const { functions, log, isRunHere } = this.#parts, { title } = job;
    if (!isRunHere()) {
      log.debug(() => `The scheduled job ${title} is run by another master of the cluster`);
      return;
    }
    const fun = run.instead ?? job.fun, jid = makeJid();
    log.info(`Running scheduled job: ${title} with jid ${jid}`);
    this.#running.set(title, (this.#running.get(title) ?? 0) + 1);
    const request = {
      kind: "runner",
      fun,
      args: job.args,
      kwargs: job.kwargs,
      jid,
      user: this.#parts.opts.user,
    } as const;
    functions.take({ key: crypto.randomUUID(), job: packFunctionJob(request) }, ({ state, outcome }) => {
      if (state === "taken") return;
      const left = (this.#running.get(title) ?? 1) - 1;
      if (left > 0) this.#running.set(title, left);
      else this.#running.delete(title);
      const ended = state === "ended" ? unpackFunctionOutcome(outcome) : undefined;
      const given: Value = ended?.return ?? `The runner ${fun} did not run: ${state}`;
      void this.#fireReturn({ job, run }, {
        fun,
        given,
        success: ended?.success ?? false,
        isLost: ended === undefined,
      });
    });
  }

  async #fireReturn(
    { job }: DueJob,
    { fun, given, success, isLost }: {
      readonly fun: string;
      readonly given: Value;
      readonly success: boolean;
      readonly isLost: boolean;
    },
  ): Promise<void> {
    if (job.returnJob === false) return;
    const data = map({
      cmd: "_return",
      id: this.#parts.opts.id,
      fun,
      fun_args: [...job.args, ...job.kwargs.size > 0 ? [job.kwargs] : []],
      schedule: job.title,
      jid: NO_JID,
      pid: Deno.pid,
      return: given,
      retcode: success ? 0 : FAILED,
      success,
    });
    if (isLost) data.set("lost", true);
    if (job.metadata !== undefined) data.set("metadata", job.metadata);
    await this.#parts.fire(SCHEDULE_RETURN, data);
  }

  /** Ends it; runners that run stay. */
  close(): void {
    this.#loop.close();
  }
}
