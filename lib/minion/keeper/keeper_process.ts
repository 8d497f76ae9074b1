/**
 * The process that keeps a minion's commands (lib/minion/keeper/command_keeper.ts), on the minion's side: started when
 * the first command needs it, in a separate session, and again after it has ended. It outlives the minion if it has
 * commands.
 * @module
 */

import { lstatIfExists } from "#lib/os/atomic_file.ts";
import { messageOf } from "#lib/errors.ts";
import { READY } from "#lib/programs/detached_commands.ts";
import type { Logger } from "#lib/runtime/log.ts";
import type { MinionOpts } from "#lib/config/options.ts";
import { ownProcess } from "#lib/runtime/self_command.ts";
import type { TimeBudget } from "#lib/os/time_budget.ts";
import { clearTimeout, setTimeout } from "#lib/os/timers.ts";

/** The entry name of such a process. */
const KEEPER_PROCESS = "salt-keeper";
/** Maximum time to start, in milliseconds. */
const START_MS = 30_000;
/** Time after a failed start for which no command tries another, in milliseconds. */
const RETRY_MS = 5_000;

/** A running keeper. */
interface Keeper {
  readonly child: Deno.ChildProcess;
  /** Where it will listen. */
  readonly path: string;
  /** Resolves with the path of its socket when it listens; with `undefined` if it does not, which is logged. */
  readonly socket: Promise<string | undefined>;
}

/** Another program in the keeper's place, and other times; for tests. */
interface KeeperProgram {
  /** The program and its first arguments. */
  readonly program?: readonly string[];
  readonly startMs?: number;
  readonly retryMs?: number;
}

/** Starts the keeper of one minion when it is needed. */
export class KeeperProcess {
  readonly #opts: Pick<MinionOpts, "cachedir" | "sock_dir">;
  readonly #log: Logger;
  readonly #program: KeeperProgram;
  #keeper: Keeper | undefined;
  /** Keepers whose sockets somebody has removed: they may have commands. */
  readonly #unreachable = new Set<Keeper>();
  #closed = false;
  /** Before this time of `performance.now()` none is started. */
  #nextStart = 0;

  constructor(opts: Pick<MinionOpts, "cachedir" | "sock_dir">, log: Logger, program: KeeperProgram = {}) {
    this.#opts = opts;
    this.#log = log;
    this.#program = program;
  }

  /**
   * The path of the keeper's socket; `undefined` if there is none now, which is logged. A start that failed is tried
   * again by a later command, unless the program is not there or may not be run.
   */
  async socket(): Promise<string | undefined> {
    const current = this.#keeper;
    const path = await current?.socket;
    if (this.#closed) return undefined;
    if (path !== undefined && current !== undefined) {
      if (lstatIfExists(path) !== undefined) return path;
      if (this.#keeper === current) this.#leave(current);
    }
    if (this.#keeper === undefined && performance.now() < this.#nextStart) return undefined;
    try {
      return await (this.#keeper ??= this.#start()).socket;
    } catch (error) {
      this.#refuse(error);
      return undefined;
    }
  }

  /** Forgets a keeper that nobody can reach. It ends when it is idle, or when the minion ends. */
  #leave(keeper: Keeper): void {
    this.#unreachable.add(keeper);
    this.#keeper = undefined;
    this.#log.warning(`The keeper of commands is started again: somebody has removed ${keeper.path}`);
  }

  /** A start has failed. What a busy or full system refuses, and a directory that is missing, may be there later. */
  #refuse(error: unknown): void {
    const isFinal = error instanceof Deno.errors.NotFound || error instanceof Deno.errors.PermissionDenied ||
      error instanceof Deno.errors.NotCapable;
    const { retryMs = RETRY_MS } = this.#program;
    this.#nextStart = isFinal ? Infinity : performance.now() + retryMs;
    const until = isFinal ? "" : "; a later command tries it again";
    this.#log.error(`Commands end with this minion: their keeper cannot be started: ${messageOf(error)}${until}`);
  }

  #start(): Keeper {
    const { cachedir, sock_dir } = this.#opts;
    // Shorter than the names of the bus: the path of a socket has little room.
    const path = `${sock_dir}/commands_${crypto.randomUUID().slice(0, 8)}.ipc`;
    const { program: [command, ...args] = ownProcess(KEEPER_PROCESS), startMs = START_MS } = this.#program;
    const child = new Deno.Command(command, {
      args: [...args, cachedir, path],
      cwd: "/",
      stdin: "piped",
      stdout: "piped",
      stderr: "null",
      detached: true, // in a separate session, so that it outlives the minion
    }).spawn();
    child.unref();
    const forget = () => {
      this.#unreachable.delete(keeper);
      if (this.#keeper === keeper) this.#keeper = undefined;
    };
    const socket = ready(child, startMs, this.#log).then(() => path, (error: unknown) => {
      forget();
      // What it printed says nothing about the next one: the program was there and could be run.
      this.#refuse(new Error(messageOf(error)));
      return undefined;
    });
    const keeper: Keeper = { child, path, socket };
    void child.status.then(forget);
    return keeper;
  }

  /** Releases it: it ends when its commands have ended. Waits for that until `budget` is over. */
  async close(budget: TimeBudget): Promise<void> {
    this.#closed = true;
    const keepers = [...this.#unreachable, ...this.#keeper === undefined ? [] : [this.#keeper]];
    await Promise.all(keepers.map(async ({ child, socket }) => {
      await socket;
      await child.stdin.close().catch(() => {}); // it has ended
      await budget.allows(child.status);
    }));
  }
}

/** Waits for the line that a keeper prints when it listens; later lines go to the log. */
async function ready(child: Deno.ChildProcess, startMs: number, log: Logger): Promise<void> {
  const printed = child.stdout.pipeThrough(new TextDecoderStream()).getReader();
  const timer = setTimeout(() => {
    try {
      child.kill("SIGKILL");
    } catch {
      // It has ended.
    }
  }, startMs);
  try {
    const { value } = await printed.read();
    if (value !== `${READY}\n`) throw new Error(`it has ended: ${value ?? "it printed nothing"}`);
  } finally {
    clearTimeout(timer);
  }
  void (async () => {
    for (let text = await printed.read(); !text.done; text = await printed.read()) {
      log.warning(`The keeper of commands: ${text.value.trimEnd()}`);
    }
  })();
}
