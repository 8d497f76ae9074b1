/**
 * Runner `salt`: execution modules on the master's host and on minions, and wheel functions.
 * Source: `cmd` and `execute` of Salt 3008.3 `salt/runners/salt.py`.
 * @module
 */

import { invoke } from "#lib/plugins/call.ts";
import { batchSize } from "#lib/jobs/batch_size.ts";
import { CommandError, messageOf } from "#lib/errors.ts";
import { explainUnavailable } from "#lib/plugins/unavailable.ts";
import {
  type LocalJob,
  type LocalReturn,
  runner,
  type RunnerContext,
  runnerDoc,
  type RunnerFunction,
} from "#lib/client/runner_context.ts";
import { p } from "#lib/plugins/module.ts";
import { map, repr, str, toNumber, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

export const cmd: RunnerFunction = runner({
  doc: runnerDoc(
    `Run a function of an execution module on the master's host, in this process.

fun
    The function. All other arguments are its own.

with_pillar : False
    Whether the function sees the pillar of the master's host, whose id ends in \`_master\`.`,
    "salt.cmd test.ping",
    "salt.cmd test.arg 1 2 3 a=1",
  ),
  params: { fun: p.str() },
  varArgs: "args",
  varKwargs: "kwargs",
  async run({ fun }, context, { args, kwargs }) {
    const own: ValueMap = new Map([...kwargs].filter(([name]) => !String(name).startsWith("__")));
    const withPillar = truthy(own.get("with_pillar"));
    own.delete("with_pillar");
    return await context.execute({ fun, args, kwargs: own, withPillar });
  },
});

export const execute: RunnerFunction = runner({
  doc: runnerDoc(
    `Run a function of an execution module on minions, and return what they return, by minion.

tgt, tgt_type : glob
    The minions.

fun, arg, kwarg
    The function, its positional arguments as a list, and its keyword arguments as a dictionary. Other keyword arguments
    of this runner are added to those.

timeout
    Seconds to wait; the master's option of that name, unless given.`,
    "salt.execute '*' test.ping",
    "salt.execute 'web*' test.arg '[1, 2]' kwarg='{a: 3}'",
  ),
  params: {
    tgt: p.any(),
    fun: p.str(),
    arg: p.list([]),
    timeout: p.float(null),
    tgt_type: p.str("glob"),
    ret: p.str(""),
    jid: p.str(""),
    kwarg: p.dict(null),
  },
  varKwargs: "kwargs",
  async run(bound, context, rest) {
    const returns = await runOnMinions(bound, context, rest.kwargs);
    return new Map([...returns].map(([id, { return: result }]) => [id, result]));
  },
});

/** A call of a function on minions. */
interface CallOptions {
  readonly tgt: Value;
  readonly fun: string;
  readonly arg: readonly Value[];
  readonly timeout: number | null;
  readonly tgt_type: string;
  readonly ret: string;
  readonly jid?: string;
  readonly kwarg: ValueMap | null;
}

/** The minions of a job, of which only some are to be asked. */
interface Chosen extends CallOptions {
  readonly batch: Value;
  readonly subset: Value;
  readonly expect_minions: Value;
  readonly failhard: Value;
}

/** What minions returned, as `saltutil.cmd` has it. */
async function returnsOf(options: Chosen, context: RunnerContext, more: ValueMap): Promise<ValueMap> {
  const withOptions = (targets: Partial<CallOptions>) => ({ ...options, ...targets });
  const pingedMinions = async () => [
    ...(await jobOnMinions(withOptions({ fun: "test.ping", arg: [], kwarg: null }), context)).returns.keys(),
  ];
  const returns: ValueMap = new Map();
  const put = ({ jid, returns: came, silent }: LocalJob) => {
    for (const [id, { return: ret, retcode, out }] of came) {
      returns.set(id, map({ ret, retcode, ...out !== undefined && { out }, ...jid !== undefined && { jid } }));
    }
    if (truthy(options.expect_minions)) { for (const id of silent) returns.set(id, map({ failed: true })); }
  };
  if (truthy(options.subset)) {
    const size = options.subset === true ? 1 : toNumber(options.subset);
    if (size === undefined) throw new CommandError(`subset: ${repr(options.subset)} is no number`);
    const ids = shuffle(await pingedMinions()).slice(0, size);
    put(await jobOnMinions(withOptions({ tgt: ids, tgt_type: "list" }), context, more));
    return returns;
  }
  if (!truthy(options.batch)) {
    put(await jobOnMinions(options, context, more));
    return returns;
  }
  const waiting = await pingedMinions();
  let size: number;
  try {
    size = batchSize(str(options.batch), waiting.length);
  } catch (error) {
    throw new CommandError(messageOf(error));
  }
  const work = async () => {
    for (let id = waiting.shift(); id !== undefined; id = waiting.shift()) {
      const job = await jobOnMinions(withOptions({ tgt: [id], tgt_type: "list" }), context, more);
      put(job);
      const failed = [...job.returns.values()].some(({ retcode }) => retcode !== 0);
      if (failed && truthy(options.failhard)) waiting.length = 0;
    }
  };
  await Promise.all(Array.from({ length: Math.min(size, waiting.length) }, work));
  return returns;
}

/** The items in a random order. */
function shuffle<T>(items: readonly T[]): T[] {
  const keys = crypto.getRandomValues(new Uint32Array(items.length));
  return items.map((item, i) => ({ item, key: keys[i] })).sort((a, b) => a.key - b.key).map(({ item }) => item);
}

async function runOnMinions(
  options: CallOptions,
  context: RunnerContext,
  more: ValueMap,
): Promise<Map<string, LocalReturn>> {
  return (await jobOnMinions(options, context, more)).returns;
}

function jobOnMinions(
  { tgt, fun, arg, timeout, tgt_type, ret, jid = "", kwarg }: CallOptions,
  context: RunnerContext,
  more: ValueMap = new Map(),
): Promise<LocalJob> {
  if (ret !== "") throw new CommandError("ret: returners are not built yet");
  if (jid !== "") throw new CommandError("jid: the master makes the job id itself");
  const kwargs = new Map<Value, Value>(
    [...kwarg ?? [], ...more].filter(([name]) => !String(name).startsWith("__")),
  );
  return context.local.job(tgt, fun, { arg, kwargs, tgtType: tgt_type, timeoutS: timeout || context.opts.timeout });
}

export const returns: RunnerFunction = runner({
  doc: runnerDoc(
    `Run a function of an execution module on minions, and return by minion what it returned (ret), its retcode, its outputter (out)
and the job's id. Not in Salt; for saltutil.cmd, whose results are such. Arguments as of salt.execute, and:

batch
    How many minions run the job at the same time: a number, or a percentage.

subset
    How many of the minions, at random.

expect_minions : False
    Whether minions that do not answer are in the result, as \`failed\`.

failhard : False
    Whether a batch ends with the first minion that fails.`,
    "salt.returns '*' test.ping",
  ),
  params: {
    tgt: p.any(),
    fun: p.str(),
    arg: p.list([]),
    timeout: p.float(null),
    tgt_type: p.str("glob"),
    ret: p.str(""),
    kwarg: p.dict(null),
    batch: p.any(null),
    subset: p.any(null),
    expect_minions: p.any(false),
    failhard: p.any(false),
  },
  varKwargs: "kwargs",
  run: (bound, context, rest) => returnsOf(bound, context, rest.kwargs),
});

export const wheel: RunnerFunction = runner({
  doc: runnerDoc(
    `Run a function of a wheel module. They manage the master: its keys, its configuration and its file roots.
Not in Salt, which has no command for them. \`doc.wheel\` lists them.

fun
    The function. All other arguments are its own.`,
    "salt.wheel key.list_all",
    "salt.wheel key.accept 'web*'",
  ),
  params: { fun: p.str() },
  varArgs: "args",
  varKwargs: "kwargs",
  async run({ fun: name }, context, { args, kwargs }) {
    const fun = await context.wheel.get(name);
    if (fun === undefined) throw (await explainUnavailable(name, context.wheel, undefined)).error;
    if (fun.secret) {
      throw new CommandError(`${name} returns a secret, which the job cache must not have: not by salt.wheel`);
    }
    return await invoke(fun, { name, args, kwargs, context });
  },
});
