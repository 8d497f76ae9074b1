/**
 * One child process in a process group of its own: gets input, is read to the end, and is killed with all its
 * descendants at its timeout or when its job ends. Knows nothing of shells, users or Salt's arguments. As with Python's
 * `communicate()`, a child is done when it has exited and both pipes are closed: a grandchild that keeps a pipe open
 * makes the caller wait until the timeout.
 * @module
 */

import { clearTimeout, setTimeout } from "#lib/os/timers.ts";
import { killGroup } from "#lib/procfs/process_tree.ts";
import { joinBytes } from "#lib/values/join_bytes.ts";

/** The program to start. */
export interface ChildSpec {
  /** The program and its arguments. */
  readonly argv: readonly string[];
  /** Absolute path of the directory to start in. */
  readonly cwd: string;
  /** The complete environment; nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  /** User and primary group to run as; supplementary groups are dropped then. */
  readonly user?: { readonly uid: number; readonly gid: number };
  /** The child's input; without it the child reads end of file at once. */
  readonly stdin?: Uint8Array;
  /** Whether stderr becomes part of stdout's bytes, in the order in which both are read. */
  readonly joined?: boolean;
}

/** Limits of a child, and callbacks. */
export interface ChildCare {
  /** Milliseconds after which its group is killed. */
  readonly timeoutMs?: number;
  /** When aborted, the group is killed and the wait rejects with the signal's reason. */
  readonly signal: AbortSignal;
  /** Called with the pid when the child starts, and when it is no longer waited for. */
  child(pid: number, state: "started" | "ended"): void;
  /** Called with the child's output as it is read. */
  output?(stream: "stdout" | "stderr", bytes: Uint8Array): void;
  /** Maximum bytes of both outputs together that are kept; the rest is read and dropped. */
  readonly outputMax: number;
}

/** Runs a child to its end: {@linkcode runChild}, or a function that runs it in another process. */
export type ChildRunner = (spec: ChildSpec, care: ChildCare) => Promise<ChildOutcome>;

/** The result of a child. */
export interface ChildOutcome {
  /** Its process id, also that of its group. */
  readonly pid: number;
  /** The exit code, or the negative number of the signal that ended it. */
  readonly retcode: number;
  /** Empty after a timeout. */
  readonly stdout: Uint8Array;
  /** Empty after a timeout. */
  readonly stderr: Uint8Array;
  /** Whether the timeout was reached. */
  readonly timedOut: boolean;
  /** Number of output bytes that were dropped. */
  readonly dropped: { readonly stdout: number; readonly stderr: number };
}

/**
 * Runs a child to its end.
 * @throws {Error} What `Deno.Command` throws if it cannot be started; the reason of `care.signal` if that aborts.
 */
export async function runChild(spec: ChildSpec, care: ChildCare): Promise<ChildOutcome> {
  care.signal.throwIfAborted();
  const child = command(spec, "piped", spec.stdin === undefined ? "null" : "piped").spawn();
  care.child(child.pid, "started");

  const readers = [child.stdout.getReader(), child.stderr.getReader()];
  const writer = spec.stdin === undefined ? undefined : child.stdin.getWriter();
  let timedOut = false;
  const stop = () => {
    killGroup(child.pid);
    // A descendant that left the group may keep the pipes open forever.
    for (const reader of readers) reader.cancel().catch(() => {});
    writer?.abort().catch(() => {});
  };
  care.signal.addEventListener("abort", stop);
  if (care.signal.aborted) stop(); // the callback may have ended the job
  const timer = care.timeoutMs === undefined ? undefined : setTimeout(() => {
    timedOut = true;
    stop();
  }, Math.max(0, care.timeoutMs));

  const room = { bytes: care.outputMax };
  const stdout = new Kept(room);
  const stderr = spec.joined ? stdout : new Kept(room);
  try {
    const [status] = await Promise.all([
      child.status,
      readAll(readers[0], stdout, (bytes) => care.output?.("stdout", bytes)),
      readAll(readers[1], stderr, (bytes) => care.output?.("stderr", bytes)),
      writer === undefined ? undefined : feed(writer, spec.stdin ?? new Uint8Array()),
    ]);
    care.signal.throwIfAborted();
    const retcode = status.signal === null ? status.code : 128 - status.code;
    const nothing = new Uint8Array();
    return {
      pid: child.pid,
      retcode,
      stdout: timedOut ? nothing : stdout.bytes,
      stderr: timedOut || spec.joined ? nothing : stderr.bytes,
      timedOut,
      dropped: { stdout: stdout.dropped, stderr: spec.joined ? 0 : stderr.dropped },
    };
  } finally {
    clearTimeout(timer);
    care.signal.removeEventListener("abort", stop);
    care.child(child.pid, "ended");
  }
}

/**
 * Starts a child that outlives the job and has no input or output.
 * @returns Its pid.
 */
export function startInBackground(spec: ChildSpec): number {
  const child = command(spec, "null", "null").spawn();
  child.unref();
  return child.pid;
}

function command(spec: ChildSpec, output: "piped" | "null", stdin: "piped" | "null"): Deno.Command {
  const [program, ...args] = spec.argv;
  return new Deno.Command(program, {
    args,
    cwd: spec.cwd,
    env: spec.env,
    clearEnv: true,
    uid: spec.user?.uid,
    gid: spec.user?.gid,
    stdin,
    stdout: output,
    stderr: output,
    detached: true, // setsid(): the pid is also the process group's id
  });
}

/** Collects output up to the limit. */
class Kept {
  readonly #chunks: Uint8Array[] = [];
  /** Bytes left for both outputs together. */
  readonly #room: { bytes: number };
  /** Number of bytes that did not fit. */
  dropped = 0;

  constructor(room: { bytes: number }) {
    this.#room = room;
  }

  add(bytes: Uint8Array): void {
    const kept = Math.min(bytes.length, this.#room.bytes);
    this.dropped += bytes.length - kept;
    if (kept === 0) return;
    this.#room.bytes -= kept;
    // A slice of a chunk would keep the whole chunk in memory.
    this.#chunks.push(kept === bytes.length ? bytes : bytes.slice(0, kept));
  }

  get bytes(): Uint8Array {
    return this.#chunks.length === 1 ? this.#chunks[0] : joinBytes(this.#chunks);
  }
}

/** Reads to the end and keeps what fits. */
async function readAll(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  kept: Kept,
  onBytes: (bytes: Uint8Array) => void,
): Promise<void> {
  for (;;) {
    const { value, done } = await reader.read();
    if (done) return;
    onBytes(value);
    kept.add(value);
  }
}

async function feed(writer: WritableStreamDefaultWriter<Uint8Array>, input: Uint8Array): Promise<void> {
  try {
    await writer.write(input);
    await writer.close();
  } catch {
    // A child need not read its input.
  }
}
