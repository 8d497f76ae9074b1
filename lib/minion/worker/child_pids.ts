/**
 * The pids of the commands that a thread is running, in memory shared with the thread that started it. A message could
 * be lost when the thread is terminated, and the command would outlive its job.
 * @module
 */

/** Maximum number of commands of a thread that are ended together with it. */
const SLOTS = 256;

/** Place of the number of commands that outlive the minion, behind the pids. */
const KEPT = SLOTS;

/** The pids, as one of the two threads sees them. */
export class ChildPids {
  /** The other thread makes its own view of it. */
  readonly memory: SharedArrayBuffer;
  readonly #pids: Int32Array;

  /** @param memory The memory of the other thread's view; without it, an empty list is made. */
  constructor(memory?: SharedArrayBuffer) {
    this.memory = memory ?? new SharedArrayBuffer((SLOTS + 1) * Int32Array.BYTES_PER_ELEMENT);
    this.#pids = new Int32Array(this.memory);
  }

  /** Adds a started command. Only the thread that starts commands may write. */
  add(pid: number): void {
    const free = this.#pids.indexOf(0);
    if (free >= 0 && free < SLOTS) Atomics.store(this.#pids, free, pid);
  }

  /** Removes a command that has ended. */
  delete(pid: number): void {
    const at = this.#pids.indexOf(pid);
    if (at >= 0 && at < SLOTS) Atomics.store(this.#pids, at, 0);
  }

  /** Removes all: commands that still run do not belong to the next job. */
  clear(): void {
    for (let i = 0; i <= SLOTS; i++) Atomics.store(this.#pids, i, 0);
  }

  list(): number[] {
    return [...this.#pids.subarray(0, SLOTS)].filter((pid) => pid !== 0);
  }

  /** Counts a command that is given to the keeper (1), or whose outcome has come (-1). */
  countKeeperCommands(change: 1 | -1): void {
    Atomics.add(this.#pids, KEPT, change);
  }

  /** Whether a command of the job runs in the keeper, or is on its way there: it outlives the minion. */
  get hasKeeperCommands(): boolean {
    return Atomics.load(this.#pids, KEPT) > 0;
  }
}
