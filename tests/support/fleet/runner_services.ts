/**
 * The context of runners and wheel modules, for tests that call them without a master: a scratch directory, and a
 * record of all their actions besides the return.
 * @module
 */

import { asyncJobStore } from "#lib/jobs/async_store.ts";
import type { LocalOptions, LocalReturn, RunnerContext } from "#lib/client/runner_context.ts";
import { loadMasterConfig } from "#lib/config/load.ts";
import { KeyManager } from "#lib/keys/manager.ts";
import { KeyStore } from "#lib/keys/store.ts";
import { invoke } from "#lib/plugins/call.ts";
import { loadFamily } from "#lib/plugins/loader.ts";
import { map, repr, toValue, type Value, type ValueMap } from "#lib/values/value.ts";
import { RUNNERS } from "#modules/runners/_built_in.ts";
import { WHEEL } from "#modules/wheel/_built_in.ts";
import { assert } from "#tests/support/assert.ts";
import { dataCache, jobStore } from "./job_store.ts";

/** The context of one test. */
export interface RunnerFixture {
  readonly root: string;
  readonly context: RunnerContext;
  /** Actions besides the return, a line each. */
  readonly done: string[];
  /** The answers of minions. */
  readonly answers: Map<string, LocalReturn>;
  /** The connected minions. */
  readonly here: Map<string, string | undefined>;
  /** The minions that have disconnected. */
  readonly gone: Set<string>;
  /** Calls a runner; with the prefix `wheel.`, a wheel function. */
  call(name: string, args?: readonly unknown[], kwargs?: Readonly<Record<string, unknown>>): Promise<Value>;
}

/**
 * Runs `test` with its own context.
 * @param config Lines of the master's configuration; `{root}` is the directory.
 */
export async function withRunnerFixture(test: (fixture: RunnerFixture) => Promise<void>, config = ""): Promise<void> {
  const root = Deno.realPathSync(Deno.makeTempDirSync({ prefix: "runner_" }));
  try {
    Deno.mkdirSync(`${root}/etc`);
    const text = `id: host_master\npki_dir: ${root}/pki\ncachedir: ${root}/cache\nsock_dir: ${root}/sock\n${config}`;
    Deno.writeTextFileSync(`${root}/etc/master`, text.replaceAll("{root}", root));
    const { opts } = loadMasterConfig({ configDir: `${root}/etc` });
    const done: string[] = [];
    const note = (line: string) => void done.push(line);
    const answers = new Map<string, LocalReturn>();
    const here = new Map<string, string | undefined>();
    const gone = new Set<string>();
    const keys = new KeyStore(opts.pki_dir);
    const context: RunnerContext = {
      opts,
      jobs: asyncJobStore(jobStore(opts.cachedir)),
      keys,
      data: dataCache(opts.cachedir),
      local: {
        attach: () => {
          throw new Error("no job is attached to here");
        },
        present: () => Promise.resolve(new Map([...here].sort())),
        gone: () => gone,
        outcomes: () => Promise.resolve(new Map()),
        run(tgt, fun, options: LocalOptions = {}) {
          const given = `${repr([...options.arg ?? []])}${repr(options.kwargs ?? new Map())}`;
          note(`${fun}${given} on ${repr(tgt)} (${options.tgtType ?? "glob"})`);
          return Promise.resolve(new Map(answers));
        },
        job: async (tgt, fun, options) => ({
          jid: "20240102030405000002",
          returns: await context.local.run(tgt, fun, options),
          silent: [...gone],
        }),
      },
      catalogue: loadFamily<RunnerContext>(RUNNERS),
      wheel: loadFamily<RunnerContext>(WHEEL),
      jid: "20240102030405000001",
      user: "root",
      signal: new AbortController().signal,
      reactor: { render: () => Promise.reject(new Error("nothing is rendered here")) },
      manager: new KeyManager(keys, {
        fire: (tag, data) => Promise.resolve(note(`${tag} ${data.get("act")} ${data.get("id")}`)),
        forget: (id) => note(`forget ${id}`),
      }),
      rotateKey: () => note("rotate"),
      fire: (tag, data) => Promise.resolve(done.push(`fire ${tag} ${repr(toValue(data))}`) > 0),
      pillar: {
        compile: ({ id, pillarenv, grains }) => Promise.resolve(map({ id, pillarenv, grains })),
        top: ({ id }) => Promise.resolve({ top: map({ base: { "*": [id] } }), errors: [] }),
      },
      execute: ({ fun, args, kwargs, withPillar }) =>
        Promise.resolve(`${fun}${repr([...args])}${repr(kwargs)}${withPillar ? " with pillar" : ""}`),
      progress: (data: ValueMap) => Promise.resolve(note(repr(data))),
      print: (line) => done.push(`print ${line}`) > 0,
      setRetcode: (retcode) => note(`retcode ${retcode}`),
      log: (level, line) => note(`${level}: ${line}`),
    };
    const call = async (
      name: string,
      args: readonly unknown[] = [],
      kwargs: Readonly<Record<string, unknown>> = {},
    ) => {
      const [family, wanted] = name.startsWith("wheel.")
        ? [context.wheel, name.slice("wheel.".length)]
        : [context.catalogue, name];
      const fun = await family.get(wanted);
      assert(fun !== undefined, `no function ${name}`);
      const named = new Map(Object.entries(kwargs).map(([key, value]): [Value, Value] => [key, toValue(value)]));
      return await invoke(fun, { name: wanted, args: args.map(toValue), kwargs: named, context });
    };
    await test({ root, context, done, answers, here, gone, call });
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
}

/** Adds a job of `web1` to the job cache. */
export function addJob({ context }: RunnerFixture, jid: string, fun: string): void {
  context.jobs.prepare(jid);
  context.jobs.saveLoad(jid, map({ fun, arg: [], tgt: "web1", tgt_type: "glob", jid, user: "ann" }), ["web1"]);
}
