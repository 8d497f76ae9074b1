/**
 * The functions of the execution module `state` that run states.
 * Source: Salt 3008.3 `salt/modules/state.py`.
 * @module
 */

import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { applyBoth, applyHigh, applyHighstate, applySls, applyTopFile } from "#lib/states/run/apply.ts";
import { RUN_KEYWORDS } from "#lib/states/run/call_keywords.ts";
import { survivingCommands } from "#lib/states/control/interrupted_run.ts";
import type { ApplyCall } from "#lib/states/run/prepared.ts";
import { applyPlan, makePlan } from "#lib/states/run/planning.ts";
import { keepRequest, removeRequest, requestNamed } from "#lib/states/control/requests.ts";
import { applyId, applyLow, applySingle } from "#lib/states/run/single.ts";
import { applyTemplate, applyTemplateText } from "#lib/states/run/template.ts";
import type { Value, ValueMap } from "#lib/values/value.ts";
import { ARGUMENTS, checkNames, COMMON, RUN_ARGUMENTS, testWord, unlessConflict } from "./arguments.ts";

/** What all of them share. */
const RUNS = { ...COMMON, keywords: RUN_KEYWORDS, outputter: "highstate", resumable: true } as const;

const MODS = "mods\n    Names of SLS files, with commas or as a list; globs.";

/** Runs what `run` does with a call, unless another state function runs. `mods` are SLS names before `test`. */
async function applyStates(
  { mods, queue, kwargs, ...given }: { mods?: Value; test: Value; queue: Value; kwargs: ValueMap },
  context: JobContext,
  run: (call: ApplyCall) => Promise<Value>,
): Promise<Value> {
  checkNames(mods ?? null);
  const test = testWord(given.test, { ofSls: mods !== undefined });
  // The first thing of a second attempt: a template's command would be taken for the one that continued.
  const commands = await survivingCommands(context);
  return await unlessConflict({ queue, kwargs, context }, () => run({ context, test, kwargs, commands }));
}

const SLS_PARAMS = { exclude: p.any(null), sync_mods: p.any(null) };

export const sls: ModuleFunction<JobContext> = fn({
  ...RUNS,
  doc: describe(
    `Run the states of SLS files.\n\n${MODS}\n\nsync_mods\n    Kinds of custom modules that are fetched first: a list, or \`all\`.\n${RUN_ARGUMENTS}`,
    "state.sls core,edit.vim",
    "state.sls core exclude=\"[{'id': 'id_to_exclude'}, {'sls': 'sls_to_exclude'}]\"",
  ),
  params: {
    mods: p.any(),
    test: p.any(null),
    exclude: p.any(null),
    queue: p.any(null),
    sync_mods: p.any(null),
    state_events: p.any(null),
  },
  run: ({ mods, test, queue, ...more }, context, { kwargs }) =>
    applyStates({ mods, test, queue, kwargs: withGiven(kwargs, more) }, context, (call) => applySls(mods, call)),
});

/** The keyword arguments with those that are declared and given. */
function withGiven(kwargs: ValueMap, given: Readonly<Record<string, Value>>): ValueMap {
  const all = new Map(kwargs);
  for (const [name, value] of Object.entries(given)) if (value !== null) all.set(name, value);
  return all;
}

export const highstate: ModuleFunction<JobContext> = fn({
  ...RUNS,
  doc: describe(
    `Run the states that the top file gives to this minion. Custom modules are fetched first (\`autoload_dynamic_modules\`).

whitelist
    The only SLS names of the top file that count, with commas or as a list.
${RUN_ARGUMENTS}`,
    "state.highstate",
    "state.highstate exclude=sls_to_exclude",
  ),
  params: { test: p.any(null), queue: p.any(null), state_events: p.any(null) },
  run: ({ test, queue, ...more }, context, { kwargs }) =>
    applyStates({ test, queue, kwargs: withGiven(kwargs, more) }, context, applyHighstate),
});

