/**
 * Execution module `state`: the states of this minion. Functions that run them are in `applying.ts`, those that
 * control runs in `controlling.ts`, those that only show something in `showing.ts`. Source: Salt 3008.3
 * `salt/modules/state.py`; `lint` is not in Salt.
 * @module
 */

import { lint as lintStates } from "#lib/states/tree/lint.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { ARGUMENTS, COMMON } from "./arguments.ts";

export const lint: ModuleFunction<JobContext> = fn({
  ...COMMON,
  doc: describe(
    `Report all errors in a state tree, with file, line and column; the exit code is then 1. It needs nothing of the host, so
it suits CI: \`salt-call --local --file-root=. state.lint\`. Not in Salt.

mods
    Names of SLS files that are compiled together. Default: the files that the top file gives to this minion, compiled together, and
    each other file that no file includes, alone.

pillar_file
    A YAML file with pillar data.

grains_file
    A YAML file with grains, which replace those of this host.
${ARGUMENTS}`,
    "state.lint",
    "state.lint web,db pillar_file=tests/pillar.yaml grains_file=tests/debian12.yaml",
  ),
  params: { mods: p.any(null), pillar_file: p.str(null), grains_file: p.str(null) },
  run: ({ mods, pillar_file, grains_file }, context, { kwargs }) =>
    lintStates({ context, mods, kwargs, pillarFile: pillar_file, grainsFile: grains_file }),
});
