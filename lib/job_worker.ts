/**
 * The thread that a minion's jobs run in, one after the other: a job that hangs or is greedy can be ended without the
 * minion. What a job needs of the outside it asks the main thread for.
 * @module
 */

import { ChildPids } from "./child_pids.ts";
import { RequestTimeoutError } from "./errors.ts";
import { executeLogged, executeMany } from "./execution.ts";
import type { Catalogue, JobContext, RunningJob } from "./job_context.ts";
import { type Asked, type FromJob, type JobWorkerInit, pack, type ToJob, unpack } from "./job_protocol.ts";
import { SILENT_LOGGER } from "./log.ts";
import { IdleMemory } from "./idle_memory.ts";
import { makeContext } from "./job_scope.ts";
import { loadCatalogue } from "./loader.ts";
import { isNoLog } from "./no_log.ts";
import type { MinionOpts } from "./options.ts";
import { unpackOpts } from "./opts_transfer.ts";
import { joinPermissions, permissionKey, type Permissions } from "./permissions.ts";
import { serveThread, type ThreadHost } from "./thread.ts";
import { isMap, str, type Value, type ValueMap } from "./value.ts";

/** An outcome from this size on is not to be kept for longer than it takes to return it. */
const LARGE_BYTES = 1 << 16;

/** A job worker after its start. */
class JobWorker {
  readonly #host: ThreadHost;
  readonly #opts: MinionOpts;
  readonly #catalogue: Catalogue;
  readonly #children: ChildPids;
  readonly #memory = new IdleMemory();
  /** What this worker may do, by name. */
  readonly #permissions: string;
  readonly #asked = new Map<number, PromiseWithResolvers<Value>>();
  #grains: ValueMap = new Map();
  #pillar: ValueMap = new Map();
  #asks = 0;
  #abort = new AbortController();
  #doing = "waiting for a job";