/** The arguments of `state.apply`, which are those of what it calls. */
const APPLY = { mods: p.any(null), test: p.any(null), queue: p.any(null), state_events: p.any(null), ...SLS_PARAMS };

export const apply: ModuleFunction<JobContext> = fn({
  ...RUNS,
  doc: describe(
    `Run the states of SLS files, as \`state.sls\` does; without names, what the top file gives to this minion, as
\`state.highstate\` does.\n\n${MODS}\n\nplan\n    The hash of a plan of \`state.plan\`: exactly that is run, or refused if something has changed since.\n${RUN_ARGUMENTS}`,
    "state.apply",
    "state.apply core,edit.vim test=True",
  ),
  params: { ...APPLY, plan: p.str(null) },
  run: ({ mods, test, queue, plan, ...more }, context, { kwargs }) =>
    applyStates(
      { mods, test, queue, kwargs: withGiven(kwargs, more) },
      context,
      (call) => plan === null ? applyBoth(mods, call) : applyPlan(plan, call),
    ),
});

export const plan: ModuleFunction<JobContext> = fn({
  ...RUNS,
  doc: describe(
    `Run states in test mode, and return a plan with the hash of all its input: the states, the pillar, their files on the file server, and
the state of the host. \`state.apply plan=<hash>\` then applies exactly this plan, or refuses and reports
what has changed. Not in Salt.\n\n${MODS}\n${RUN_ARGUMENTS}`,
    "state.plan",
    "state.plan core,edit.vim",
    "state.apply plan=0f3b6c…",
  ),
  params: APPLY,
  run: ({ mods, queue, test: _test, ...more }, context, { kwargs }) =>
    applyStates({ mods, test: true, queue, kwargs: withGiven(kwargs, more) }, context, (call) => makePlan(mods, call)),
});

export const test: ModuleFunction<JobContext> = fn({
  ...RUNS,
  doc: describe(`As \`state.apply\`, in test mode.\n\n${MODS}\n${RUN_ARGUMENTS}`, "state.test", "state.test core"),
  params: APPLY,
  run: ({ mods, queue, test: _test, ...more }, context, { kwargs }) =>
    applyStates({ mods, test: true, queue, kwargs: withGiven(kwargs, more) }, context, (call) => applyBoth(mods, call)),
});

export const top: ModuleFunction<JobContext> = fn({
  ...RUNS,
  doc: describe(
    `Run the states that another top file gives to this minion.\n\ntopfn\n    The file's name.\n${RUN_ARGUMENTS}`,
    "state.top reverse_top.sls",
  ),
  params: { topfn: p.str(), test: p.any(null), queue: p.any(null) },
  run: ({ topfn, test, queue }, context, { kwargs }) =>
    applyStates({ test, queue, kwargs }, context, (call) => applyTopFile(topfn, call)),
});

export const single: ModuleFunction<JobContext> = fn({
  ...RUNS,
  // Those of the state function, which are checked with it.
  keywords: undefined,
  doc: describe(
    `Run one state function with the arguments of the call.

fun
    The function: \`pkg.installed\`.

name
    Its argument \`name\`.

test
    Only say what would be changed.
${ARGUMENTS}`,
    "state.single pkg.installed name=vim",
  ),
  params: { fun: p.str(), name: p.any(), test: p.any(null), queue: p.any(null) },
  run: ({ fun, name, test, queue }, context, { kwargs }) =>
    applyStates({ test, queue, kwargs }, context, (call) => applySingle(fun, name, call)),
});

export const low: ModuleFunction<JobContext> = fn({
  ...COMMON,
  keywords: RUN_KEYWORDS,
  doc: describe(
    "Run one low chunk.\n\ndata\n    A map with `state`, `fun`, `name` and arguments.",
    `state.low '{"state": "pkg", "fun": "installed", "name": "vi"}'`,
  ),
  params: { data: p.dict(), queue: p.any(null) },
  run: ({ data, queue }, context, { kwargs }) =>
    applyStates({ test: null, queue, kwargs }, context, (call) => applyLow(data, call)),
});

