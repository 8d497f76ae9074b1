/**
 * The minion's side of a process that runs a custom module: starts it, limits it, is connected to it by a pipe, and
 * ends it with SIGKILL, which no code can block. An invalid message (module_messages.ts) ends it. A limited amount of
 * what it prints goes to the minion's log. Commands of its job are signalled only if the system confirms that they are
 * its children.
 * @module
 */

import { LibcError, messageOf } from "#lib/errors.ts";
import { frame, FrameReader, type FrameSender, type WireFrame } from "#lib/protocol/frames.ts";
import type { JobHost } from "./job_host.ts";
import type { FromModule, ModuleProcessInit, ToModule } from "./job_protocol.ts";
import { limitProcess } from "#lib/libc/limits.ts";
import { LEVEL_NUMBERS, levelName, type Logger } from "#lib/runtime/log.ts";
import { packMessage, parseFromModule } from "./module_messages.ts";
import { MAX_MESSAGE, type PumpMessage } from "./module_pump.ts";
import { childrenOf, processMemory, startedProcess } from "#lib/procfs/process_facts.ts";
import { ownProcess, V8_FLAGS } from "#lib/runtime/self_command.ts";
import { PrintedLines } from "#lib/os/deno_texts.ts";
import { sleep } from "#lib/os/sleep.ts";
import { clearInterval, clearTimeout, setInterval, setTimeout, type Timer } from "#lib/os/timers.ts";

/** The entry name of such a process. */
const MODULE_PROCESS = "salt-module-process";

/**
 * Descriptor 3 is the pipe to the minion; both outputs of the module share another pipe. A write beyond the file size
 * limit is an error, not a signal.
 */
const SHELL_LINE = `trap '' XFSZ; exec 3>&1 1>&2; exec "$@"`;

/** Maximum printed output of a job in the log: lines, and UTF-16 units of a line. */
const MAX_LINES = 1_000;
const MAX_LINE = 2_000;
/** Maximum number of unanswered requests of a job. */
const MAX_PENDING = 256;
/** Maximum number of known commands of a job. */
const MAX_CHILDREN = 256;
/** Interval of the memory checks where the kernel sets no limit, in milliseconds. */
const LOOK_MS = 250;
/** Time for a process to end after SIGKILL, in milliseconds; one that waits for a disk may take long. */
const ENDING_MS = 2_000;
/** Time to wait for the last messages of a process that has ended, in milliseconds. */
const LAST_WORDS_MS = 2_000;

/** Options of a {@linkcode ModuleProcess}. */
export interface ModuleProcessOptions {
  readonly name: string;
  readonly init: ModuleProcessInit;
  /** The Deno permissions of the module. */
  readonly permissions: Deno.PermissionOptions;
  /** Maximum memory in bytes. */
  readonly memory: number;
  readonly log: Logger;
  /** Whether its output must not be logged, because it may contain what a `no_log` job hides. */
  readonly silent?: boolean;
  /** Called with its messages, except those that are answered here. */
  onMessage(message: FromModule): void;
  /** Called once when the process has ended or was ended because of an error, with a sentence that gives the reason. */
  onEnd(text: string): void;
}

/** A running process. */
export class ModuleProcess implements JobHost {
  readonly name: string;
  /** Its commands end with it. */
  readonly hasKeeperCommands = false;
  readonly #options: ModuleProcessOptions;
  readonly #child: Deno.ChildProcess;
  readonly #writer: WritableStreamDefaultWriter<Uint8Array>;
  readonly #messages: ReadableStreamDefaultReader<Uint8Array>;
  readonly #printed: ReadableStreamDefaultReader<Uint8Array>;
  readonly #gone: Promise<void>;
  readonly #pending = new Set<number>();
  /** The commands of the job, with the system's start time of each. */
  readonly #children = new Map<number, string>();
  #waiting: ToModule[] | undefined = [];
  #lines = 0;
  #doing = "starting";
  readonly #printedLines = new PrintedLines();
  /** Whether it was ended because it used too much memory. */
  #overLimit = false;
  #lastPrinted = "";
  #ending = false;
  #watch: Timer | undefined;