  constructor(init: JobWorkerInit, host: ThreadHost) {
    this.#host = host;
    this.#children = new ChildPids(init.children);
    this.#permissions = permissionKey(init.permissions);
    this.#opts = unpackOpts<MinionOpts>(init.opts);
    const { extension_modules, module_dirs, disable_modules, whitelist_modules } = this.#opts;
    this.#catalogue = loadCatalogue({
      extensionModules: extension_modules,
      moduleDirs: module_dirs,
      disableModules: disable_modules,
      whitelistModules: whitelist_modules,
      warn: host.log.warning,
    });
    this.#learn(init.knowledge);
  }

  describe(): string {
    return this.#doing;
  }

  hear(message: ToJob): void {
    switch (message.kind) {
      case "run":
        return void this.#run(message.load);
      case "abort":
        return this.#abort.abort(new Error("The job was told to end"));
      case "knowledge":
        return this.#learn(message.knowledge);
      case "answer":
        return this.#settle(message.id)?.resolve(unpack(message.value));
      case "refused":
        return this.#settle(message.id)?.reject(
          message.timeout === undefined
            ? new Error(message.reason)
            : new RequestTimeoutError(message.timeout.address, message.timeout.waitedMs),
        );
    }
  }

  #settle(id: number): PromiseWithResolvers<Value> | undefined {
    const waiting = this.#asked.get(id);
    this.#asked.delete(id);
    return waiting;
  }

  #learn({ grains, pillar }: JobWorkerInit["knowledge"]): void {
    this.#grains = asMap(unpack(grains));
    this.#pillar = asMap(unpack(pillar));
  }

  #post(message: FromJob): void {
    this.#host.post(message);
  }

  #ask(asked: Asked): Promise<Value> {
    const id = this.#asks++;
    const waiting = Promise.withResolvers<Value>();
    this.#asked.set(id, waiting);
    this.#post({ kind: "ask", id, asked });
    return waiting.promise;
  }

  async #run(packed: Uint8Array): Promise<void> {
    const load = asMap(unpack(packed));
    const fun = load.get("fun") ?? null;
    const listed = load.get("arg");
    const arg = Array.isArray(listed) ? listed : [];
    this.#abort = new AbortController(); // before the first wait: the job may be told to end from now on
    const permissions = await this.#declared((Array.isArray(fun) ? fun : [fun]).map(str));
    if (permissionKey(permissions) !== this.#permissions) return this.#post({ kind: "elsewhere", permissions });
    this.#children.clear();
    this.#doing = `running ${str(fun)} for job ${str(load.get("jid") ?? null)}`;
    const returners = load.get("ret");
    if (typeof returners === "string" && returners !== "") {
      this.#host.log.error(`Returners are not built yet: the master alone gets the result, not ${returners}`);
    }
    const context = this.#context(load);
    const outcome = Array.isArray(fun)
      ? await executeMany({ fun: fun.map(str), arg }, context, { ordered: this.#opts.multifunc_ordered })
      : await executeLogged(str(fun), arg, context);
    this.#doing = "waiting for a job";
    if (isNoLog(load) && "error" in outcome) this.#host.log.error(`Function '${str(fun)}' failed; it is a no_log job`);
    const { return: result, retcode, success } = outcome;
    const out = "out" in outcome ? outcome.out : undefined;
    const packedOutcome = pack({ return: result, retcode, success, ...(out === undefined ? {} : { out }) });
    this.#memory.worked(packed.length + packedOutcome.length);
    this.#post({ kind: "done", outcome: packedOutcome });
    // Deno's loop that takes a worker's messages holds the last one until the next has come: not 10 MB for hours.
    if (packedOutcome.length > LARGE_BYTES) this.#post({ kind: "behind" });
  }

  #watch(): NonNullable<JobContext["watchCommand"]> {
    let commands = 0;
    return (encoding) => {
      const command = ++commands;
      return (stream, bytes) => this.#post({ kind: "output", written: { command, stream, bytes, encoding } });
    };
  }

  /** What these functions declare; what nobody has is looked for without any permissions. */
  async #declared(funs: readonly string[]): Promise<Permissions> {
    const functions = await Promise.all(funs.map((name) => this.#catalogue.get(name)));
    return joinPermissions(functions.map((fun) => fun?.permissions ?? "none"));
  }

  #context(load: ValueMap): JobContext {
    return makeContext({
      opts: this.#opts,
      grains: this.#grains,
      pillar: this.#pillar,
      job: load,
      catalogue: this.#catalogue,
      signal: this.#abort.signal,
      log: isNoLog(load) ? SILENT_LOGGER : this.#host.log,
      watchCommand: load.get("live") === true ? this.#watch() : undefined,
      child: (pid, state) => this.#children[state === "started" ? "add" : "delete"](pid),
      jobs: {
        running: async () => (await this.#ask({ what: "running" }) as unknown as ValueMap[]).map(toRunningJob),
        signal: async (jid, signal) => await this.#ask({ what: "signal", jid, signal }) === true,
      },
      outside: {
        request: (request) => this.#ask({ what: "request", load: pack(request) }),
        fire: async (data, tag) => await this.#ask({ what: "fire", data: pack(data), tag }) === true,
        refresh: async (refresh) => await this.#ask({ what: "refresh", refresh }) === true,
      },
    });
  }
}

function asMap(value: Value): ValueMap {
  if (!isMap(value)) throw new TypeError("the main thread sent something that is no map");
  return value;
}

/** The main thread packs {@linkcode RunningJob}s, and nobody else speaks to this thread. */
function toRunningJob(packed: ValueMap): RunningJob {
  return Object.fromEntries(packed) as unknown as RunningJob;
}

let worker: JobWorker | undefined;

serveThread<JobWorkerInit>((init, host) => {
  // In a worker it would end the worker without a word to anybody, and the job would seem to run for ever.
  Object.assign(Deno, {
    exit(code = 0) {
      host.fail(`the job called Deno.exit(${code})`);
      throw new Error(`The job called Deno.exit(${code})`);
    },
  });
  worker = new JobWorker(init, host);
  return Promise.resolve({ describe: () => worker?.describe() ?? "starting", close: () => Promise.resolve() });
}, (message) => worker?.hear(message as ToJob));