export const high: ModuleFunction<JobContext> = fn({
  ...COMMON,
  keywords: RUN_KEYWORDS,
  doc: describe(
    `Run high data.\n\ndata\n    A map of IDs.\n\ntest\n    Only say what would be changed.\n${ARGUMENTS}`,
    `state.high '{"vim": {"pkg": ["installed"]}}'`,
  ),
  params: { data: p.dict(), test: p.any(null), queue: p.any(null) },
  run: ({ data, test, queue }, context, { kwargs }) =>
    applyStates({ test, queue, kwargs }, context, (call) => applyHigh(data, call)),
});

export const template: ModuleFunction<JobContext> = fn({
  ...RUNS,
  doc: describe(
    `Run the states of a file of this host.\n\ntem\n    Its path; \`.sls\` may be left out.\n${ARGUMENTS}`,
    "state.template /srv/try/web.sls",
  ),
  params: { tem: p.str(), queue: p.any(null) },
  run: ({ tem, queue }, context, { kwargs }) =>
    applyStates({ test: null, queue, kwargs }, context, (call) => applyTemplate(tem, call)),
});

export const template_str: ModuleFunction<JobContext> = fn({
  ...RUNS,
  doc: describe(
    `Run the states of a text, which is rendered as an SLS file is.\n\ntem\n    The text.\n${ARGUMENTS}`,
    "state.template_str '{a: test.nop}'",
  ),
  params: { tem: p.str(), queue: p.any(null) },
  run: ({ tem, queue }, context, { kwargs }) =>
    applyStates({ test: null, queue, kwargs }, context, (call) => applyTemplateText(tem, call)),
});

export const sls_id: ModuleFunction<JobContext> = fn({
  ...RUNS,
  doc: describe(
    `Run the states of one ID of SLS files, and what they require.

id_
    The ID.

${MODS}

test
    Only say what would be changed.
${ARGUMENTS}`,
    "state.sls_id my_state my_module,a_common_module",
  ),
  params: { id_: p.str(), mods: p.any(), test: p.any(null), queue: p.any(null), state_events: p.any(null) },
  run: ({ id_, mods, test, queue, ...more }, context, { kwargs }) =>
    applyStates({ mods, test, queue, kwargs: withGiven(kwargs, more) }, context, (call) => applyId(id_, mods, call)),
});

export const request: ModuleFunction<JobContext> = fn({
  ...RUNS,
  doc: describe(
    `Ask the minion's administrator to run states: they are run in test mode, and \`state.run_request\` runs them.

${MODS}

name : default
    The name of the request.
${RUN_ARGUMENTS}`,
    "state.request",
    "state.request core,edit.vim",
  ),
  params: { ...APPLY, name: p.str("default") },
  run: ({ mods, queue, test: _test, name, ...more }, context, { kwargs }) => {
    const given = withGiven(kwargs, more);
    return applyStates({ mods, test: true, queue, kwargs: given }, context, async (call) => {
      const returned = await applyBoth(mods, call);
      keepRequest(context.opts.cachedir, name, { mods, kwargs: given, returned });
      return returned;
    });
  },
});

export const run_request: ModuleFunction<JobContext> = fn({
  ...RUNS,
  doc: describe(
    "Run a request of `state.request`.\n\nname : default\n    The name of the request. More arguments replace those of the request.",
    "state.run_request",
  ),
  params: { name: p.str("default") },
  run: async ({ name }, context, { kwargs }) => {
    const { cachedir } = context.opts;
    const request = requestNamed(cachedir, name);
    if (request === undefined) return new Map();
    const all = new Map([...request.kwargs, ...kwargs]);
    all.delete("test");
    const queue = all.get("queue") ?? null;
    return await applyStates({ test: null, queue, kwargs: all }, context, async (call) => {
      const returned = await applyBoth(request.mods, call);
      removeRequest(cachedir, name);
      return returned;
    });
  },
});
