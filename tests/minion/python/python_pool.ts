/**
 * A pool of jobs with plugins in Python, in a directory of its own.
 * @module
 */

import { JobPool } from "#lib/minion/worker/job_pool.ts";
import { pack } from "#lib/minion/worker/job_protocol.ts";
import { packOpts } from "#lib/config/opts_transfer.ts";
import { PythonZygote } from "#lib/python_bridge/zygote/zygote.ts";
import { which } from "#lib/programs/which.ts";
import { map, type Value, type ValueMap } from "#lib/values/value.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";
import { testOpts } from "#tests/support/calls/job_context.ts";

/** Files by their paths below `extension_modules`: `modules/br.py`. */
export type PluginFiles = Readonly<Record<string, string>>;

/** Options of a {@linkcode PythonPool}. */
export interface PythonPoolOptions {
  readonly options?: Readonly<Record<string, Value>>;
  /** More of them, which need its directory. */
  readonly configure?: (root: string) => Readonly<Record<string, Value>>;
  readonly grains?: ValueMap;
  readonly pillar?: ValueMap;
  /** Maximum number of processes of a job. */
  readonly processes?: number;
}

/** A pool, its zygote, and its directory, which is removed at the end. */
export class PythonPool implements AsyncDisposable {
  readonly root: string = Deno.makeTempDirSync({ prefix: "python_" });
  /** The lines of the log. */
  readonly lines: string[];
  /** What plugins printed, for jobs that hide nothing. */
  readonly printed: string[] = [];
  readonly pool: JobPool;
  readonly zygote: PythonZygote;
  #jids = 0;

  constructor(files: PluginFiles, given: PythonPoolOptions = {}) {
    const { options = {}, grains = new Map(), pillar = new Map(), processes, configure } = given;
    this.write(files);
    Deno.mkdirSync(`${this.root}/cache`);
    Deno.mkdirSync(`${this.root}/sock`);
    const { log, lines } = memoryLog();
    this.lines = lines;
    const opts = testOpts({
      root_dir: this.root,
      cachedir: `${this.root}/cache`,
      sock_dir: `${this.root}/sock`,
      extension_modules: `${this.root}/ext`,
      ...options,
      ...configure?.(this.root),
    });
    this.zygote = new PythonZygote({ ...opts, processes }, (line) => this.printed.push(line));
    this.pool = new JobPool({
      opts: packOpts("minion", opts),
      hostData: { grains: pack(grains), pillar: pack(pillar) },
      log,
      termMs: 200,
      answer: async ({ what }) => {
        if (what === "python") return await this.zygote.socket();
        return what === "pillar" ? pillar : true;
      },
    });
  }

  /** Writes plugins. The pool sees new names after `pool.reload()`. */
  write(files: PluginFiles): void {
    for (const [path, text] of Object.entries(files)) {
      const to = `${this.root}/ext/${path}`;
      Deno.mkdirSync(to.slice(0, to.lastIndexOf("/")), { recursive: true });
      Deno.writeTextFileSync(to, text);
    }
  }

  /** Starts a job. */
  start(
    fun: string,
    arg: Value[] = [],
    fields: Record<string, Value> = {},
  ): { jid: string; outcome: Promise<ValueMap> } {
    const jid = `2026010100000000${String(++this.#jids).padStart(4, "0")}`;
    const load = map({ jid, fun, arg, tgt: "*", tgt_type: "glob", ret: "", user: "root", ...fields });
    return { jid, outcome: this.pool.run(load) };
  }

  /** The outcome of a job. */
  async job(fun: string, ...arg: Value[]): Promise<ValueMap> {
    return await this.start(fun, arg).outcome;
  }

  /** The return of a job. */
  async run(fun: string, ...arg: Value[]): Promise<Value> {
    return (await this.job(fun, ...arg)).get("return") ?? null;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.pool.close();
    await this.zygote.close();
    Deno.removeSync(this.root, { recursive: true });
  }
}

/** The path of the first `python3` of PATH, or Debian's, that can import the library; `undefined` if none can. */
export function pythonWith(library: string): string | undefined {
  return ["python3", "/usr/bin/python3"].flatMap((name) => which(name) ?? []).find((path) => {
    const { success } = new Deno.Command(path, {
      args: ["-E", "-s", "-c", `import ${library}`],
      stdin: "null",
      stdout: "null",
      stderr: "null",
    }).outputSync();
    return success;
  });
}
