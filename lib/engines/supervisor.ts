/**
 * Keeps the engines of a master or minion running: each in a process of its own, which is started again after a pause
 * when it ends. The pauses grow while an engine ends soon after its start. Knows nothing of what engines do.
 * @module
 */

import { messageOf } from "#lib/errors.ts";
import { sleep } from "#lib/os/sleep.ts";
import type { TimeBudget } from "#lib/os/time_budget.ts";
import { frame } from "#lib/protocol/frames.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { killGroup, killProcessTree } from "#lib/procfs/process_tree.ts";
import { V8_FLAGS } from "#lib/runtime/self_command.ts";
import type { Value } from "#lib/values/value.ts";
import { type EngineEntry, type EngineList, readEngines } from "./engine_list.ts";
import { packEngine, packEngineMap } from "./messages.ts";
import { type EngineReport, enginesDirectory, removeEngineStatus, writeEngineStatus } from "./status.ts";

/** The pause before the first restart, and the longest one, in milliseconds. */
const FIRST_PAUSE_MS = 1_000, LONGEST_PAUSE_MS = 60_000;
/** An engine that ran for this time has no failures behind it, in milliseconds. */
const STEADY_MS = 60_000;
/** Megabytes of JavaScript's heap of a process. */
const HEAP_MB = 512;
/** Lines that an engine prints in one run that are logged, and UTF-16 units of a line. */
const MAX_LINES = 1_000, MAX_LINE = 2_000;

/** The parts of a {@linkcode EngineSupervisor}. */
export interface SupervisorParts {
  readonly role: "master" | "minion";
  /** The options of the master or minion, packed. */
  readonly opts: Uint8Array;
  readonly engines: EngineList;
  /** Directory of the report. */
  readonly directory: string;
  /** The words that start the process of an engine. */
  readonly command: readonly string[];
  readonly log: Logger;
  /** Default: those above. */
  readonly pausesMs?: readonly [first: number, longest: number];
}

/** The engines of one master or minion. */
export class EngineSupervisor {
  readonly #parts: SupervisorParts;
  readonly #ending = new AbortController();
  readonly #reports = new Map<string, EngineReport>();
  readonly #processes = new Set<EngineProcess>();
  readonly #running: Promise<unknown>;

  /** Starts them. Never fails: what is wrong is logged, and in the report. */
  constructor(parts: SupervisorParts) {
    this.#parts = parts;
    for (const mistake of parts.engines.mistakes) parts.log.error(`An engine is not started: ${mistake}`);
    this.#write();
    this.#running = Promise.all(parts.engines.entries.map((entry) => this.#keep(entry)));
  }

  /** What each engine does, one line each. */
  describe(): string[] {
    return [...this.#reports].map(([name, { state, starts }]) => `Engine ${name}: ${state}, started ${starts} times`);
  }

  async #keep(entry: EngineEntry): Promise<void> {
    const { log, pausesMs: [first, longest] = [FIRST_PAUSE_MS, LONGEST_PAUSE_MS] } = this.#parts;
    const { signal } = this.#ending;
    let error: string | null = null;
    for (let starts = 1, early = 0; !signal.aborted; starts++) {
      const begunMs = performance.now();
      const reason = await this.#run(entry, { starts, error });
      if (signal.aborted) return;
      error = reason;
      early = performance.now() - begunMs >= STEADY_MS ? 0 : early + 1;
      const pauseMs = Math.min(longest, first * 2 ** Math.max(0, early - 1));
      log.error(`The engine ${entry.name} has ended, and is started again in ${pauseMs / 1000} seconds: ${reason}`);
      this.#report(entry, { state: "waiting", pid: null, starts, error });
      await sleep(pauseMs, signal).catch(() => {}); // it ends
    }
  }

  /**
   * Runs an engine until its process ends.
   * @returns Why it has ended.
   */
  async #run(entry: EngineEntry, { starts, error }: Pick<EngineReport, "starts" | "error">): Promise<string> {
    let process: EngineProcess;
    try {
      process = new EngineProcess(entry, this.#parts);
    } catch (thrown) {
      return `its process cannot be started: ${messageOf(thrown)}`;
    }
    this.#processes.add(process);
    this.#report(entry, { state: "running", pid: process.pid, starts, error });
    try {
      return await process.ended;
    } finally {
      this.#processes.delete(process);
    }
  }

