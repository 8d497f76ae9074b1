/**
 * Execution module `test`: whether a minion answers, which arguments arrive, and how results and failures of every kind
 * are returned.
 * Source: the functions of Salt 3008.3 `salt/modules/test.py`.
 * @module
 */

import { CommandError, CommandNotFoundError, InvocationError, messageOf, RefusedError } from "#lib/errors.ts";
import { describe, moduleOfFunction } from "#lib/plugins/docs.ts";
import { hashHex } from "#lib/crypto/hash.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { SEARCH_PATH } from "#lib/plugins/permissions.ts";
import { optsValues } from "#lib/config/opts_map.ts";
import { sleep as wait } from "#lib/os/sleep.ts";
import { float, int, map, repr, str, truthy, type Value } from "#lib/values/value.ts";
import { Tuple } from "#lib/values/tuple.ts";
import { VERSION } from "#lib/version.ts";
import { versionsInformation, versionsReport } from "#lib/programs/versions.ts";
import { withoutPublication } from "./_test_arguments.ts";

export { arg, arg_clean, arg_repr, arg_type, kwarg } from "./_test_arguments.ts";

export const ping: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Answer True: the minion is up, receives jobs and can return. Not an ICMP ping.",
    "test.ping",
  ),
  params: {},
  run: () => true,
});

export const true_: ModuleFunction<JobContext> = fn({
  doc: describe("Always return True.", "test.true"),
  params: {},
  run: () => true,
});

export const false_: ModuleFunction<JobContext> = fn({
  doc: describe("Always return False.", "test.false"),
  params: {},
  run: () => false,
});

export const echo: ModuleFunction<JobContext> = fn({
  doc: describe("Return the argument.", "test.echo 'foo bar baz quo qux'"),
  params: { text: p.any() },
  run: ({ text }) => text,
});

export const outputter: ModuleFunction<JobContext> = fn({
  doc: describe("Return the argument, to try an outputter.", "test.outputter foobar"),
  params: { data: p.any() },
  run: ({ data }) => data,
});

export const version: ModuleFunction<JobContext> = fn({
  doc: describe("Return the minion's version of Salt.", "test.version"),
  params: {},
  run: () => VERSION,
});

export const versions_information: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the versions of Salt, of what it runs on and of the system, as a map.",
    "test.versions_information",
  ),
  permissions: "all",
  params: {},
  run: () => versionsInformation(),
});

export const versions_report: ModuleFunction<JobContext> = fn({
  doc: describe("Return the versions of Salt, of what it runs on and of the system, as text.", "test.versions_report"),
  permissions: "all",
  params: {},
  run: () => versionsReport(),
});

export const versions: ModuleFunction<JobContext> = versions_report;

export const sleep: ModuleFunction<JobContext> = fn({
  doc: describe("Wait for a number of seconds, then return True.", "test.sleep 20"),
  params: { length: p.float() },
  run: async ({ length }, context) => {
    await wait(length * 1000, context.signal);
    return true;
  },
});

export const rand_sleep: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Wait for a random number of seconds up to `max`, then return True: minions that answer at different times.",
    "test.rand_sleep 60",
  ),
  params: { max: p.int(60) },
  run: async ({ max }, context) => {
    if (max < 0) throw new InvocationError(`max must not be negative, as ${max} is`);
    await wait(randomBelow(max + 1) * 1000, context.signal);
    return true;
  },
});

/**
 * Number of steps after which a long computation checks whether its job must end: a thread that never waits cannot be
 * ended.
 */
const STEPS = 1_000;

/**
 * Lets messages be handled.
 * @throws {Error} If the job must end.
 */
async function lookUp(signal: AbortSignal): Promise<void> {
  await wait(0);
  signal.throwIfAborted();
}

export const fib: ModuleFunction<JobContext> = fn({
  doc: describe("Return a number of Fibonacci's sequence, and the seconds that it took to compute.", "test.fib 3"),
  params: { num: p.int() },
  run: async ({ num }, { signal }) => {
    if (num < 0) throw new InvocationError("Negative number is not allowed!");
    const start = performance.now();
    let previous = 0n, current = num === 0 ? 0n : 1n;
    for (let i = 1; i < num; i++) {
      if (i % STEPS === 0) await lookUp(signal);
      [previous, current] = [current, previous + current];
    }
    return new Tuple([int(current), secondsSince(start)]);
  },
});

