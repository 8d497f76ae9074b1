/**
 * A service in a Web Worker: started with its settings; it reports its current activity, is stopped on request, and its
 * death is detected.
 *
 * Both sides of the few messages are here; the service itself is in another file.
 * @module
 */

import { describeError, messageOf } from "#lib/errors.ts";
import type { LogRecord } from "./log.ts";
import { type Logger, postingLogger } from "./log.ts";
import { newestWorkerTask, type ThreadTask } from "./thread_task.ts";
import { TimeBudget } from "#lib/os/time_budget.ts";
import { clearTimeout, setTimeout, type Timer } from "#lib/os/timers.ts";

/** A service, as its thread uses it. */
export interface ThreadService {
  /** Its current activity, in one line. */
  describe(): string;
  /**
   * Takes a message of the service's own from the thread that started it; one that comes while it starts, when it has
   * started.
   */
  onMessage?(message: unknown): void;
  /** Ends it; sockets are closed when it resolves. After `budget` the thread is ended by force. */
  close(budget: TimeBudget): Promise<void>;
}

/** The services of the starting thread for a service. */
export interface ThreadHost {
  /** A log that ends in the starting thread's. */
  readonly log: Logger;
  /** Sends a message of the service's own to the thread that started it. */
  post(message: unknown): void;
  /** Ends this thread as dead, because it cannot continue. */
  fail(reason: string): void;
}

type ToThread =
  | { readonly kind: "start"; readonly init: unknown; readonly logLevel: number; readonly logName: string }
  | { readonly kind: "describe" }
  | { readonly kind: "stop"; readonly withinMs: number }
  | { readonly kind: "own"; readonly message: unknown };

type FromThread =
  | { readonly kind: "ready" }
  | { readonly kind: "failed"; readonly reason: string }
  | { readonly kind: "log"; readonly record: LogRecord }
  | { readonly kind: "description"; readonly text: string }
  | { readonly kind: "stopped" }
  | { readonly kind: "own"; readonly message: unknown };

/** The worker's global scope, as far as it is used here; the types of the main scope do not have it. */
interface WorkerScope {
  postMessage(message: FromThread): void;
  onmessage: ((event: MessageEvent<ToThread>) => void) | null;
  close(): void;
}

/**
 * Runs a service in this worker: the whole body of a worker's file.
 * @param start Makes the service from its settings; `init` is what the starter passed, of the same build.
 */
export function serveThread<Init>(
  start: (init: Init, host: ThreadHost) => Promise<ThreadService>,
): void {
  const scope = globalThis as unknown as WorkerScope;
  let service: ThreadService | undefined;
  const early: unknown[] = [];
  scope.onmessage = async ({ data }) => {
    switch (data.kind) {
      case "start":
        try {
          service = await start(data.init as Init, {
            log: postingLogger((record) => scope.postMessage({ kind: "log", record }), data.logLevel, data.logName),
            post: (message) => scope.postMessage({ kind: "own", message }),
            fail: (reason) => scope.postMessage({ kind: "failed", reason }),
          });
          scope.postMessage({ kind: "ready" });
          for (const message of early.splice(0)) service.onMessage?.(message);
        } catch (error) {
          scope.postMessage({ kind: "failed", reason: messageOf(error) });
        }
        break;
      case "describe":
        scope.postMessage({ kind: "description", text: service?.describe() ?? "starting" });
        break;
      case "own":
        if (service === undefined) early.push(data.message);
        else service.onMessage?.(data.message);
        break;
      case "stop":
        await service?.close(new TimeBudget(data.withinMs));
        scope.postMessage({ kind: "stopped" });
        scope.close();
        break;
    }
  };
}

/**
 * Keeps this thread alive after an uncaught error, a rejection or a timer's: the error is logged instead. For services
 * with sockets, in which the requests of others wait that would be lost with the thread.
 * @returns What ends it.
 */
export function surviveErrors(log: Logger): () => void {
  const report = (error: unknown) => log.critical(`An uncaught error: ${describeError(error)}`);
  const onRejection = (event: PromiseRejectionEvent) => {
    event.preventDefault();
    report(event.reason);
  };
  const onError = (event: ErrorEvent) => {
    event.preventDefault();
    report(event.error);
  };
  globalThis.addEventListener("unhandledrejection", onRejection);
  globalThis.addEventListener("error", onError);
  return () => {
    globalThis.removeEventListener("unhandledrejection", onRejection);
    globalThis.removeEventListener("error", onError);
  };
}

/** How a thread is started. */
export interface ThreadOptions<Init> {
  /** As it appears in logs: `MWorker-1`. */
  readonly name: string;
  /** The file of the service. */
  readonly url: URL;
  /** Its settings; they must survive structured clone. Ports among them are handed over. */
  readonly init: Init;
  /** The receiver of the thread's log records. */
  readonly log: Logger;
  /** Its Deno permissions. Default: those of this thread. */
  readonly permissions?: Deno.PermissionOptions;
  /** Milliseconds that it may take to start. Default: 30,000. */
  readonly startMs?: number;
  /** Called once if the thread ends unexpectedly. */
  onDeath?(reason: string): void;
  /** Called with the service's own messages. */
  onMessage?(message: unknown): void;
}

