/**
 * The functions of the execution module `state` that show what the states of this minion are, and run none.
 * Source: Salt 3008.3 `salt/modules/state.py`.
 * @module
 */

import * as show from "#lib/states/tree/show.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import type { Value } from "#lib/values/value.ts";
import { ARGUMENTS, checkNames, COMMON, testWord, unlessConflict as orConflict } from "./arguments.ts";

type OfSls = (mods: Value, call: show.ShowCall) => Promise<Value>;

/** A function that shows something of SLS files. */
function ofSls(doc: string, run: OfSls, ...examples: readonly [string, ...string[]]): ModuleFunction<JobContext> {
  return fn({
    ...COMMON,
    doc: describe(
      `${doc}\n\nmods\n    Names of SLS files, with commas or as a list; globs.\n${ARGUMENTS}`,
      ...examples,
    ),
    params: { mods: p.any(), test: p.any(null), queue: p.any(null) },
    run: ({ mods, test, queue }, context, { kwargs }) => {
      checkNames(mods);
      return unlessConflict(queue, callOf(context, kwargs, testWord(test, { ofSls: true })), (call) => run(mods, call));
    },
  });
}

/** A function that shows something of what the top file gives to this minion. */
function ofTop(
  doc: string,
  run: (call: show.ShowCall) => Promise<Value>,
  ...examples: readonly [string, ...string[]]
): ModuleFunction<JobContext> {
  return fn({
    ...COMMON,
    doc: describe(`${doc}\n${ARGUMENTS}`, ...examples),
    params: { queue: p.any(null) },
    run: ({ queue }, context, { kwargs }) => unlessConflict(queue, callOf(context, kwargs, null), run),
  });
}

function callOf(context: JobContext, kwargs: ReadonlyMap<Value, Value>, test: Value): show.ShowCall {
  const own = new Map(kwargs);
  if (test !== null) own.set("test", test);
  return { context, kwargs: own };
}

/** What `run` shows, unless another state function runs. */
async function unlessConflict(
  queue: Value,
  call: show.ShowCall,
  run: (call: show.ShowCall) => Promise<Value>,
): Promise<Value> {
  return await orConflict({ queue, ...call }, () => run(call));
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
  params: { ids: p.any(), mods: p.any(), test: p.any(null), queue: p.any(null) },
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