  /**
   * Starts the process.
   * @throws {Error} If that fails.
   */
  constructor(options: ModuleProcessOptions) {
    this.name = options.name;
    this.#options = options;
    const limited = Deno.build.os === "linux";
    this.#child = new Deno.Command("/bin/sh", {
      args: ["-c", SHELL_LINE, "sh", ...ownProcess(MODULE_PROCESS)],
      // Where the kernel limits the process, the heap is limited too; an additional flag would invalidate V8's code
      // cache.
      env: limited ? {} : { DENO_V8_FLAGS: `${V8_FLAGS},--max-old-space-size=${Math.ceil(options.memory / 2 ** 20)}` },
      stdin: "piped",
      stdout: "piped",
      stderr: "piped",
      detached: true, // in a process group of its own, so that unreported commands end with it
    }).spawn();
    this.#writer = this.#child.stdin.getWriter();
    this.#messages = this.#child.stdout.getReader();
    this.#printed = this.#child.stderr.getReader();
    this.#send(0, new TextEncoder().encode(JSON.stringify(options.permissions)));
    this.#gone = this.#serve();
  }

  get pid(): number {
    return this.#child.pid;
  }

  /** Sends `message` to the process, or keeps it until the process has started. */
  send(message: ToModule): void {
    if (message.kind === "answer" || message.kind === "refused") this.#pending.delete(message.id);
    if (this.#waiting !== undefined) this.#waiting.push(message);
    else this.#send(1, packMessage(message));
  }

  /** The process itself reports whether its job has begun. */
  describe(): Promise<string> {
    return Promise.resolve(this.#doing);
  }

  /** Notes a new job, and the text for {@linkcode describe} after it has begun. */
  begin(doing: string): void {
    this.#lines = 0;
    this.#begun = doing;
  }
  #begun = "";

  commands(): number[] {
    return [...this.#children].filter(([pid, at]) => startedProcess(pid)?.at === at).map(([pid]) => pid);
  }

  async kill(): Promise<boolean> {
    this.#end();
    let timer: Timer | undefined;
    const late = new Promise<boolean>((resolve) => timer = setTimeout(() => resolve(false), ENDING_MS));
    const ended = await Promise.race([this.#gone.then(() => true), late]);
    clearTimeout(timer);
    return ended;
  }

  async stop(): Promise<void> {
    await this.kill();
  }

  /** Sends SIGKILL to the process and its group. */
  #end(): void {
    if (!this.#ending) this.#noteUnreported();
    this.#ending = true;
    clearInterval(this.#watch);
    for (const pid of [-this.#child.pid, this.#child.pid]) {
      try {
        Deno.kill(pid, "SIGKILL");
      } catch {
        // The process has ended, as intended; its group, or the process itself, may remain.
      }
    }
  }

  /** Records the commands that it has started but not reported yet: after its end their parent is unknown. */
  #noteUnreported(): void {
    if (!this.#startsPrograms) return;
    try {
      Deno.kill(this.#child.pid, "SIGSTOP"); // it cannot start more
    } catch {
      return; // it has ended, and its children have another parent
    }
    for (const pid of childrenOf(this.#child.pid)) this.#noteChild(pid, "started");
  }

  /** Whether it may start programs. */
  get #startsPrograms(): boolean {
    const { permissions } = this.#options;
    const granted: Deno.PermissionOptionsObject = typeof permissions === "object" ? permissions : {};
    return typeof permissions === "string" || [granted.run, granted.ffi].some(isGiven);
  }

  #fail(reason: string): void {
    this.#endSaying(`The module's process ended: ${reason}`);
  }

  #endSaying(text: string): void {
    if (this.#ending) return;
    this.#end();
    this.#options.onEnd(text);
  }

  async #serve(): Promise<void> {
    const reading = this.#readMessages().catch((error: unknown) => {
      this.#fail(`it sent an invalid message: ${messageOf(error)}`);
    });
    const printing = this.#readPrinted();
    const status = await this.#child.status;
    // The remaining processes of its group may keep the pipes open forever.
    await Promise.race([Promise.all([reading, printing]), sleep(LAST_WORDS_MS)]);
    this.#fail(this.#reasonOf(status));
    await Promise.all(
      // closed already
      [this.#messages.cancel(), this.#printed.cancel(), this.#writer.abort()].map((closing) => closing.catch(() => {})),
    );
    await Promise.all([reading, printing]);
  }

  #reasonOf({ signal, code }: Deno.CommandStatus): string {
    if (this.#overLimit || this.#printedLines.outOfMemory) {
      return `it needed more memory than it may have (custom_module_memory: ${this.#options.memory})`;
    }
    const what = signal === null ? `it ended with exit code ${code}` : `it was ended by ${signal}`;
    // Before the module is loaded, this output is the reason of the system or the runtime.
    if (this.#waiting !== undefined) return `${what} before it was ready: ${this.#lastPrinted}`;
    return this.#lastPrinted === "" ? what : `${what}; the last line it printed was: ${this.#lastPrinted}`;
  }

  #send(sender: FrameSender, content: Uint8Array): void {
    // If the process cannot read it any more, its end is noticed elsewhere.
    this.#writer.write(frame(sender, content)).catch(() => {});
  }

  async #readMessages(): Promise<void> {
    const frames = new FrameReader(MAX_MESSAGE);
    for (;;) {
      const { value, done } = await this.#messages.read();
      if (done || this.#ending) return;
      for (const one of frames.push(value)) this.#take(one);
    }
  }

  #take({ sender, content }: WireFrame): void {
    if (this.#ending) return;
    if (sender === 0) return this.#receiveFromPump(content);
    const message = parseFromModule(content);
    switch (message.kind) {
      case "ready":
        return this.#start();
      case "log":
        return this.#log(message.level, message.message);
      case "child":
        return this.#noteChild(message.pid, message.state);
      case "begun":
        this.#doing = this.#begun;
        return;
      case "ask":
        if (this.#pending.size >= MAX_PENDING || this.#pending.has(message.id)) {
          throw new RangeError("too many questions");
        }
        this.#pending.add(message.id);
        return this.#options.onMessage(message);
      case "done":
        this.#doing = "waiting for a job";
        this.#children.clear();
        return this.#options.onMessage(message);
      default:
        return this.#options.onMessage(message);
    }
  }

  #receiveFromPump(content: Uint8Array): void {
    const notice: Partial<PumpMessage> | null = JSON.parse(new TextDecoder().decode(content));
    const reason = String(notice?.reason).slice(0, MAX_LINE);
    if (notice?.started === true) return this.#fail(reason);
    this.#endSaying(`The permissions that the function declares cannot be given: ${reason}`);
  }

  /** Our own code is loaded: limits the process, then lets it load the module. */
  #start(): void {
    const waiting = this.#waiting;
    if (waiting === undefined) return;
    this.#waiting = undefined;
    this.#limit();
    this.send({ kind: "start", init: this.#options.init });
    for (const message of waiting) this.send(message);
  }

  #limit(): void {
    const { permissions, memory } = this.#options;
    const granted: Deno.PermissionOptionsObject = typeof permissions === "object" ? permissions : {};
    const now = processMemory(this.pid);
    if (this.#startsPrograms || now === undefined) {
      // Programs that it starts would inherit its limits.
      const max = memory + (now?.resident ?? 0);
      this.#watch = setInterval(() => {
        if ((processMemory(this.pid)?.resident ?? 0) <= max) return;
        this.#overLimit = true;
        this.#fail(this.#reasonOf({ success: false, code: 1, signal: "SIGKILL" }));
      }, LOOK_MS);
      return;
    }
    try {
      limitProcess(this.pid, { data: now.data + memory, core: 0, ...!isGiven(granted.write) && { fileSize: 0 } });
    } catch (error) {
      if (!(error instanceof LibcError)) throw error;
      this.#fail(`its memory cannot be limited: ${error.message}`);
    }
  }

  /** The module reports its commands; the system confirms that they are its children. */
  #noteChild(pid: number, state: "started" | "ended"): void {
    if (state === "ended") return void this.#children.delete(pid);
    const child = pid > 1 && this.#children.size < MAX_CHILDREN ? startedProcess(pid) : undefined;
    if (child?.parent === this.pid) this.#children.set(pid, child.at);
  }

  #log(level: number, message: string): void {
    const { log, silent } = this.#options;
    if (silent || ++this.#lines > MAX_LINES + 1) return;
    if (this.#lines > MAX_LINES) return log.warning(`${this.name}: further output is left out`);
    const levelOrInfo = levelName(level) in LEVELS ? level : LEVEL_NUMBERS.info;
    log.write({ level: levelOrInfo, name: "salt.modules", message: message.slice(0, MAX_LOGGED), timeMs: Date.now() });
  }

  /** Reads what the module or the runtime writes to standard output and standard error. */
  async #readPrinted(): Promise<void> {
    const decoder = new TextDecoder();
    let rest = "";
    for (;;) {
      const { value, done } = await this.#printed.read();
      const lines = (rest + (done ? decoder.decode() : decoder.decode(value, { stream: true }))).split("\n");
      rest = (done ? "" : lines.pop() ?? "").slice(0, MAX_LINE);
      for (const line of lines) {
        this.#printedLines.add(line);
        if (line.trim() === "") continue;
        this.#lastPrinted = line.slice(0, MAX_LINE);
        this.#log(LEVEL_NUMBERS.info, `${this.name} printed: ${line.slice(0, MAX_LINE)}`);
      }
      if (done) return;
    }
  }
}

/** Maximum length of a message that a module logs, in UTF-16 units. */
const MAX_LOGGED = 1 << 14;
const LEVELS: Readonly<Record<string, true>> = { CRITICAL: true, ERROR: true, WARNING: true, INFO: true, DEBUG: true };

function isGiven(permission: unknown): boolean {
  return permission !== undefined && permission !== false && permission !== "none" &&
    !(Array.isArray(permission) && permission.length === 0);
}
