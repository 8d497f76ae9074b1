/**
 * The threads of a service in this process, to be ended one by one.
 * @module
 */

/** Every worker that was started, by name: what a thread of a master cannot do to itself, a test does to it. */
export class ObservedWorkers implements Disposable {
  readonly #started = new Map<string, Worker[]>();
  readonly #original = globalThis.Worker;

  /** Observes every worker that is made from now on. */
  constructor() {
    const started = this.#started;
    globalThis.Worker = class extends Worker {
      constructor(url: string | URL, options?: WorkerOptions) {
        super(url, options);
        const name = options?.name ?? "";
        started.set(name, [...started.get(name) ?? [], this]);
      }
    };
  }

  /** How many workers of that name were started. */
  count(name: string): number {
    return this.#started.get(name)?.length ?? 0;
  }

  /** Ends the worker in the middle of whatever it does, as a fault of the runtime would. */
  kill(name: string): void {
    const worker = this.#started.get(name)?.at(-1);
    if (worker === undefined) throw new Error(`no worker ${name}`);
    worker.terminate();
    worker.dispatchEvent(new ErrorEvent("error", { message: "killed by the test", cancelable: true }));
  }

  /** Makes workers as before. */
  [Symbol.dispose](): void {
    globalThis.Worker = this.#original;
  }
}
