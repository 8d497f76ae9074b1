/**
 * A lock that threads and processes share: a lock on a file, which ends with its holder. Waiting is bounded, because a
 * stopped process keeps its locks.
 * @module
 */

/** Maximum time of waiting, and time between two tries, in milliseconds. */
const MAX_WAIT_MS = 2_000, TRY_MS = 2;

const never = new Int32Array(new SharedArrayBuffer(4));

/**
 * Takes a lock, which ends when the result is disposed. Blocks the thread until it has it.
 * @param path The lock file; it is made, its directory too.
 * @returns Nothing if another one keeps it too long.
 * @throws What opening the file throws.
 */
export function takeFileLock(path: string): Disposable | undefined {
  const file = openLock(path);
  const until = performance.now() + MAX_WAIT_MS;
  while (!file.tryLockSync(true)) {
    if (performance.now() > until) {
      file.close();
      return undefined;
    }
    Atomics.wait(never, 0, 0, TRY_MS);
  }
  return file;
}

/**
 * Runs `run` while nobody else has the lock.
 * @returns The result of `run`; `undefined` if another one keeps the lock too long.
 * @throws What `run` throws, and what {@linkcode takeFileLock} throws.
 */
export function withFileLock<T>(path: string, run: () => T): T | undefined {
  using lock = takeFileLock(path);
  return lock === undefined ? undefined : run();
}

function openLock(path: string): Deno.FsFile {
  const options: Deno.OpenOptions = { read: true, write: true, create: true, mode: 0o600 };
  try {
    return Deno.openSync(path, options);
  } catch (error) {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
    Deno.mkdirSync(path.slice(0, path.lastIndexOf("/")), { recursive: true, mode: 0o700 });
    return Deno.openSync(path, options);
  }
}
