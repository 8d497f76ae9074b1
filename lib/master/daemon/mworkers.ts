/**
 * The MWorkers of a master, and the processes that they pass requests on to: those of runners and wheel functions, and
 * those that compile pillars.
 * @module
 */

import type { MasterOpts } from "#lib/config/options.ts";
import { type FunctionMessage, parseFunctionRequest } from "#lib/master/functions/messages.ts";
import { FunctionProcesses } from "#lib/master/functions/processes.ts";
import type { TimeBudget } from "#lib/os/time_budget.ts";
import { isAboutPillar, parsePillarRequestMessage, type PillarReplyMessage } from "#lib/pillar/messages.ts";
import { PillarProcesses } from "#lib/pillar/processes.ts";
import type { Logger } from "#lib/runtime/log.ts";
import type { SupervisedThread } from "#lib/sockets/supervised_thread.ts";
import { StopWord } from "#lib/values/stop_word.ts";
import type { ValueMap } from "#lib/values/value.ts";
import { inFlightMemory, MAX_IN_FLIGHT } from "./in_flight_request.ts";
import type { MasterThreads } from "./master_threads.ts";
import type { MWorkerInit } from "./mworker_thread.ts";

/** The signal that the error of an MWorker which computes without end names. */
const SIGKILL = 9;

/** What the MWorkers of a master are made of. */
export interface MWorkersParts {
  readonly opts: MasterOpts;
  /** The same, packed. */
  readonly packed: Uint8Array;
  readonly log: Logger;
  readonly threads: MasterThreads;
  /** Fires an event on the master's bus. */
  fire(tag: string, data: ValueMap): Promise<void>;
  /** Ports to the databases of jobs and of the cluster, for the thread of this name. */
  ports(name: string): Pick<MWorkerInit, "storePort" | "clusterPort">;
}

/** The MWorkers of one master. */
export class MWorkers {
  /** Runs functions of runners and wheel modules for clients. */
  readonly functions: FunctionProcesses;
  readonly #pillars: PillarProcesses;
  readonly #parts: MWorkersParts;
  #threads: readonly SupervisedThread[] = [];

  /** Starts no thread; {@linkcode start} does. */
  constructor(parts: MWorkersParts) {
    const { opts, packed, log } = this.#parts = parts;
    this.functions = new FunctionProcesses({ opts: packed, log, fire: parts.fire });
    this.#pillars = new PillarProcesses({
      opts: packed,
      processes: Math.min(opts.pillar_processes, navigator.hardwareConcurrency),
      timeoutMs: opts.pillar_timeout * 1000,
      log,
    });
  }

  /** Starts their threads; resolves when all of them serve. */
  async start(init: Omit<MWorkerInit, "sockets" | "stop" | "held">): Promise<void> {
    this.#threads = Array.from({ length: this.#parts.opts.worker_threads }, (_, i) => this.#startOne(i, init));
    await Promise.all(this.#threads.map(({ ready }) => ready));
  }

  #startOne(i: number, init: Omit<MWorkerInit, "sockets" | "stop" | "held">): SupervisedThread<MWorkerInit> {
    const name = `MWorker-${i}`;
    let held = inFlightMemory(MAX_IN_FLIGHT);
    let stop = new StopWord();
    return this.#parts.threads.keep<MWorkerInit>(name, new URL("./mworker_thread.ts", import.meta.url), {
      init: (apart) => {
        stop = new StopWord();
        return {
          ...init,
          ...this.#parts.ports(name),
          stop: stop.memory,
          held: apart ? held = inFlightMemory(MAX_IN_FLIGHT) : held,
        };
      },
      stopComputing: () => stop.stop(SIGKILL),
      canOverlap: true,
      onMessage: (message) => {
        const reply = (answer: FunctionMessage | PillarReplyMessage) => this.#threads[i].post(answer);
        if (isAboutPillar(message)) this.#pillars.take(parsePillarRequestMessage(message), reply);
        else this.functions.take(parseFunctionRequest(message), reply);
      },
    });
  }

  /** Looks whether one computes without end. */
  look(): void {
    for (const thread of this.#threads) thread.look();
  }

  /** Whether one that was ended by force has left its sockets open. */
  get haveSockets(): boolean {
    return this.#threads.some(({ hasSockets }) => hasSockets);
  }

  /** The current activity of their processes, in one line. */
  describeProcesses(): string {
    return `${this.functions.describe()}; ${this.#pillars.describe()}`;
  }

  /** Ends their processes, before the threads end: clients wait there for what these processes do. */
  async closeProcesses(budget: TimeBudget): Promise<void> {
    await Promise.all([this.functions.close(budget), this.#pillars.close(budget)]);
  }
}
