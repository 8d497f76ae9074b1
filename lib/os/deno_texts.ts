/**
 * All functions that read texts of Deno, because there is no class, code or field with the same information. Another
 * version of Deno may have other texts: each function here has a test against the real runtime, and avoids the text if
 * possible. Texts of Deno's tools, which only scripts read, are in scripts/deno_output.ts.
 * @module
 */

/** An error of the operating system, from Deno's text. */
export interface SystemError {
  /** Its number, errno: 2. */
  readonly number: number;
  /** The system's text for it: `No such file or directory`. */
  readonly reason: string;
}

/** The system's text for an error, `No such file or directory`, or the error's own text if the system has none. */
export function systemReason(error: unknown): string {
  const own = error instanceof Error ? error.message : String(error);
  return error instanceof Error ? systemError(error)?.reason ?? own : own;
}

/** An error as Python's OSError shows it: `[Errno 2] No such file or directory: '/x'`. */
export function pythonOsError(error: unknown, path: string): string {
  const reason = error instanceof Error ? systemError(error) : undefined;
  return reason === undefined ? systemReason(error) : `[Errno ${reason.number}] ${reason.reason}: '${path}'`;
}

/**
 * The same, with the paths that Deno names: `[Errno 2] No such file or directory: '/x' -> '/y'`. Other errors have
 * their own text.
 */
export function pythonErrorText(error: unknown): string {
  const own = error instanceof Error ? error.message : String(error);
  const reason = error instanceof Error ? systemError(error) : undefined;
  if (reason === undefined) return own;
  const paths = /\(os error \d+\): \w+ ('.*')$/s.exec(own)?.[1];
  return `[Errno ${reason.number}] ${reason.reason}${paths === undefined ? "" : `: ${paths}`}`;
}

const ESRCH = 3;

/**
 * The error of the system that `error` is; `undefined` for one of Deno's own. `code` has the name alone, and not
 * always.
 */
export function systemError(error: Error): SystemError | undefined {
  const match = /(?:^|: )([^:]+) \(os error (\d+)\)/.exec(error.message);
  return match === null ? undefined : { number: Number(match[2]), reason: match[1] };
}

/** Whether an object does not exist any more: a file, a process, or a file of a process. */
export function isGone(error: unknown): boolean {
  // For ESRCH Deno has a class when it comes from a signal, and neither class nor code when it comes from a file of
  // /proc.
  return error instanceof Deno.errors.NotFound || (error instanceof Error && systemError(error)?.number === ESRCH);
}

/**
 * What a {@linkcode Deno.errors.NotCapable} refused: `read access to "/etc/shadow"`. `undefined` if its text is another
 * one.
 */
export function refusedAccess(error: Error): string | undefined {
  return /^Requires (.+?),? run again with/s.exec(error.message)?.[1];
}

/**
 * Whether a connection failed because the host name has no address, or is invalid. There is no class for the former.
 */
export function isUnknownHost(error: Error): boolean {
  return error instanceof URIError || (!("code" in error) && /^failed to lookup address/.test(error.message));
}

/**
 * Whether a line that a process wrote says that it had no more memory: V8, Rust or the system reports it, whichever
 * reaches the limit first.
 */
export function isOutOfMemory(line: string): boolean {
  return /out of memory|memory allocation of|allocation failed|cannot allocate memory|\(os error 12\)/i.test(line);
}

/** Reads the output of a process line by line, and decides whether it ended because of missing memory. */
export class PrintedLines {
  #outOfMemory = false;
  /**
   * Panics whose first lines were printed, and those whose reason was. Several threads may panic at once, line between
   * line.
   */
  #panics = 0;
  #reasons = 0;
  /** Places of panics whose reason is the next line. */
  #places = 0;

  /** The next line. */
  add(line: string): void {
    // Without memory for its stack a thread cannot be started, which the system reports as EAGAIN: pthread_create(3).
    // Deno has its own text for that, where it happens while V8 asks for a thread.
    this.#outOfMemory ||= isOutOfMemory(line) || line.includes("unable to create worker threads") ||
      (this.#panics > 0 && /resource temporarily unavailable/i.test(line));
    if (line.startsWith("Deno has panicked")) this.#panics++;
    else if (line.includes(" panicked at ")) this.#places++;
    else if (this.#places > 0 && line.trim() !== "") {
      this.#places--;
      this.#reasons++;
    }
  }

  /** A panic without a reason had no memory left to format the reason, which is printed after the first lines. */
  get outOfMemory(): boolean {
    return this.#outOfMemory || this.#panics > this.#reasons;
  }
}

/**
 * The number of a worker of this process by the name of its thread; `undefined` for other threads. Later workers have
 * higher ones.
 */
export function workerNumber(threadName: string): number | undefined {
  const number = /^worker-(\d+)$/.exec(threadName)?.[1];
  return number === undefined ? undefined : Number(number);
}
