/**
 * The keeper: a process that starts the commands of a minion's jobs and reads their output, so that they outlive the
 * minion. While the minion runs, it receives all output over a connection for each command (keeper_messages.ts), and
 * nothing is written to disk. When the minion has ended (its pipe to this process is closed), the keeper records its
 * commands in files (detached_commands.ts), waits until they end, records their outcomes, and ends.
 * @module
 */

import { type ChildOutcome, runChild } from "#lib/programs/child_process.ts";
import { messageOf } from "#lib/errors.ts";
import { FrameReader } from "#lib/protocol/frames.ts";
import { IdleMemory } from "#lib/runtime/idle_memory.ts";
import { isJid } from "#lib/protocol/jid.ts";
import {
  type KeeperAnswer,
  type KeeperRequest,
  MAX_KEEPER_MESSAGE,
  packAnswer,
  parseKeeperRequest,
} from "./keeper_messages.ts";
import {
  type DetachedCommand,
  detachedDirectory,
  markOf,
  READY,
  writeDetached,
} from "#lib/programs/detached_commands.ts";
import { returnLargeBlocks, trimMemory } from "#lib/libc/libc.ts";
import { removeIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import { clearTimeout, setTimeout, type Timer } from "#lib/os/timers.ts";

/** Time without a command after which a keeper ends, in milliseconds. The minion starts another when it needs one. */
const IDLE_MS = 300_000;
/**
 * Time for which an outcome is kept after it was sent to the minion, in milliseconds: the minion's return may not be on
 * the disk yet.
 */
const HOLD_MS = 5_000;
/** Maximum bytes of such outcomes; beyond it the oldest is dropped. */
const HELD_BYTES = 8 << 20;

/** Writes a line for the minion's log. */
function print(line: string): void {
  try {
    Deno.stdout.writeSync(new TextEncoder().encode(`${line}\n`));
  } catch {
    // The minion has gone, and with it its log.
  }
}

/** Approximate size of an outcome besides its output, in bytes. */
const COMMAND_BYTES = 16 << 10;

/** A command that this process has started. */
interface Command {
  readonly request: KeeperRequest;
  pid: number;
  outcome?: ChildOutcome;
}

/** The paths of a keeper. */
export interface KeeperPlace {
  /** The minion's cache directory. */
  readonly cachedir: string;
  /** Path of the socket to listen at. */
  readonly socket: string;
}

/** Runs until the minion has closed standard input and all commands have ended, or until it was idle for long. */
export async function runCommandKeeper(place: KeeperPlace): Promise<number> {
  // A signal to the minion's process group, or to processes with its name, must not reach its commands.
  for (const signal of ["SIGTERM", "SIGINT", "SIGHUP"] as const) Deno.addSignalListener(signal, () => {});
  returnLargeBlocks();
  const keeper = new CommandKeeper(place);
  try {
    await keeper.serve();
  } finally {
    keeper.remove();
  }
  return 0;
}

class CommandKeeper {
  readonly #place: KeeperPlace;
  readonly #self = markOf(Deno.pid);
  readonly #listener: Deno.UnixListener;
  readonly #commands = new Set<Command>();
  readonly #memory = new IdleMemory(trimMemory);
  readonly #done = Promise.withResolvers<void>();
  /** Whether the minion has gone. */
  #alone = false;
  #idleTimer: Timer | undefined;

  constructor(place: KeeperPlace) {
    this.#place = place;
    Deno.mkdirSync(detachedDirectory(place.cachedir), { recursive: true, mode: 0o700 });
    writeFileAtomic(this.#file("keeper"), this.#self.at, { mode: 0o600 });
    // A client that connects may start anything: from the first moment it must be this user's.
    const umask = Deno.umask(0o177);
    this.#listener = Deno.listen({ transport: "unix", path: place.socket });
    Deno.umask(umask);
    this.#rest();
  }

  #file(state: "keeper" | "alone"): string {
    return `${detachedDirectory(this.#place.cachedir)}/${Deno.pid}.${state}`;
  }

  /** Serves, and resolves when this process may end. */
  async serve(): Promise<void> {
    void this.#accept();
    void this.#watchMinion();
    print(READY);
    await this.#done.promise;
  }

  /** Removes the socket and the keeper's own file. */
  remove(): void {
    this.#close();
    for (const state of ["keeper", "alone"] as const) removeIfExists(this.#file(state));
  }

  #close(): void {
    try {
      this.#listener.close();
    } catch {
      // It is closed.
    }
    removeIfExists(this.#place.socket);
  }

  /** Starts the timer that ends a keeper without commands. */
  #rest(): void {
    clearTimeout(this.#idleTimer);
    this.#idleTimer = setTimeout(() => this.#running.length === 0 && this.#done.resolve(), IDLE_MS);
  }

  get #running(): Command[] {
    return [...this.#commands].filter(({ outcome }) => outcome === undefined);
  }

  async #watchMinion(): Promise<void> {
    try {
      for await (const _ of Deno.stdin.readable);
    } catch (error) {
      print(`it lost its minion: ${messageOf(error)}`);
    }
    this.#alone = true;
    this.#close();
    // Somebody may have emptied the cache directory meanwhile.
    const directory = detachedDirectory(this.#place.cachedir);
    this.#record("its commands", () => Deno.mkdirSync(directory, { recursive: true, mode: 0o700 }));
    for (const command of this.#commands) this.#note(command);
    this.#record("that it is alone", () => {
      writeFileAtomic(this.#file("alone"), this.#self.at, { mode: 0o600 });
      removeIfExists(this.#file("keeper"));
    });
    this.#endIfDone();
  }

  /** Writes a record; a failure is told, and the commands go on. */
  #record(what: string, write: () => void): void {
    try {
      write();
    } catch (error) {
      print(`it cannot record ${what}: ${messageOf(error)}`);
    }
  }

  #endIfDone(): void {
    if (this.#alone && this.#running.length === 0) this.#done.resolve();
  }

  #note({ request, pid, outcome }: Command): void {
    if (request.hidden || pid === 0) return;
    const { jid, number, spec } = request;
    const detached: DetachedCommand = {
      jid,
      number,
      words: spec.argv,
      process: markOf(pid),
      keeper: this.#self,
      ...outcome !== undefined && { outcome },
    };
    this.#record(`a command of job ${jid}`, () => writeDetached(this.#place.cachedir, detached));
  }

  async #accept(): Promise<void> {
    for await (const connection of this.#listener) {
      void this.#serveCommand(connection).catch((error) => {
        print(`it dropped a connection: ${messageOf(error)}`);
      });
    }
  }

  async #serveCommand(connection: Deno.UnixConn): Promise<void> {
    using minion = new Minion(connection);
    const request = await minion.request();
    if (request === undefined) return;
    if (!isJid(request.jid)) return minion.send({ kind: "failed", reason: "no job has this id" });
    const command: Command = { request, pid: 0 };
    this.#commands.add(command);
    clearTimeout(this.#idleTimer);
    const ending = new AbortController();
    void minion.aborted().then((aborted) => aborted && ending.abort(new Error("The job was told to end")));
    try {
      const outcome = await runChild(request.spec, {
        signal: ending.signal,
        timeoutMs: request.timeoutMs,
        outputMax: request.outputMax,
        child(pid, state) {
          if (state === "ended") return;
          command.pid = pid;
          minion.send({ kind: "started", pid });
        },
        ...request.watched && { output: (stream, bytes) => minion.send({ kind: "output", stream, bytes }) },
      });
      command.outcome = outcome;
      if (this.#alone) return this.#note(command);
      minion.send({ kind: "ended", outcome });
      this.#memory.worked(COMMAND_BYTES + outcome.stdout.length + outcome.stderr.length);
      await minion.sent();
      this.#hold(command);
    } catch (error) {
      this.#commands.delete(command);
      minion.send({ kind: "failed", reason: messageOf(error) });
      await minion.sent();
    } finally {
      if (!this.#alone) this.#rest();
      this.#endIfDone();
    }
  }

  /** Keeps an outcome for a while: a minion that dies now has not written the return. */
  #hold(command: Command): void {
    const sizeOf = ({ outcome }: Command) => (outcome?.stdout.length ?? 0) + (outcome?.stderr.length ?? 0);
    setTimeout(() => this.#commands.delete(command), HOLD_MS);
    const held = [...this.#commands].filter(({ outcome }) => outcome !== undefined);
    let bytes = held.reduce((sum, one) => sum + sizeOf(one), 0);
    for (const one of held) {
      if (bytes <= HELD_BYTES) break;
      bytes -= sizeOf(one);
      this.#commands.delete(one);
    }
  }
}

/** The minion's end of a connection. */
class Minion implements Disposable {
  readonly #connection: Deno.UnixConn;
  readonly #reader: ReadableStreamDefaultReader<Uint8Array>;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #frames = new FrameReader(MAX_KEEPER_MESSAGE);
  #last: Promise<void> = Promise.resolve();
  /** Whether {@linkcode ABORT} came together with the request. */
  #isAborted = false;

  constructor(connection: Deno.UnixConn) {
    this.#connection = connection;
    this.#reader = connection.readable.getReader();
    this.#writer = connection.writable.getWriter();
  }

  /**
   * The request; `undefined` if the minion has closed the connection before.
   * @throws {WireError}
   */
  async request(): Promise<KeeperRequest | undefined> {
    for (;;) {
      const { value, done } = await this.#reader.read();
      if (done) return undefined;
      const [first, ...more] = this.#frames.push(value);
      if (first === undefined) continue;
      this.#isAborted = more.length > 0;
      return parseKeeperRequest(first.content);
    }
  }

  /** Resolves with whether the minion has sent {@linkcode ABORT}; a closed connection does not count. */
  async aborted(): Promise<boolean> {
    if (this.#isAborted) return true;
    try {
      for (;;) {
        const { value, done } = await this.#reader.read();
        if (done) return false;
        if (this.#frames.push(value).length > 0) return true;
      }
    } catch {
      return false; // the minion has gone, or this process has closed the connection
    }
  }

  /** Sends an answer; nothing happens if the minion has gone. */
  send(answer: KeeperAnswer): void {
    this.#last = this.#writer.write(packAnswer(answer)).catch(() => {});
  }

  /** Resolves when all answers are sent, or cannot be. */
  async sent(): Promise<void> {
    await this.#last;
  }

  [Symbol.dispose](): void {
    try {
      this.#connection.close();
    } catch {
      // The streams have closed it.
    }
  }
}
