/**
 * Runner `test`: shows its arguments, and what a runner can do besides returning. Source: the functions of Salt 3008.3
 * `salt/runners/test.py`.
 * @module
 */

import { p } from "#lib/plugins/module.ts";
import { optsValues } from "#lib/config/opts_map.ts";
import { runner, runnerDoc, type RunnerFunction } from "#lib/client/runner_context.ts";
import { sleep as wait } from "#lib/os/sleep.ts";
import { Tuple } from "#lib/values/tuple.ts";
import { map, str, type Value } from "#lib/values/value.ts";

export const arg: RunnerFunction = runner({
  doc: runnerDoc(
    "Return the arguments; keyword arguments that begin with two underscores are left out.",
    "test.arg foo bar=baz",
  ),
  params: {},
  varArgs: "args",
  varKwargs: "kwargs",
  run: (_, __, { args, kwargs }) => ({
    args: new Tuple(args),
    kwargs: new Map([...kwargs].filter(([key]) => !str(key).startsWith("__"))),
  }),
});

export const raw_arg: RunnerFunction = runner({
  doc: runnerDoc("Return the arguments, all of them.", "test.raw_arg foo __bar=baz"),
  params: {},
  varArgs: "args",
  varKwargs: "kwargs",
  run: (_, __, { args, kwargs }) => ({ args: new Tuple(args), kwargs }),
});

/** Metasyntactic names, by language. */
const METASYNTACTIC: Readonly<Record<string, readonly string[]>> = {
  us: "foo bar baz qux quux quuz corge grault garply waldo fred plugh xyzzy thud".split(" "),
  uk: "wibble wobble wubble flob".split(" "),
};

export const metasyntactic: RunnerFunction = runner({
  doc: runnerDoc("Return the names that stand for anything in a country: us or uk.", "test.metasyntactic locality=uk"),
  params: { locality: p.str("us") },
  run: ({ locality }) => Object.hasOwn(METASYNTACTIC, locality) ? METASYNTACTIC[locality] : null,
});

export const stdout_print: RunnerFunction = runner({
  doc: runnerDoc("Print foo and return bar.", "test.stdout_print"),
  params: {},
  run(_, context) {
    context.print("foo");
    return "bar";
  },
});

export const sleep: RunnerFunction = runner({
  doc: runnerDoc("Wait for some seconds, then return True.", "test.sleep s_time=5"),
  params: { s_time: p.float(10) },
  async run({ s_time }, context) {
    context.print(str(s_time));
    await wait(s_time * 1000, context.signal);
    return true;
  },
});

export const stream: RunnerFunction = runner({
  doc: runnerDoc("Fire a hundred progress events, one each tenth of a second, then return True.", "test.stream"),
  params: {},
  async run(_, context) {
    for (let i = 1; i < 100; i++) {
      await context.progress(map({ message: `Runner is ${i}% done` }));
      await wait(100, context.signal);
    }
    return true;
  },
});

export const get_opts: RunnerFunction = runner({
  doc: runnerDoc("Return the options of the master.", "test.get_opts"),
  params: {},
  run: (_, context): Value => optsValues(context.opts),
});
