/**
 * Runner `survey`: minions whose results are the same, put together.
 * Source: Salt 3008.3 `salt/runners/survey.py`.
 * @module
 */

import { InvocationError } from "#lib/errors.ts";
import { runner, type RunnerContext, runnerDoc, type RunnerFunction } from "#lib/client/runner_context.ts";
import type { Rest } from "#lib/plugins/module.ts";
import { splitLines } from "#lib/text/split_lines.ts";
import { unifiedDiff } from "#lib/text/unified_diff.ts";
import { compareStrings, map, str, type Value } from "#lib/values/value.ts";

/** Minions with one result. */
interface Pool {
  readonly pool: string[];
  readonly result: string;
}

const ARGUMENTS = `

The target is a compound one; with tgt_type=pcre a regular expression. survey_sort=up puts the smallest group first. All
other arguments are those of the function.`;

export const hash: RunnerFunction = runner({
  doc: runnerDoc(
    `Run a function on minions, and list those with the same result together, the largest group first.${ARGUMENTS}`,
    `survey.hash "*" test.ping`,
    `survey.hash "*" cmd.run 'cat /etc/salt/minion' survey_sort=up`,
  ),
  params: {},
  varArgs: "args",
  varKwargs: "kwargs",
  run: async (_, context, given) => (await pools(context, given)).map(asValue),
});

export const diff: RunnerFunction = runner({
  doc: runnerDoc(
    `Run a function on minions, list those with the same result together, the largest group first, and print how the
result of each group differs from that of the first.${ARGUMENTS}`,
    `survey.diff survey_sort=up "*" cmd.run 'cat /etc/hosts'`,
  ),
  params: {},
  varArgs: "args",
  varKwargs: "kwargs",
  async run(_, context, given) {
    const results = await pools(context, given);
    const print = (text: string) => text.split("\n").forEach((line) => context.print(line));
    for (const { pool, result } of results) {
      print(`minion pool :\n------------\n${str(pool)}\npool size :\n----------\n    ${pool.length}`);
      const [first] = results;
      if (pool === first.pool) {
        print(`pool result :\n------------\n    ${result}\n`);
        continue;
      }
      const heading = `differences from "${first.pool[0]}" results :`;
      const names = { from: first.pool[0], to: pool[0] };
      const differences = unifiedDiff(withEnds(first.result), withEnds(result), { ...names, context: 0 }).join("");
      print(`${heading}\n${"-".repeat(heading.length - 1)}\n${differences}\n`);
    }
    return results.map(asValue);
  },
});

function withEnds(text: string): string[] {
  return splitLines(text).map((line) => `${line}\n`);
}

function asValue({ pool, result }: Pool): Value {
  return map({ pool, result });
}

async function pools(context: RunnerContext, { args, kwargs }: Rest): Promise<Pool[]> {
  const [tgt, fun, ...arg] = args;
  if (tgt === undefined || typeof fun !== "string") throw new InvocationError("a target and a function must be given");
  const own = new Set(["survey_sort", "tgt_type"]);
  const passed = [...kwargs].filter(([name]) => !own.has(String(name)) && !String(name).startsWith("_"));
  const returns = await context.local.run(tgt, fun, {
    arg,
    kwargs: new Map(passed),
    tgtType: kwargs.get("tgt_type") === "pcre" ? "pcre" : "compound",
    timeoutS: context.opts.timeout,
  });
  const byResult = new Map<string, string[]>();
  for (const [id, { return: result }] of [...returns].sort(([a], [b]) => compareStrings(a, b))) {
    const text = str(result);
    byResult.set(text, [...byResult.get(text) ?? [], id]);
  }
  const up = kwargs.get("survey_sort") === "up";
  return [...byResult].map(([result, pool]) => ({ pool, result }))
    .sort((a, b) => up ? a.pool.length - b.pool.length : b.pool.length - a.pool.length);
}
