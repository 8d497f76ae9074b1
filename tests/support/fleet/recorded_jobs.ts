/**
 * Runners on a master whose job cache Python Salt wrote: tests/corpus/job_cache.json.
 * @module
 */

import files from "#tests/corpus/job_cache.json" with { type: "json" };
import type { LocalOptions, LocalReturn, RunnerContext } from "#lib/client/runner_context.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import type { JobOutcome } from "#lib/jobs/outcomes.ts";
import { KeyManager } from "#lib/keys/manager.ts";
import { KeyStore } from "#lib/keys/store.ts";
import { invoke } from "#lib/plugins/call.ts";
import { type Family, loadFamily } from "#lib/plugins/loader.ts";
import { map, repr, toValue, type Value } from "#lib/values/value.ts";
import { RUNNERS } from "#modules/runners/_built_in.ts";
import { WHEEL } from "#modules/wheel/_built_in.ts";
import { assert } from "#tests/support/assert.ts";
import { asyncJobStore } from "#lib/jobs/async_store.ts";
import { dataCache, jobStore } from "./job_store.ts";

/** A job of that cache. */
export const RECORDED_JID = "20240102030405000001";

/** What a test of a runner works with. */
export interface RecordedJobs {
  readonly context: RunnerContext;
  readonly root: string;
  /** Further actions besides the return. */
  readonly done: string[];
  /** The answers of minions. */
  readonly answers: Map<string, LocalReturn>;
  readonly here: Map<string, string | undefined>;
  readonly outcomes: Map<string, JobOutcome>;
  call(name: string, args?: unknown[], kwargs?: Record<string, unknown>): Promise<Value>;
}

/** Runs `run` on a copy of the cache, in a directory of its own. */
export async function withRecordedJobs(run: (fixture: RecordedJobs) => Promise<void>): Promise<void> {
  const root = Deno.makeTempDirSync({ prefix: "runners_" });
  try {
    for (const [path, base64] of Object.entries(files.files)) {
      Deno.mkdirSync(`${root}/${path}`.replace(/\/[^/]*$/, ""), { recursive: true });
      Deno.writeFileSync(`${root}/${path}`, Uint8Array.from(atob(base64), (char) => char.charCodeAt(0)));
    }
    for (const id of ["db1", "web1", "web2"]) {
      Deno.mkdirSync(`${root}/pki/minions`, { recursive: true });
      Deno.writeTextFileSync(`${root}/pki/minions/${id}`, "PEM");
    }
    const done: string[] = [];
    const answers = new Map<string, LocalReturn>();
    const here = new Map<string, string | undefined>();
    const outcomes = new Map<string, JobOutcome>();
    const catalogue: Family<RunnerContext> = loadFamily<RunnerContext>(RUNNERS);
    const opts = { cachedir: root, timeout: 5, gather_job_timeout: 10, extra: new Map() } as unknown as MasterOpts;
    const context: RunnerContext = {
      opts,
      jobs: asyncJobStore(jobStore(root)),
      keys: new KeyStore(`${root}/pki`),
      data: dataCache(root),
      local: {
        attach: () => {
          throw new Error("no job is attached to here");
        },
        present: () => Promise.resolve(new Map([...here].sort())),
        gone: () => new Set(),
        outcomes: () => Promise.resolve(new Map(outcomes)),
        job: async (tgt, fun, runOptions) => ({ returns: await context.local.run(tgt, fun, runOptions), silent: [] }),
        run(tgt, fun, options: LocalOptions = {}) {
          done.push(`${fun} on ${repr(tgt)} (${options.tgtType ?? "glob"}) in ${options.timeoutS} s`);
          return Promise.resolve(new Map(answers));
        },
      },
      catalogue,
      wheel: loadFamily<RunnerContext>(WHEEL),
      jid: RECORDED_JID,
      user: "root",
      signal: new AbortController().signal,
      reactor: { render: () => Promise.reject(new Error("nothing is rendered here")) },
      manager: new KeyManager(new KeyStore(`${root}/pki`), {
        fire: (tag, data) => Promise.resolve(void done.push(`${tag} ${data.get("act")} ${data.get("id")}`)),
        forget: (id) => void done.push(`forget ${id}`),
      }),
      rotateKey: () => void done.push("rotate"),
      fire: (tag) => Promise.resolve(done.push(`fire ${tag}`) > 0),
      pillar: {
        compile: ({ id, pillarenv, grains }) => Promise.resolve(map({ id, pillarenv, grains })),
        top: ({ id }) => Promise.resolve({ top: map({ base: { "*": [id] } }), errors: [] }),
      },
      execute: ({ fun, args, kwargs }) => Promise.resolve(`${fun}${repr([...args])}${repr(kwargs)}`),
      progress: (data) => Promise.resolve(void done.push(repr(data))),
      print: (line) => done.push(`print ${line}`) > 0,
      setRetcode: (retcode) => void done.push(`retcode ${retcode}`),
      log: () => {},
    };
    const call = async (name: string, args: unknown[] = [], kwargs: Record<string, unknown> = {}) => {
      const fun = await catalogue.get(name);
      assert(fun !== undefined, `no runner ${name}`);
      return await invoke(fun, { name, args: args.map(toValue), kwargs: map(kwargs), context });
    };
    await run({ context, root, done, answers, here, outcomes, call });
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
}