const START_MS = 30_000;
/** Default time limit for ending a service. */
const STOP_MS = 1_000;

/** The ports among the settings of a service. */
function portsIn(init: unknown): MessagePort[] {
  const settings = typeof init === "object" && init !== null ? Object.values(init) : [];
  return settings.filter((value) => value instanceof MessagePort);
}

/** A running service, as the thread that started it uses it. */
export class Thread<Init> {
  /** As it appears in logs. */
  readonly name: string;
  /** Resolves when the service runs; rejects if it cannot. */
  readonly ready: Promise<void>;
  /** The system's thread. */
  readonly task: ThreadTask;
  readonly #worker: Worker;
  readonly #options: ThreadOptions<Init>;
  readonly #stopped = Promise.withResolvers<void>();
  readonly #startTimer: Timer;
  #descriptions: ((text: string) => void)[] = [];
  #ending = false;
  #serving = false;

  constructor(options: ThreadOptions<Init>) {
    this.name = options.name;
    this.#options = options;
    const ready = Promise.withResolvers<void>();
    this.ready = ready.promise;
    this.ready.catch(() => {}); // a caller may await it, but need not
    const startMs = options.startMs ?? START_MS;
    this.#startTimer = setTimeout(() => this.#die("did not start in time", ready.reject), startMs);
    this.#worker = new Worker(options.url, {
      type: "module",
      name: options.name,
      ...(options.permissions !== undefined && { deno: { permissions: options.permissions } }),
    });
    this.task = newestWorkerTask();
    this.task.name(options.name);
    this.#worker.onmessage = ({ data }: MessageEvent<FromThread>) => {
      switch (data.kind) {
        case "ready":
          clearTimeout(this.#startTimer);
          this.#serving = true;
          return ready.resolve();
        case "failed":
          return this.#die(data.reason, ready.reject);
        case "log":
          return options.log.write(data.record);
        case "description":
          return this.#descriptions.shift()?.(data.text);
        case "own":
          return options.onMessage?.(data.message);
        case "stopped":
          return this.#stopped.resolve();
      }
    };
    this.#worker.onerror = (event) => {
      // Unhandled, the error of a worker would end the whole process.
      event.preventDefault();
      this.#die(event.message, ready.reject);
    };
    const start: ToThread = {
      kind: "start",
      init: options.init,
      logLevel: options.log.lowest,
      logName: options.log.name,
    };
    this.#worker.postMessage(start, { transfer: portsIn(options.init) });
  }

  #die(reason: string, reject: (error: Error) => void): void {
    if (this.#ending) return;
    this.#ending = true;
    clearTimeout(this.#startTimer);
    reject(new Error(`${this.name}: ${reason}`));
    this.#worker.terminate();
    this.#stopped.resolve();
    for (const answer of this.#descriptions.splice(0)) answer("dead");
    this.#options.onDeath?.(reason);
  }

  /**
   * Sends a message of the service's own.
   * @param transfer Ports in it, which are handed over.
   */
  post(message: unknown, transfer: readonly MessagePort[] = []): void {
    const own: ToThread = { kind: "own", message };
    this.#worker.postMessage(own, { transfer: [...transfer] });
  }

  /** The current activity of the service, or a text that it did not answer within `timeoutMs`. */
  async describe(timeoutMs = 1_000): Promise<string> {
    if (this.#ending) return "ended";
    const answer = Promise.withResolvers<string>();
    this.#descriptions.push(answer.resolve);
    const timer = setTimeout(() => answer.resolve(`busy: no answer in ${timeoutMs} ms`), timeoutMs);
    const ask: ToThread = { kind: "describe" };
    this.#worker.postMessage(ask);
    try {
      return await answer.promise;
    } finally {
      clearTimeout(timer);
    }
  }

  /** Ends the service, by force when `budget` is over, which is logged. May be called more than once. */
  async stop(budget = new TimeBudget(STOP_MS)): Promise<void> {
    if (!this.#ending) {
      this.#ending = true;
      const withinMs = budget.leftMs;
      const stop: ToThread = { kind: "stop", withinMs };
      this.#worker.postMessage(stop);
      clearTimeout(this.#startTimer);
      // A service that is still starting has no work to lose.
      if (!await budget.allows(this.#stopped.promise) && this.#serving) {
        this.#options.log.warning(`${this.name} did not end within ${Math.round(withinMs)} ms, and is ended by force`);
      }
      this.#stopped.resolve();
      this.#worker.terminate();
    }
    await this.#stopped.promise;
  }

  /** Ends the thread at once, whatever it is doing. */
  kill(): void {
    this.#ending = true;
    clearTimeout(this.#startTimer);
    this.#worker.terminate();
    this.#stopped.resolve();
  }
}