export const collatz: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the steps of the Collatz conjecture from a number down to 1, and the seconds that they took.",
    "test.collatz 3",
  ),
  params: { start: p.int() },
  run: async ({ start }, { signal }) => {
    if (start < 1) throw new InvocationError(`start must be at least 1, as ${start} is not`);
    const begin = performance.now();
    const steps: Value[] = [];
    // Python's division makes a float of the number, which stays one.
    for (let n = start, halved = false; n !== 1;) {
      // Above what a float holds exactly, the sequence might never end.
      if (n > Number.MAX_SAFE_INTEGER) {
        throw new CommandError(`${start} leads to numbers above ${Number.MAX_SAFE_INTEGER}`);
      }
      if (steps.length % STEPS === STEPS - 1) await lookUp(signal);
      steps.push(halved ? float(n) : n);
      halved ||= n % 2 === 0;
      n = n % 2 === 0 ? n / 2 : n * 3 + 1;
    }
    return new Tuple([steps, secondsSince(begin)]);
  },
});

export const random_hash: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the digest of a random number from 0 to `size`. Without `hash_type`, the minion's option of that name counts.",
    "test.random_hash",
    "test.random_hash hash_type=sha512",
  ),
  params: { size: p.int(9999999999), hash_type: p.str(null) },
  run: ({ size, hash_type }, { opts }) => randomHash(size, hash_type ?? opts.hash_type),
});

export const rand_str: ModuleFunction<JobContext> = fn({
  doc: describe("The old name of test.random_hash.", "test.rand_str"),
  params: { size: p.int(9999999999), hash_type: p.str(null) },
  run: ({ size, hash_type }, { opts }) => randomHash(size, hash_type ?? opts.hash_type),
});

export const retcode: ModuleFunction<JobContext> = fn({
  doc: describe("Return True, with the given return code.", "test.retcode 42"),
  params: { code: p.int(42) },
  run: ({ code }, context) => {
    context.setRetcode(code);
    return true;
  },
});

export const exception: ModuleFunction<JobContext> = fn({
  doc: describe("Fail with an exception, as a function with a bug does.", "test.exception 'Oh noes!'"),
  params: { message: p.str("Test Exception") },
  run: ({ message }) => {
    throw new Error(message);
  },
});

/** Python's exceptions that Salt tells apart in a return; every other one counts as a bug of the function. */
const KNOWN_EXCEPTIONS: Readonly<Record<string, (message: string) => Error>> = {
  "TypeError": (message) => new InvocationError(message, raise_exception.doc),
  "salt.exceptions.SaltInvocationError": (message) => new InvocationError(message),
  "salt.exceptions.CommandExecutionError": (message) => new CommandError(message),
  "salt.exceptions.CommandNotFoundError": (message) => new CommandNotFoundError(message),
  "salt.exceptions.SaltClientError": (message) => new RefusedError("SaltClientError", message),
};

export const raise_exception: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Fail with the exception of a name: one of Python's own, or one of `salt.exceptions`. A name that is neither returns\n" +
      "False.",
    `test.raise_exception TypeError "An integer is required"`,
    `test.raise_exception salt.exceptions.CommandExecutionError "Something went wrong"`,
  ),
  params: { name: p.str() },
  varArgs: "args",
  varKwargs: "kwargs",
  run: ({ name }, context, rest) => {
    const message = rest.args.map(str).join(" ");
    if (Object.hasOwn(KNOWN_EXCEPTIONS, name)) throw KNOWN_EXCEPTIONS[name](message);
    if (!/^(salt\.exceptions\.)?[A-Z]\w*(Error|Exception|Exit|Interrupt|StopIteration|Warning)$/.test(name)) {
      context.log("error", `No such exception: ${name}`);
      return false;
    }
    const error = new Error(message);
    error.name = name;
    throw error;
  },
});

export const assertion: ModuleFunction<JobContext> = fn({
  doc: describe("Fail unless the argument is true.", "test.assertion False"),
  params: { assertion: p.any() },
  run: ({ assertion }) => {
    if (!truthy(assertion)) {
      const error = new Error(`${repr(assertion)} is not true`);
      error.name = "AssertionError";
      throw error;
    }
    return null;
  },
});

export const try_: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Run another function with the keyword arguments; None if that fails, or the failure's text with\n" +
      "`return_try_exception`.",
    "test.try module=grains.get key=os",
  ),
  params: { module: p.str(), return_try_exception: p.bool(false) },
  varKwargs: "kwargs",
  run: async ({ module, return_try_exception }, context, rest) => {
    try {
      return await context.call(module, [], withoutPublication(rest.kwargs));
    } catch (error) {
      return return_try_exception ? messageOf(error) : null;
    }
  },
});

