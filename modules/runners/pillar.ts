/**
 * Runner `pillar`: compiles the pillar of a minion on the master. Source: Salt 3008.3 `salt/runners/pillar.py`.
 * @module
 */

import { BankFiles } from "#lib/fleet/bank_files.ts";
import { changeNotes } from "#lib/config/master_paths.ts";
import { p } from "#lib/plugins/module.ts";
import { plainRequest } from "#lib/pillar/request.ts";
import { runner, type RunnerContext, runnerDoc, type RunnerFunction } from "#lib/client/runner_context.ts";
import { textOrNull } from "#lib/values/shape.ts";
import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { targetMinions } from "./_targeted.ts";

export const show_top: RunnerFunction = runner({
  doc: runnerDoc(
    `Return the merged top files of pillar, by environment and target.

minion
    The minion whose grains the top files see. Default: the first known minion.

saltenv : base
    The environment of states.`,
    "pillar.show_top",
    "pillar.show_top web1",
  ),
  params: { minion: p.str(null), saltenv: p.str("base") },
  async run({ minion, saltenv }, context) {
    const id = minion ?? knownMinions(context)[0] ?? "*";
    const { top, errors } = await context.pillar.top(plainRequest(id, grainsOf(id, context), { saltenv }));
    if (errors.length === 0) return top;
    await context.progress(map({ data: errors, outputter: "nested" }));
    return errors;
  },
});

export const show_pillar: RunnerFunction = runner({
  doc: runnerDoc(
    `Compile a minion's pillar, from its cached grains, and return it.

minion : *
    The minion. One that the master does not know has no grain but \`fqdn\`.

pillarenv
    The one environment to take pillar from.

saltenv : base
    The environment of states. All other keyword arguments are grains.`,
    "pillar.show_pillar web1",
    "pillar.show_pillar pillarenv=dev",
    "pillar.show_pillar new1 os=Debian",
  ),
  params: { minion: p.str("*") },
  varKwargs: "kwargs",
  async run({ minion }, context, { kwargs }) {
    const { grains, pillarenv, saltenv } = requestOf(minion, kwargs, context);
    return await context.pillar.compile(plainRequest(minion, grains, { saltenv, pillarenv }));
  },
});

export const clear_pillar_cache: RunnerFunction = runner({
  doc: runnerDoc(
    `Remove the cached pillar of minions. False if the master has no pillar cache.

minion : *
    A glob of minions' ids.

pillarenv
    That of one environment.`,
    "pillar.clear_pillar_cache web1",
  ),
  params: { minion: p.any("*") },
  varKwargs: "kwargs",
  run({ minion }, context, { kwargs }) {
    if (!keepsPillar(context)) return false;
    const files = bankFiles(context);
    for (const id of targetMinions({ tgt: minion, tgt_type: "glob" }, context)) {
      files.flush("pillar", keyOf(id, kwargs));
    }
    return true;
  },
});

export const show_pillar_cache: RunnerFunction = runner({
  doc: runnerDoc(
    `Return the cached pillar of minions, by id. False if the master has no pillar cache.

minion : *
    A glob of minions' ids.

pillarenv
    That of one environment.`,
    "pillar.show_pillar_cache web1",
  ),
  params: { minion: p.any("*") },
  varKwargs: "kwargs",
  run({ minion }, context, { kwargs }) {
    if (!keepsPillar(context)) return false;
    const files = bankFiles(context);
    const cached = targetMinions({ tgt: minion, tgt_type: "glob" }, context).map((
      id,
    ): [string, Value] => [id, files.fetch("pillar", keyOf(id, kwargs))]);
    return new Map(cached.filter(([, pillar]) => isMap(pillar) && pillar.size > 0));
  },
});

function requestOf(minion: string, kwargs: ValueMap, context: RunnerContext) {
  const grains = new Map(grainsOf(minion, context));
  const name = (key: string) => textOrNull(kwargs.get(key));
  for (const [key, value] of kwargs) {
    if (key !== "saltenv" && key !== "pillarenv" && !str(key).startsWith("__")) grains.set(key, value);
  }
  return { grains, pillarenv: name("pillarenv"), saltenv: name("saltenv") ?? "base" };
}

function keyOf(id: string, kwargs: ValueMap): string {
  const pillarenv = kwargs.get("pillarenv") ?? null;
  return pillarenv === null ? id : `${id}:${str(pillarenv)}`;
}

/** What is cached of a minion's grains. */
function grainsOf(id: string, { opts, data }: RunnerContext): ValueMap {
  const grains = opts.minion_data_cache ? data.get(id)?.grains : undefined;
  return grains ?? map({ fqdn: id });
}

function knownMinions({ opts, data }: RunnerContext): string[] {
  return opts.minion_data_cache ? data.list() : [];
}

function keepsPillar({ opts, log }: RunnerContext): boolean {
  if (opts.pillar_cache || opts.minion_data_cache) return true;
  log("info", "The pillar_cache is set to False or not enabled.");
  return false;
}

function bankFiles({ opts, log }: RunnerContext): BankFiles {
  return new BankFiles(opts.cachedir, { log: (message) => log("warning", message), notes: changeNotes(opts) });
}
