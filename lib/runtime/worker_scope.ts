/**
 * The global scope of a worker that runs code of operators, and speaks with its process in bytes.
 * @module
 */

/** The scope, as far as it is used; the types of the main scope do not have it. */
export interface WorkerScope {
  postMessage(message: Uint8Array): void;
  onmessage: ((event: MessageEvent<unknown>) => void) | null;
  /** Web storage, which would write to the disk without the permission to write. */
  caches?: unknown;
}

/** What messages come to and go from, in a worker that runs a module or an engine. */
export const workerScope: WorkerScope = globalThis as unknown as WorkerScope;

/** Sends bytes to the process; bound, so that code of operators that changes the scope does not change it. */
export const postBytes: (message: Uint8Array) => void = workerScope.postMessage.bind(workerScope);