export const cross_test: ModuleFunction<JobContext> = fn({
  doc: describe("Run another function through the minion's own list of functions.", "test.cross_test grains.get os"),
  params: { func: p.str(), args: p.list(null) },
  run: ({ func, args }, context) => context.call(func, args ?? []),
});

export const attr_call: ModuleFunction<JobContext> = fn({
  doc: describe("Run grains.items from within another function.", "test.attr_call"),
  params: {},
  run: (_bound, context) => context.call("grains.items"),
});

export const conf_test: ModuleFunction<JobContext> = fn({
  doc: describe("Return the option `test.foo` of the minion's configuration, or its default.", "test.conf_test"),
  params: {},
  run: (_bound, context) => context.call("config.option", ["test.foo"]),
});

export const get_opts: ModuleFunction<JobContext> = fn({
  doc: describe("Return the minion's options.", "test.get_opts"),
  params: {},
  run: (_bound, { opts }) => optsValues(opts),
});

export const opts_pkg: ModuleFunction<JobContext> = fn({
  doc: describe("Return the minion's options, with its grains under `grains`.", "test.opts_pkg"),
  params: {},
  run: (_bound, { opts, grains }) => optsValues(opts).set("grains", grains),
});

export const provider: ModuleFunction<JobContext> = fn({
  doc: describe("Return the name of the file that provides a module, or an empty string.", "test.provider service"),
  permissions: SEARCH_PATH,
  params: { module: p.str() },
  run: async ({ module }, { catalogue }) => (await catalogue.providers()).get(module) ?? "",
});

export const providers: ModuleFunction<JobContext> = fn({
  doc: describe("Return a map from the files that provide modules to the modules' names.", "test.providers"),
  permissions: SEARCH_PATH,
  params: {},
  run: async (_bound, { catalogue }) => new Map([...await catalogue.providers()].map(([name, file]) => [file, name])),
});

export const not_loaded: ModuleFunction<JobContext> = fn({
  doc: describe("List the modules that could not be loaded.", "test.not_loaded"),
  permissions: SEARCH_PATH,
  params: {},
  run: async (_bound, { catalogue }) => {
    const serving = await catalogue.providers();
    const refused = [...catalogue.refusals().keys()].filter((name) => !serving.has(name));
    return [...new Set([...catalogue.problems().keys(), ...refused])].sort();
  },
});

export const module_report: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the functions and modules of the minion, by the ways in which they can be reached.",
    "test.module_report",
  ),
  permissions: SEARCH_PATH,
  params: {},
  run: async (_bound, context) => {
    const functions = (await context.catalogue.all()).map(({ name }) => name);
    const modules = await loadedModules(context);
    return map({
      functions,
      function_attrs: functions,
      function_subs: functions,
      modules,
      module_attrs: modules,
      missing_attrs: [],
      missing_subs: [],
    });
  },
});

export const stack: ModuleFunction<JobContext> = fn({
  doc: describe("Return the stack of calls that led to this function.", "test.stack"),
  params: {},
  run: () => (new Error().stack ?? "").split("\n").slice(1).join("\n"),
});

export const tty: ModuleFunction<JobContext> = fn({
  doc: describe("Moved to cmd.tty.", "test.tty tty0 'This is a test'"),
  params: {},
  varArgs: "args",
  varKwargs: "kwargs",
  run: () => "ERROR: This function has been moved to cmd.tty",
});

export const deprecation_warning: ModuleFunction<JobContext> = fn({
  doc: describe("Return True, and write two warnings of deprecation to the minion's log.", "test.deprecation_warning"),
  params: {},
  run: (_bound, context) => {
    context.log("warning", "DeprecationWarning: This is a test deprecation warning by version.");
    const byDate = "This is a test deprecation warning by date very far into the future (3000-01-01).";
    context.log("warning", `DeprecationWarning: ${byDate}`);
    return true;
  },
});

function secondsSince(startMs: number): Value {
  return float((performance.now() - startMs) / 1000);
}

function randomHash(size: number, hashType: string): string {
  if (size < 0) throw new InvocationError(`size must not be negative, as ${size} is`);
  return hashHex(String(randomBelow(size + 1)), hashType);
}

/** A whole number from 0 to below `limit`. Not node:crypto's, which takes 4 MB of every job worker. */
function randomBelow(limit: number): number {
  const [high, low] = crypto.getRandomValues(new Uint32Array(2));
  return Math.floor(((high >>> 11) * 2 ** 32 + low) / 2 ** 53 * limit);
}

async function loadedModules({ catalogue }: JobContext): Promise<string[]> {
  return [...new Set((await catalogue.all()).map(({ name }) => moduleOfFunction(name)))];
}
