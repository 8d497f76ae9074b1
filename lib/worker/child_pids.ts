/**
 * The pids of the commands that a thread is running, in memory that it shares with the thread that started it: a message
 * would be lost with a thread that is ended while it is on its way, and the command would outlive its job.
 * @module
 */

/** How many commands a thread may run at once and still have all of them ended with it. */
const SLOTS = 256;

/** The pids, as one of the two threads sees them. */
export class ChildPids {
  /** What the other thread makes its own view of. */
  readonly memory: SharedArrayBuffer;
  readonly #pids: Int32Array;

  /** Makes an empty list, or a view of another thread's. */
  constructor(memory?: SharedArrayBuffer) {
    this.memory = memory ?? new SharedArrayBuffer(SLOTS * Int32Array.BYTES_PER_ELEMENT);
    this.#pids = new Int32Array(this.memory);
  }

  /** Notes that a command was started. Only the thread that starts commands may write. */
  add(pid: number): void {
    const free = this.#pids.indexOf(0);
    if (free >= 0) Atomics.store(this.#pids, free, pid);
  }

  /** Notes that it has ended. */
  delete(pid: number): void {
    const at = this.#pids.indexOf(pid);
    if (at >= 0) Atomics.store(this.#pids, at, 0);
  }

  /** Forgets all: what runs on is no business of the next job. */
  clear(): void {
    for (let i = 0; i < SLOTS; i++) Atomics.store(this.#pids, i, 0);
  }

  /** The commands that run now. */
  list(): number[] {
    return [...this.#pids].filter((pid) => pid !== 0);
  }
}
