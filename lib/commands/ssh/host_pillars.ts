/**
 * The pillars of hosts, compiled apart from this process: while a template computes for one host, because of its
 * grains, the others are served, and it is ended at `pillar_timeout`.
 * @module
 */

import { packOpts, unpackOpts } from "#lib/config/opts_transfer.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { CommandError } from "#lib/errors.ts";
import { masterPillarHost } from "#lib/master/processes/pillar_compiler.ts";
import { CLOSE_MS, TimeBudget } from "#lib/os/time_budget.ts";
import { compilePillar } from "#lib/pillar/compile.ts";
import type { PillarReplyMessage } from "#lib/pillar/messages.ts";
import { PillarProcesses } from "#lib/pillar/processes.ts";
import { packPillarRequest, type PillarRequest } from "#lib/pillar/request.ts";
import { servePillarRequests } from "#lib/pillar/serve_requests.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { openLog } from "#lib/runtime/log_sinks.ts";
import { operatorProcess, SSH_PILLAR_PROCESS } from "#lib/runtime/self_command.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import type { ValueMap } from "#lib/values/value.ts";

/** The processes of one fleet of hosts; they are started when pillar is asked for. */
export class HostPillars {
  readonly #processes: PillarProcesses;

  constructor(opts: MasterOpts, log: Logger) {
    this.#processes = new PillarProcesses({
      opts: packOpts("master", opts),
      command: operatorProcess(SSH_PILLAR_PROCESS),
      processes: Math.min(opts.pillar_processes, navigator.hardwareConcurrency),
      timeoutMs: opts.pillar_timeout * 1000,
      log,
    });
  }

  /**
   * Compiles one. What goes wrong is in it, as `_errors`.
   * @throws {CommandError} If too many wait, or the fleet is closed.
   */
  async compile(request: PillarRequest): Promise<ValueMap> {
    const { promise, resolve } = Promise.withResolvers<PillarReplyMessage>();
    const message = { kind: "pillar", key: request.id, id: request.id, request: packPillarRequest(request) } as const;
    this.#processes.take(message, resolve);
    const { state, pillar } = await promise;
    if (state === "compiled") return mapOrEmpty(decode(pillar, "wire"));
    throw new CommandError(state === "full" ? `Too many requests of ${request.id} wait` : "The pillar is not wanted");
  }

  /** Ends the processes. */
  close(): Promise<void> {
    return this.#processes.close(new TimeBudget(CLOSE_MS));
  }
}

/**
 * Runs such a process until its input ends. Unlike a master's, it keeps nothing: root may run it where the master has
 * another user.
 * @returns The exit code.
 */
export function runHostPillarProcess(): Promise<number> {
  return servePillarRequests((packed, signal) => {
    const opts = unpackOpts("master", packed);
    const { log, close } = openLog(opts, {});
    const host = masterPillarHost(opts, { log, signal });
    return { log, close, pillar: async (request) => encode((await compilePillar(request, host)).pillar, "wire") };
  });
}
