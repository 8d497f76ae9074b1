/**
 * Execution module `state`: what the states of this minion are. Nothing is applied yet.
 * Source: Salt 3008.3 `salt/modules/state.py`; `lint` is not in Salt.
 * @module
 */

import { conflictOf, runningStates } from "../../lib/highstate/conflicts.ts";
import { lint as lintStates } from "../../lib/highstate/lint.ts";
import * as show from "../../lib/highstate/show.ts";
import { describe } from "../../lib/plugins/docs.ts";
import { fn, type JobContext } from "../../lib/plugins/job_context.ts";
import { any, bool, type ModuleFunction, str } from "../../lib/plugins/module.ts";
import type { Value } from "../../lib/values/value.ts";

const ARGUMENTS = `
saltenv
    The environment of files and states. Default: the option of that name, else \`base\` for named files and every one for the
    top file.

pillar
    Pillar data that win over the others, as a dictionary; with \`pillar_enc\` encrypted by the renderer of that name.

pillarenv
    The one environment of pillar.

queue : False
    Wait until other state functions of this minion have ended, instead of refusing.`;

/** What templates do is not known beforehand. */
const COMMON = { permissions: "all", varKwargs: "kwargs" } as const;

type OfSls = (mods: Value, call: show.Call) => Promise<Value>;

/** A function that shows something of SLS files. */
function ofSls(doc: string, run: OfSls, ...examples: readonly string[]): ModuleFunction<JobContext> {
  return fn({
    ...COMMON,
    doc: describe(
      `${doc}\n\nmods\n    Names of SLS files, with commas or as a list; globs.\n${ARGUMENTS}`,
      ...examples,
    ),
    params: { mods: any(), test: any(null), queue: any(null) },
    run: ({ mods, test, queue }, context, { kwargs }) =>
      unlessConflict(queue, callOf(context, kwargs, test), (call) => run(mods, call)),
  });
}

/** A function that shows something of what the top file gives to this minion. */
function ofTop(
  doc: string,
  run: (call: show.Call) => Promise<Value>,
  ...examples: readonly string[]
): ModuleFunction<JobContext> {
  return fn({
    ...COMMON,
    doc: describe(`${doc}\n${ARGUMENTS}`, ...examples),
    params: { queue: any(null) },
    run: ({ queue }, context, { kwargs }) => unlessConflict(queue, callOf(context, kwargs, null), run),
  });
}

function callOf(context: JobContext, kwargs: ReadonlyMap<Value, Value>, test: Value): show.Call {
  const own = new Map(kwargs);
  if (test !== null) own.set("test", test);
  return { context, kwargs: own };
}

/** What `run` shows; while another state function runs, who it is, and return code 1. */
async function unlessConflict(queue: Value, call: show.Call, run: (call: show.Call) => Promise<Value>): Promise<Value> {
  const conflict = await conflictOf(call.context, queue, call.kwargs);
  if (conflict === undefined) return await run(call);
  call.context.setRetcode(1);
  return conflict;
}

export const show_sls: ModuleFunction<JobContext> = ofSls(
  "Show the states of SLS files as they are after rendering: high data, or a list of what is wrong.",
  show.showSls,
  "state.show_sls core,edit.vim saltenv=dev",
);

export const show_low_sls: ModuleFunction<JobContext> = ofSls(
  `Show the states of SLS files as single calls in their order: low data, or a list of what is wrong. Extensions, excludes and
requisites that end in \`_in\` are not applied; \`state.show_lowstate\` applies them.`,
  show.showLowSls,
  "state.show_low_sls core,edit.vim",
);

export const graph: ModuleFunction<JobContext> = ofSls(
  "Show the requisites of the states of SLS files as a graph in Graphviz's language.",
  show.graphSls,
  "state.graph core --out=txt | dot -Tpng -o states.png",
);

export const sls_exists: ModuleFunction<JobContext> = ofSls(
  "Whether `state.show_sls` shows states of these files.",
  show.slsExists,
  "state.sls_exists core,edit.vim",
);

export const id_exists: ModuleFunction<JobContext> = fn({
  ...COMMON,
  doc: describe(
    `Whether SLS files have all of these IDs.\n\nids\n    IDs, with commas or as a list.\n\nmods\n    Names of SLS files.\n${ARGUMENTS}`,
    "state.id_exists create_myfile,update_template filestate saltenv=dev",
  ),
  params: { ids: any(), mods: any(), test: any(null), queue: any(null) },
  run: ({ ids, mods, test, queue }, context, { kwargs }) =>
    unlessConflict(queue, callOf(context, kwargs, test), (call) => show.idExists(ids, mods, call)),
});

export const show_highstate: ModuleFunction<JobContext> = ofTop(
  "Show the states that the top file gives to this minion: high data, or a list of what is wrong.",
  show.showHighstate,
  "state.show_highstate",
);

export const graph_highstate: ModuleFunction<JobContext> = ofTop(
  "Show the requisites of the states that the top file gives to this minion as a graph in Graphviz's language.",
  show.graphHighstate,
  "state.graph_highstate --out=txt | dot -Tpng -o highstate.png",
);

export const show_lowstate: ModuleFunction<JobContext> = ofTop(
  "Show what a highstate would run, in its order: low data, or a list of what is wrong.",
  show.showLowstate,
  "state.show_lowstate",
);

export const show_states: ModuleFunction<JobContext> = ofTop(
  "List the SLS files whose states a highstate would run.",
  show.showStates,
  "state.show_states",
);

export const show_top: ModuleFunction<JobContext> = ofTop(
  "Show the SLS names that the top file gives to this minion, by environment.",
  show.showTop,
  "state.show_top",
);

export const show_state_usage: ModuleFunction<JobContext> = ofTop(
  "Show which SLS files of each environment the top file gives to this minion, and which it does not.",
  show.showStateUsage,
  "state.show_state_usage",
);

export const running: ModuleFunction<JobContext> = fn({
  doc: describe("List the other state functions that run on this minion.", "state.running"),
  params: { concurrent: bool(false) },
  run: ({ concurrent }, context) => concurrent ? [] : runningStates(context),
});

export const lint: ModuleFunction<JobContext> = fn({
  ...COMMON,
  doc: describe(
    `Say everything that is wrong in a tree of states, with file, line and column; the exit code is 1 then. Nothing of the host
is needed, so this is for a CI: \`salt-call --local --file-root=. state.lint\`. Not in Salt.

mods
    Names of SLS files that are compiled together. Default: what the top file gives to this minion together, and every file of
    every environment alone that no other one includes.

pillar_file
    A YAML file with pillar data.

grains_file
    A YAML file with grains, which replace those of this host.
${ARGUMENTS}`,
    "state.lint",
    "state.lint web,db pillar_file=tests/pillar.yaml grains_file=tests/debian12.yaml",
  ),
  params: { mods: any(null), pillar_file: str(null), grains_file: str(null) },
  run: ({ mods, pillar_file, grains_file }, context, { kwargs }) =>
    lintStates({ context, mods, kwargs, pillarFile: pillar_file, grainsFile: grains_file }),
});
