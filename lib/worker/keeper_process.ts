/**
 * The process that keeps a minion's commands (lib/host/command_keeper.ts), on the minion's side: started when the first
 * command needs it, in a separate session, and again after it has ended. It outlives the minion if it has commands.
 * @module
 */

import { messageOf } from "../errors.ts";
import { READY } from "../host/detached_commands.ts";
import type { Logger } from "../process/log.ts";
import type { MinionOpts } from "../config/options.ts";
import { ownProcess } from "../process/self_command.ts";
import type { TimeBudget } from "../os/time_budget.ts";
import { clearTimeout, setTimeout } from "../os/timers.ts";

/** The entry name of such a process. */
const KEEPER_PROCESS = "salt-keeper";
/** Maximum time to start, in milliseconds. */
const START_MS = 30_000;

/** A running keeper. */
interface Keeper {
  readonly child: Deno.ChildProcess;
  /** Resolves with the path of its socket when it listens; rejects if it does not. */
  readonly socket: Promise<string>;
}

/** Another program in the keeper's place, and another time to start; for tests. */
interface KeeperProgram {
  /** The program and its first arguments. */
  readonly program?: readonly string[];
  readonly startMs?: number;
}

/** Starts the keeper of one minion when it is needed. */
export class KeeperProcess {
  readonly #opts: Pick<MinionOpts, "cachedir" | "sock_dir">;
  readonly #log: Logger;
  readonly #program: KeeperProgram;
  #keeper: Keeper | undefined;
  #closed = false;
  /** Whether it could not be started. */
  #failed = false;

  constructor(opts: Pick<MinionOpts, "cachedir" | "sock_dir">, log: Logger, program: KeeperProgram = {}) {
    this.#opts = opts;
    this.#log = log;
    this.#program = program;
  }

  /** The path of the keeper's socket; `undefined` if there can be none, which is logged. */
  async socket(): Promise<string | undefined> {
    if (this.#closed || this.#failed) return undefined;
    try {
      this.#keeper ??= this.#start();
      return await this.#keeper.socket;
    } catch (error) {
      // The cause, such as a missing right to run the executable, would stop the next one too.
      this.#failed = true;
      this.#keeper = undefined;
      this.#log.error(`Commands end with this minion: their keeper cannot be started: ${messageOf(error)}`);
      return undefined;
    }
  }

  #start(): Keeper {
    const { cachedir, sock_dir } = this.#opts;
    // Shorter than the names of the bus: the path of a socket has little room.
    const socket = `${sock_dir}/commands_${crypto.randomUUID().slice(0, 8)}.ipc`;
    const { program: [command, ...args] = ownProcess(KEEPER_PROCESS), startMs = START_MS } = this.#program;
    const child = new Deno.Command(command, {
      args: [...args, cachedir, socket],
      cwd: "/",
      stdin: "piped",
      stdout: "piped",
      stderr: "null",
      detached: true, // in a separate session, so that it outlives the minion
    }).spawn();
    child.unref();
    const keeper = { child, socket: ready(child, startMs, this.#log).then(() => socket) };
    void child.status.then(() => {
      if (this.#keeper === keeper) this.#keeper = undefined;
    });
    return keeper;
  }

  /** Releases it: it ends when its commands have ended. Waits for that until `budget` is over. */
  async close(budget: TimeBudget): Promise<void> {
    this.#closed = true;
    const keeper = this.#keeper;
    if (keeper === undefined) return;
    await keeper.socket.catch(() => {});
    await keeper.child.stdin.close().catch(() => {}); // it has ended
    await budget.allows(keeper.child.status);
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
