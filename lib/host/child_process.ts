/**
 * One child process in a process group of its own: fed, read to the end, and killed with all its descendants when its time
 * is over or its job ends. Knows nothing of shells, users or Salt's arguments.
 *
 * As with Python's `communicate()`, a child is done when it has exited *and* both pipes are closed: a grandchild that
 * holds one keeps the caller waiting until the timeout.
 * @module
 */

/** What to start. */
export interface ChildSpec {
  /** The program and its arguments. */
  readonly argv: readonly string[];
  /** Absolute path of the directory to start in. */
  readonly cwd: string;
  /** The whole environment: nothing is inherited. */
  readonly env: Readonly<Record<string, string>>;
  /** User and primary group to become; supplementary groups are dropped then. */
  readonly user?: { readonly uid: number; readonly gid: number };
  /** What the child reads; without it, it reads end of file at once. */
  readonly stdin?: Uint8Array;
}

/** How long a child may run, and who hears of it. */
export interface ChildCare {
  /** Milliseconds after which its group is killed. */
  readonly timeoutMs?: number;
  /** When aborted, the group is killed and the wait rejects with the signal's reason. */
  readonly signal: AbortSignal;
  /** Told the child's pid when it starts and when nothing of it is waited for any more. */
  child(pid: number, state: "started" | "ended"): void;
  /** Told what the child writes, as it is read. */
  output?(stream: "stdout" | "stderr", bytes: Uint8Array): void;
  /** Bytes that are kept of what it writes, both outputs together; what comes after them is read and dropped. */
  readonly outputMax: number;
}

/** What became of a child. */
export interface ChildOutcome {
  /** Its process id, and its group's. */
  readonly pid: number;
  /** The exit code, or the negative number of the signal that ended it. */
  readonly retcode: number;
  /** Empty if the time ran out. */
  readonly stdout: Uint8Array;
  /** Empty if the time ran out. */
  readonly stderr: Uint8Array;
  /** Whether the time ran out. */
  readonly timedOut: boolean;
  /** Bytes that the child wrote and that were dropped. */
  readonly dropped: { readonly stdout: number; readonly stderr: number };
}

/**
 * Runs a child to its end.
 * @throws {Error} Whatever `Deno.Command` throws if it cannot be started; the reason of `care.signal` if that aborts.
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
    // A descendant that left the group may hold the pipes for ever.
    for (const reader of readers) reader.cancel().catch(() => {});
    writer?.abort().catch(() => {});
  };
  care.signal.addEventListener("abort", stop);
  if (care.signal.aborted) stop(); // whoever heard of the child may have ended the job at once
  const timer = care.timeoutMs === undefined ? undefined : setTimeout(() => {
    timedOut = true;
    stop();
  }, Math.max(0, care.timeoutMs));

  const room = { bytes: care.outputMax };
  try {
    const [status, stdout, stderr] = await Promise.all([
      child.status,
      readAll(readers[0], room, (bytes) => care.output?.("stdout", bytes)),
      readAll(readers[1], room, (bytes) => care.output?.("stderr", bytes)),
      writer === undefined ? undefined : feed(writer, spec.stdin ?? new Uint8Array()),
    ]);
    care.signal.throwIfAborted();
    const retcode = status.signal === null ? status.code : 128 - status.code;
    const nothing = new Uint8Array();
    return {
      pid: child.pid,
      retcode,
      stdout: timedOut ? nothing : stdout.bytes,
      stderr: timedOut ? nothing : stderr.bytes,
      timedOut,
      dropped: { stdout: stdout.dropped, stderr: stderr.dropped },
    };
  } finally {
    clearTimeout(timer);
    care.signal.removeEventListener("abort", stop);
    care.child(child.pid, "ended");
  }
}

/** Starts a child that outlives the job, reads nothing and says nothing. @returns Its pid. */
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

function killGroup(pid: number): void {
  try {
    Deno.kill(-pid, "SIGKILL");
  } catch {
    // Nobody is left, which is what was wanted.
  }
}

/** Reads to the end, and keeps what there is room for. @param room Of both outputs: what one has taken the other has not. */
async function readAll(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  room: { bytes: number },
  told: (bytes: Uint8Array) => void,
): Promise<{ readonly bytes: Uint8Array; readonly dropped: number }> {
  const chunks: Uint8Array[] = [];
  let length = 0;
  let dropped = 0;
  for (;;) {
    const { value, done } = await reader.read();
    if (done) break;
    told(value);
    const kept = Math.min(value.length, room.bytes);
    dropped += value.length - kept;
    if (kept === 0) continue;
    room.bytes -= kept;
    length += kept;
    // A piece of a piece would keep the whole.
    chunks.push(kept === value.length ? value : value.slice(0, kept));
  }
  if (chunks.length === 1) return { bytes: chunks[0], dropped };
  const whole = new Uint8Array(length);
  let at = 0;
  for (const chunk of chunks) {
    whole.set(chunk, at);
    at += chunk.length;
  }
  return { bytes: whole, dropped };
}

async function feed(writer: WritableStreamDefaultWriter<Uint8Array>, input: Uint8Array): Promise<void> {
  try {
    await writer.write(input);
    await writer.close();
  } catch {
    // A child need not read what it is given.
  }
}
