/**
 * The functions of the runner `state` for orchestrations, which are states of the master's own host, and control of
 * their runs. Source: Salt 3008.3 `salt/runners/state.py`.
 * @module
 */

import { ASKED, givenKeywords, OF_MASTER, OF_SLS, PILLAR_PARAMS, SLS_PARAMS } from "./orchestrated.ts";
import { runner, type RunnerContext, runnerDoc, type RunnerFunction } from "#lib/client/runner_context.ts";
import { masterAsMinion } from "#lib/config/load.ts";
import { ownKeywords } from "#lib/plugins/keywords.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { hasSucceeded } from "#lib/states/run/outcome.ts";
import { map, type Value, type ValueMap } from "#lib/values/value.ts";

/**
 * Runs a function of states on the master's own host.
 * @returns What it gives, under the host's id.
 */
async function ofMaster(
  call: { readonly fun: string; readonly args: Value[]; readonly kwargs: ValueMap; readonly jid?: string },
  context: RunnerContext,
): Promise<ValueMap> {
  const { id } = masterAsMinion(context.opts);
  const setErrorDetails = (details: readonly string[]) => context.setErrorDetails?.(id, details);
  return new Map([[id, await context.execute({ ...call, withPillar: true, setErrorDetails })]]);
}

export const orchestrate: RunnerFunction = runner({
  doc: runnerDoc(
    `Run the states of SLS files on the master's host. The states of the module \`salt\` run functions on minions, runners and
wheel functions, in the order of their requisites. ${OF_MASTER}

mods
    The names of the files: a list, or a text with commas.

exclude
    States that are left out, as for \`state.sls\`.${OF_SLS}

orchestration_jid
    The id of the run, by which it can be paused. Default: that of the runner's job.`,
    "state.orchestrate orch.deploy",
    "state.orchestrate orch.deploy saltenv=dev test=True",
    "state.orchestrate orch.deploy 'pillar={version: 1.2}'",
  ),
  params: { mods: p.any(), ...SLS_PARAMS, exclude: p.any(null), ...PILLAR_PARAMS, orchestration_jid: p.str(null) },
  async run({ mods, orchestration_jid, ...options }, context) {
    const jid = orchestration_jid ?? context.jid;
    const data = await ofMaster({ fun: "state.sls", args: [mods], kwargs: givenKeywords(options), jid }, context);
    return map({ data, outputter: "highstate", retcode: hasSucceeded(data) ? 0 : 1 });
  },
});

export const orch: RunnerFunction = orchestrate;
export const sls: RunnerFunction = orchestrate;

/** Shows what was run as it is shown beside the result. */
async function showProgress(data: ValueMap, context: RunnerContext): Promise<ValueMap> {
  await context.progress(map({ data, outputter: "highstate" }));
  return data;
}

export const orchestrate_single: RunnerFunction = runner({
  doc: runnerDoc(
    `Run one state on the master's host.

fun, name
    The state function, and its name. All other arguments are its own.

test, queue
    Accepted for compatibility with Salt; without effect, as in Salt.

pillar
    Pillar data that override others, as a dictionary.`,
    "state.orchestrate_single fun=salt.wheel name=key.list_all",
  ),
  params: { fun: p.str(), name: p.str(), test: p.any(null), queue: p.any(false), pillar: p.any(null) },
  varKwargs: "kwargs",
  async run({ fun, name, pillar }, context, { kwargs }) {
    const own = new Map([...ownKeywords(kwargs), ...givenKeywords({ pillar })]);
    return await showProgress(
      await ofMaster({ fun: "state.single", args: [fun, name], kwargs: own }, context),
      context,
    );
  },
});

export const orchestrate_high: RunnerFunction = runner({
  doc: runnerDoc(
    `Run high data (the form of rendered SLS files) on the master's host.

data
    The high data, a map.

test, queue
    Accepted for compatibility with Salt; without effect, as in Salt.${ASKED}`,
    `state.orchestrate_high '{one: {salt: [function, {name: test.ping}, {tgt: "db*"}]}}'`,
  ),
  params: { data: p.any(), test: p.any(null), queue: p.any(false), ...PILLAR_PARAMS },
  varKwargs: "kwargs",
  async run({ data, test: _test, queue: _queue, ...options }, context, { kwargs }) {
    const own = new Map([...ownKeywords(kwargs), ...givenKeywords(options)]);
    return await showProgress(await ofMaster({ fun: "state.high", args: [data], kwargs: own }, context), context);
  },
});

const CONTROLLED = `

jid
    The id of the orchestration's job.

state_id
    The id of a state; all, unless given.`;

/** A function that steers a run on the master's own host, as the execution module \`state\` does. */
function steering(name: string, does: string, more: string, takesDuration = false): ModuleFunction<RunnerContext> {
  return runner({
    doc: runnerDoc(`${does}${CONTROLLED}${more}`, `state.${name} 20260101000000000000 deploy`),
    params: { jid: p.any(), state_id: p.any(null), ...takesDuration && { duration: p.any(null) } },
    async run(bound, context) {
      await context.execute({ fun: `state.${name}`, args: Object.values(bound), kwargs: new Map() });
      return null;
    },
  });
}

export const pause: RunnerFunction = steering(
  "pause",
  "Have a run wait before one of its states.",
  "\n\nduration\n    Seconds; without an end, unless given.",
  true,
);
export const set_pause: RunnerFunction = pause;
export const resume: RunnerFunction = steering("resume", "Resume a paused run.", "");
export const rm_pause: RunnerFunction = resume;
export const soft_kill: RunnerFunction = steering("soft_kill", "Have a run end before one of its states.", "");
