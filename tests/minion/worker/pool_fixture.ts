/**
 * A minion's pool of jobs for a test, with a custom module whose functions hang, die and leave.
 * @module
 */

import { JobPool } from "#lib/minion/worker/job_pool.ts";
import { type HostData, type MinionRequest, pack } from "#lib/minion/worker/job_protocol.ts";
import { packOpts } from "#lib/config/opts_transfer.ts";
import { sendSignal } from "#lib/libc/libc.ts";
import { map, type Value, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { eventually, WITHIN_MS } from "#tests/support/eventually.ts";
import { testOpts } from "#tests/support/calls/job_context.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";

/** A custom module with functions that a minion has to survive. It is indented: its exports are none of this file. */
const MODULE = `
  const stamp = Math.random();
  export function forever() { for (;;); }
  export function thread() { return stamp; }
  export function version() { return 1; }
  export async function wait(path) {
    for (;;) {
      try {
        const text = Deno.readTextFileSync(path);
        if (text !== "") return text; // made, and not yet written
      } catch { /* not yet made */ }
      await new Promise((resolve) => setTimeout(resolve, 5));
    }
  }
  wait.permissions = { read: true };
  export function die() { return new Promise(() => setTimeout(() => { throw new Error("out of the blue"); })); }
  export function leave() { return new Promise(() => Deno.exit(3)); }
  export function reject() { Promise.reject(new Error("nobody watches")); return new Promise(() => {}); }
  export async function ask(action) { return await new Promise(() => {}); }
`;

/** A job that was started, and what will come of it. */
interface StartedJob {
  readonly jid: string;
  readonly outcome: Promise<ValueMap>;
}

/** A pool of jobs with the module `own`, and the requests of its jobs to the minion. */
export class PoolFixture implements AsyncDisposable {
  readonly root = Deno.makeTempDirSync({ prefix: "pool_" });
  readonly requests: MinionRequest[] = [];
  readonly lines: string[];
  readonly pool: JobPool;
  answer: (request: MinionRequest) => Promise<Value> = () => Promise.resolve(true);
  #jids = 0;

  /** @param termMs The time limit for a job to end itself. Default: enough for a busy machine. */
  constructor(termMs = WITHIN_MS, threadUrl?: URL, options: Readonly<Record<string, Value>> = {}) {
    this.write("own", MODULE);
    const { log, lines } = memoryLog();
    this.lines = lines;
    this.pool = new JobPool({
      opts: packOpts("minion", testOpts({ root_dir: this.root, extension_modules: `${this.root}/ext`, ...options })),
      hostData: hostData({ os: "Debian" }),
      log,
      termMs,
      threadUrl,
      answer: (request) => {
        this.requests.push(request);
        return this.answer(request);
      },
    });
  }

  /** Writes a custom module. */
  write(module: string, text: string): void {
    Deno.mkdirSync(`${this.root}/ext/modules`, { recursive: true });
    Deno.writeTextFileSync(`${this.root}/ext/modules/${module}.js`, text);
  }

  /** Starts a job without waiting for its end. */
  start(fun: Value, ...arg: Value[]): StartedJob {
    const jid = `2026010100000000${String(++this.#jids).padStart(4, "0")}`;
    const load = map({ jid, fun, arg, tgt: "*", tgt_type: "glob", ret: "", user: "root" });
    return { jid, outcome: this.pool.run(load) };
  }

  /**
   * Runs a job.
   * @returns Its return.
   */
  async run(fun: Value, ...arg: Value[]): Promise<Value> {
    return (await this.start(fun, ...arg).outcome).get("return") ?? null;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.pool.close();
    Deno.removeSync(this.root, { recursive: true });
  }
}

/** What a pool is told of its host. */
export const hostData = (grains: Record<string, unknown>): HostData => ({
  grains: pack(map(grains)),
  pillar: pack(new Map()),
});

/** What comes of a promise within a time. */
export async function inTime<T>(outcome: Promise<T>, what: string, withinMs = WITHIN_MS): Promise<T> {
  let timer;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`${what} did not come in ${withinMs} ms`)), withinMs);
  });
  try {
    return await Promise.race([outcome, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** The outcome of a job that a signal has ended. */
export const endedBy = (signal: number): ValueMap =>
  map({ return: `The job was ended by signal ${signal}`, retcode: 1, success: false, out: "nested" });

/**
 * Starts a command of a job that writes its pid and sleeps.
 * @returns The job, and the pid of the sleeping command.
 */
export async function startSleeper(
  fixture: PoolFixture,
  shell = "sleep 600",
): Promise<{ readonly job: StartedJob; readonly pids: number[] }> {
  const path = `${fixture.root}/pid`;
  const job = fixture.start(
    "cmd.run",
    `echo $$ > ${path}; ${shell} & echo $! >> ${path}; wait`,
    map({ __kwarg__: true, python_shell: true }),
  );
  const pids = await eventually(() => {
    const lines = Deno.readTextFileSync(path).trim().split("\n");
    return lines.length === 2 && lines.map(Number);
  }, { what: "the command" });
  assertEquals(pids.map((pid) => sendSignal(pid, 0)), [true, true]);
  // The shell can be faster than the worker's record of the started process; a worker that describes itself has
  // recorded it.
  await eventually(async () => (await fixture.pool.describe()).some((line) => line.endsWith(`for job ${job.jid}`)), {
    what: "the description of the job's worker",
  });
  return { job, pids };
}

/** Whether a process is there, and is no zombie. */
export function isAlive(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(Deno.readTextFileSync(`/proc/${pid}/status`));
  } catch {
    return false;
  }
}

/**
 * Waits until a job of a custom module has started.
 * @returns Its process id.
 */
export async function untilBegun(fixture: PoolFixture, jid: string): Promise<number> {
  await eventually(async () => (await fixture.pool.describe()).some((line) => line.endsWith(`for job ${jid}`)), {
    what: `the beginning of job ${jid}`,
  });
  const job = fixture.pool.running().find((running) => running.jid === jid);
  assert(job !== undefined && job.pid !== null && job.pid !== Deno.pid);
  return job.pid;
}

/** Waits until processes have ended. */
export async function untilEnded(pids: number[]): Promise<void> {
  await eventually(() => !pids.some(isAlive), { what: `the end of ${pids}` });
}
