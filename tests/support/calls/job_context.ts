/**
 * A context for tests of execution modules: real options, the real catalogue, real calls between functions. Requests,
 * events and refreshes are recorded and answered by the test's `overrides`.
 * @module
 */

import { loadMinionConfig } from "#lib/config/load.ts";
import { messageOf, NoMasterError, NoMinionError } from "#lib/errors.ts";
import { callFunction, execute, type ExecutionResult } from "#lib/plugins/execution.ts";
import type { JobContext, Outside } from "#lib/plugins/job_context.ts";
import { loadCatalogue } from "#lib/minion/catalogue/catalogue.ts";
import type { MinionOpts } from "#lib/config/options.ts";
import { map, type Value, type ValueMap } from "#lib/values/value.ts";

/** A {@linkcode JobContext} that records its use. */
export interface TestContext extends JobContext {
  /** The last return code that was set. */
  retcode: number;
  /** The log lines, `level: message`. */
  readonly logged: string[];
  /** Events fired on the minion's bus. */
  readonly fired: { tag: string; data: ValueMap }[];
  /** Children started and ended. */
  readonly children: { pid: number; state: "started" | "ended" }[];
}

/**
 * Options of a minion called `web1` whose configuration directory is empty; `root_dir` keeps it away from the host's
 * files.
 */
export function testOpts(overrides: Readonly<Record<string, Value>> = {}): MinionOpts {
  const root = overrides.root_dir ?? "/nonexistent/test-root";
  return loadMinionConfig({
    configDir: `${root}/etc/salt`,
    overrides: { id: "web1", root_dir: root, ...overrides },
  }).opts;
}

/** Makes a context. Without the test's own `outside` there is no master, and events are recorded. */
export function testContext(overrides: Partial<JobContext> = {}): TestContext {
  const logged: string[] = [];
  const fired: { tag: string; data: ValueMap }[] = [];
  const children: { pid: number; state: "started" | "ended" }[] = [];
  const outside: Outside = {
    request: () => Promise.reject(new NoMasterError("This test has no master")),
    pillar: () => Promise.reject(new NoMasterError("This test has no master")),
    fire: (data, tag) => {
      fired.push({ tag, data });
      return Promise.resolve(true);
    },
    ask: ({ tag }) => Promise.reject(new NoMinionError(`This test has no minion that answers ${tag}`)),
    grains: () => Promise.resolve(new Map()),
    refresh: () => Promise.resolve(true),
  };
  const context: TestContext = {
    retcode: 0,
    logged,
    fired,
    children,
    opts: overrides.opts ?? testOpts(),
    grains: new Map(),
    pillar: new Map(),
    job: { jid: "20260101000000000000", fun: "test.ping", user: "root" },
    catalogue: loadCatalogue(),
    jobs: { running: () => Promise.resolve([]), signal: () => Promise.resolve(false) },
    outside,
    signal: new AbortController().signal,
    call: (name, args, kwargs) => callFunction(name, { args, kwargs, context }),
    setRetcode: (retcode) => context.retcode = retcode,
    child: (pid, state) => children.push({ pid, state }),
    log: (level, message) => logged.push(`${level}: ${message}`),
    ...overrides,
  };
  return context;
}

/** A context in which the functions of `answers` return these; the other functions are real. */
export function answeringContext(
  answers: Readonly<Record<string, Value>>,
  overrides: Partial<JobContext> = {},
): TestContext {
  const context: TestContext = testContext({
    call: async (name, args, kwargs) => {
      if (Object.hasOwn(answers, name)) return answers[name];
      return await callFunction(name, { args, kwargs, context });
    },
    ...overrides,
  });
  return context;
}

/** What a function returns, or the message of its error. */
export async function resultOrError(
  context: JobContext,
  fun: string,
  args: Value[] = [],
  kwargs: Readonly<Record<string, unknown>> = {},
): Promise<Value> {
  try {
    return await context.call(fun, args, map(kwargs));
  } catch (error) {
    return messageOf(error);
  }
}

/** Runs a function as a job does; the arguments have the form of `arg` in a load. */
export function run(name: string, arg: Value[] = [], context: JobContext = testContext()): Promise<ExecutionResult> {
  return execute(name, arg, context);
}

/** Runs `test` with calls in a context with grains; grains.setval changes them as the minion does. */
export async function withGrains(
  test: (call: (name: string, ...args: Value[]) => Promise<Value>) => Promise<void>,
): Promise<void> {
  const root = Deno.makeTempDirSync({ prefix: "small_settings_" });
  try {
    Deno.mkdirSync(`${root}/etc/salt`, { recursive: true });
    const grains: ValueMap = map({ id: "web1" });
    const context = testContext({ opts: testOpts({ root_dir: root }), grains });
    const { call } = context;
    const jobContext = testContext({
      ...context,
      call: (name, args = [], kwargs) => {
        if (name === "grains.setval") grains.set(args[0], args[1]);
        return call(name, args, kwargs);
      },
    });
    await test((name, ...args) => callFunction(name, { args, context: jobContext }));
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
}
