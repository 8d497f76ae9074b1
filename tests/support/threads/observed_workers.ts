/**
 * Records the workers of a service in this process, so that a test can terminate one of them.
 * @module
 */

/** All started workers by name. A test can terminate a thread of a master from outside. */
export class ObservedWorkers implements Disposable {
  readonly #started = new Map<string, Worker[]>();
  readonly #original = globalThis.Worker;

  /** Records every worker that is created from now on. */
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

  /** The number of workers started under that name. */
  count(name: string): number {
    return this.#started.get(name)?.length ?? 0;
  }

  /** Terminates the worker at any point of its work, as a fault of the runtime would. */
  kill(name: string): void {
    const worker = this.#started.get(name)?.at(-1);
    if (worker === undefined) throw new Error(`no worker ${name}`);
    worker.terminate();
    worker.dispatchEvent(new ErrorEvent("error", { message: "killed by the test", cancelable: true }));
  }

  /** Restores the original Worker class. */
  [Symbol.dispose](): void {
    globalThis.Worker = this.#original;
  }
}