  #report({ name, module }: EngineEntry, now: Omit<EngineReport, "module" | "sinceMs">): void {
    this.#reports.set(name, { module, sinceMs: Date.now(), ...now });
    this.#write();
  }

  #write(): void {
    const { directory, engines: { mistakes }, log } = this.#parts;
    try {
      writeEngineStatus(directory, { pid: Deno.pid, reports: this.#reports, mistakes });
    } catch (error) {
      log.error(`The report of the engines cannot be written: ${messageOf(error)}`);
    }
  }

  /** Ends them: asks them to end, and kills those that take longer than the budget. */
  async close(budget: TimeBudget): Promise<void> {
    this.#ending.abort(new Error("the engines end"));
    for (const process of this.#processes) process.finish();
    if (!await budget.allows(this.#running)) { for (const process of this.#processes) process.kill(); }
    await this.#running;
    removeEngineStatus(this.#parts.directory);
  }
}

/** The parts of {@linkcode startEngines}. */
export interface EnginesParts extends Pick<SupervisorParts, "role" | "opts" | "command" | "log"> {
  /** The option `engines`. */
  readonly engines: Value;
  readonly cachedir: string;
}

/** Starts the engines that an option names; `undefined` if there are none. */
export function startEngines({ engines: option, cachedir, ...parts }: EnginesParts): EngineSupervisor | undefined {
  const engines = readEngines(option);
  if (engines.entries.length + engines.mistakes.length === 0) return undefined;
  return new EngineSupervisor({ ...parts, engines, directory: enginesDirectory(cachedir) });
}

/** The process of an engine. It ends when its input ends. */
class EngineProcess {
  readonly #child: Deno.ChildProcess;
  readonly #input: WritableStreamDefaultWriter<Uint8Array>;
  readonly #log: Logger;
  readonly #name: string;
  #lines = 0;
  #lastLine = "";
  /** Whether its number may be another process's. */
  #hasEnded = false;
  /** Why it has ended. */
  readonly ended: Promise<string>;

  /** @throws {Error} If it cannot be started. */
  constructor({ name, module, options }: EngineEntry, { role, opts, command, log }: SupervisorParts) {
    this.#name = name;
    this.#log = log;
    const [program, ...args] = command;
    this.#child = new Deno.Command(program, {
      args,
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
      detached: true, // in a process group of its own, so that what it starts ends with it
      env: { DENO_V8_FLAGS: `${V8_FLAGS},--max-old-space-size=${HEAP_MB}` },
    }).spawn();
    this.#input = this.#child.stdin.getWriter();
    const init = packEngine({ role, opts, name, module, options: packEngineMap(options) });
    this.#input.write(frame(1, init)).catch(() => {}); // it has ended: its status says so
    this.ended = this.#serve();
  }

  get pid(): number {
    return this.#child.pid;
  }

  async #serve(): Promise<string> {
    const printing = Promise.all([this.#logLines(this.#child.stdout), this.#logLines(this.#child.stderr)]);
    const status = await this.#child.status;
    this.#hasEnded = true;
    this.kill(); // what it has started, which may keep its output open
    await printing;
    await this.#input.close().catch(() => {});
    const how = status.signal === null
      ? `its process ended with ${status.code}`
      : `its process was ended by ${status.signal}`;
    return this.#lastLine === "" ? how : `${how}: ${this.#lastLine}`;
  }

  async #logLines(stream: ReadableStream<Uint8Array>): Promise<void> {
    const decoder = new TextDecoder();
    let rest = "";
    for await (const piece of stream) {
      const lines = (rest + decoder.decode(piece, { stream: true })).split("\n");
      rest = (lines.pop() ?? "").slice(0, MAX_LINE);
      for (const line of lines) this.#logLine(line);
    }
    this.#logLine(rest);
  }

  #logLine(line: string): void {
    const text = line.trim().slice(0, MAX_LINE);
    if (text === "") return;
    this.#lastLine = text;
    if (++this.#lines <= MAX_LINES) this.#log.info(`The engine ${this.#name}: ${text}`);
    else if (this.#lines === MAX_LINES + 1) this.#log.warning(`The engine ${this.#name}: further lines are left out`);
  }

  /** Asks it to end. */
  finish(): void {
    this.#input.close().catch(() => {}); // it has ended
  }

  /** Ends it, and what it has started. */
  kill(): void {
    if (this.#hasEnded) killGroup(this.#child.pid);
    else killProcessTree(this.#child.pid);
  }
}
