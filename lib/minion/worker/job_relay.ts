/**
 * Takes the messages of the workers and processes that run jobs: outcomes and output go to the pool, requests are
 * answered by the pool or by the minion.
 * @module
 */

import type { RunningJob } from "#lib/plugins/job_context.ts";
import type { JobHost } from "./job_host.ts";
import { type FromJob, type FromModule, type MinionRequest, pack } from "./job_protocol.ts";
import { messageOf, RequestTimeoutError } from "#lib/errors.ts";
import type { WrittenOutput } from "./live_output.ts";
import { ModuleProcess } from "./module_process.ts";
import { mayStartAnything, type Permissions } from "#lib/plugins/permissions.ts";
import { toValue, type Value } from "#lib/values/value.ts";

/** What a {@linkcode JobRelay} needs of its pool and of the minion. */
export interface RelayTargets {
  /**
   * A job is done.
   * @param outcome Packed.
   */
  done(host: JobHost, outcome: Uint8Array): void;
  /** A job's commands wrote something. */
  output(host: JobHost, written: WrittenOutput): void;
  /** A worker may not run its job, which needs these permissions. */
  move(host: JobHost, permissions: Permissions): void;
  /**
   * Calls a function of a custom module for the function that runs in `host`.
   * @param call Its arguments, packed.
   * @returns Its outcome.
   */
  call(host: JobHost, fun: string, call: Uint8Array): Promise<Value>;
  /** The jobs that run now. */
  running(): RunningJob[];
  /**
   * Sends a signal to a job.
   * @returns Whether it was running.
   */
  signal(jid: string, signal: number): boolean;
  /** Describes the functions of the custom modules. */
  describeCustom(): Promise<Value>;
  /** The permissions of a worker or process. */
  permissionsOf(host: JobHost): Permissions;
  /** Answers all other requests of the job in `host`. */
  answer(host: JobHost, request: MinionRequest): Promise<Value>;
  /** Whether the pool runs only custom modules; then it knows no other jobs, and the caller answers for them. */
  readonly customOnly: boolean;
}

/** Takes the messages of workers and processes. */
export class JobRelay {
  readonly #targets: RelayTargets;

  constructor(targets: RelayTargets) {
    this.#targets = targets;
  }

  /** Takes one message. */
  receive(host: JobHost, message: FromJob | FromModule): void {
    switch (message.kind) {
      case "done":
        return this.#targets.done(host, message.outcome);
      case "output":
        return this.#targets.output(host, message.written);
      case "not_permitted":
        return this.#targets.move(host, message.permissions);
      case "ask":
        return void this.#answer(host, message.id, message.request);
    }
  }

  async #answer(host: JobHost, id: number, request: MinionRequest): Promise<void> {
    try {
      const value = await this.#valueFor(host, request);
      host.send({ kind: "answer", id, value: pack(value) });
    } catch (error) {
      const timeout = error instanceof RequestTimeoutError
        ? { address: error.address, waitedMs: error.waitedMs }
        : undefined;
      host.send({ kind: "refused", id, reason: messageOf(error), timeout });
    }
  }

  async #valueFor(host: JobHost, request: MinionRequest): Promise<Value> {
    const { customOnly } = this.#targets;
    switch (request.what) {
      case "running":
        return customOnly ? await this.#targets.answer(host, request) : toValue(this.#targets.running());
      case "signal":
        if (host instanceof ModuleProcess && !mayStartAnything(this.#targets.permissionsOf(host))) {
          throw new Error('a function that signals jobs declares the permission "all" or { run: true }');
        }
        return customOnly
          ? await this.#targets.answer(host, request)
          : this.#targets.signal(request.jid, request.signal);
      case "describe":
        return await this.#targets.describeCustom();
      case "call":
        return await this.#targets.call(host, request.fun, request.call);
      default:
        return await this.#targets.answer(host, request);
    }
  }
}
