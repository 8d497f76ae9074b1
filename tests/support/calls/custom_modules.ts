/**
 * Custom modules in the processes of a minion.
 * @module
 */

import { packOpts } from "#lib/config/opts_transfer.ts";
import { JobPool } from "#lib/minion/worker/job_pool.ts";
import { pack } from "#lib/minion/worker/job_protocol.ts";
import { map, type Value, type ValueMap } from "#lib/values/value.ts";
import { assert } from "#tests/support/assert.ts";
import { testOpts } from "./job_context.ts";
import { eventually, WITHIN_MS } from "#tests/support/eventually.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";

/** The jobs of a minion with custom modules: texts of JavaScript, by name. */
export class CustomModules implements AsyncDisposable {
  /** The directory of the minion. */
  readonly root = Deno.makeTempDirSync({ prefix: "custom_" });
  /** The lines of its log. */
  readonly lines: string[];
  /** Its processes and threads. */
  readonly pool: JobPool;
  #jids = 0;

  constructor(
    modules: Readonly<Record<string, string>>,
    options: Readonly<Record<string, Value>> = {},
    grains: ValueMap = new Map(),
  ) {
    const directory = `${this.root}/ext/modules`;
    Deno.mkdirSync(directory, { recursive: true });
    for (const [name, text] of Object.entries(modules)) Deno.writeTextFileSync(`${directory}/${name}.js`, text);
    Deno.mkdirSync(`${this.root}/cache`);
    const { log, lines } = memoryLog();
    this.lines = lines;
    this.pool = new JobPool({
      opts: packOpts(
        "minion",
        testOpts({
          root_dir: this.root,
          cachedir: `${this.root}/cache`,
          extension_modules: `${this.root}/ext`,
          ...options,
        }),
      ),
      hostData: { grains: pack(grains), pillar: pack(new Map()) },
      log,
      termMs: 100,
      answer: () => Promise.resolve(true),
    });
  }

  /** Starts a job. */
  start(
    fun: string,
    arg: Value[] = [],
    fields: Record<string, Value> = {},
  ): { readonly jid: string; readonly outcome: ReturnType<JobPool["run"]> } {
    const jid = `2026010100000000${String(++this.#jids).padStart(4, "0")}`;
    return { jid, outcome: this.pool.run(map({ jid, fun, arg, tgt: "*", tgt_type: "glob", ret: "", ...fields })) };
  }

  /** The outcome of a job. */
  async job(fun: string, ...arg: Value[]): Promise<ValueMap> {
    return await soon(this.start(fun, arg).outcome, fun);
  }

  /** What a job returns. */
  async run(fun: string, ...arg: Value[]): Promise<Value> {
    return (await this.job(fun, ...arg)).get("return") ?? null;
  }

  /** The process of a running job, when its function has started. */
  async pidOf(jid: string): Promise<number> {
    await eventually(async () => (await this.pool.describe()).some((line) => line.endsWith(`for job ${jid}`)), {
      what: `the beginning of job ${jid}`,
    });
    const job = this.pool.running().find((running) => running.jid === jid);
    assert(job !== undefined && job.pid !== null && job.pid !== Deno.pid);
    return job.pid;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.pool.close();
    Deno.removeSync(this.root, { recursive: true });
  }
}

/**
 * The outcome of `what`.
 * @throws {Error} If it takes too long.
 */
export async function soon<T>(outcome: Promise<T>, what: string): Promise<T> {
  let timer;
  const late = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new Error(`the end of ${what} did not come in ${WITHIN_MS} ms`)), WITHIN_MS);
  });
  try {
    return await Promise.race([outcome, late]);
  } finally {
    clearTimeout(timer);
  }
}

/** Whether a process has not ended. */
export function lives(pid: number): boolean {
  try {
    return !/^State:\s+Z/m.test(Deno.readTextFileSync(`/proc/${pid}/status`));
  } catch {
    return false;
  }
}
