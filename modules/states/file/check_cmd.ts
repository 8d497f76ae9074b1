/**
 * State module `file`: what tells the runtime that this module runs `check_cmd` itself, before a file is put in place.
 * Source: Salt 3008.3 `salt/states/file.py` mod_run_check_cmd.
 * @module
 */

import { refusalOf } from "./trial.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { startResult, stateFn } from "#lib/plugins/state_module.ts";

export const mod_run_check_cmd: ModuleFunction<StateContext> = stateFn({
  doc: "Run a command with a file's path as its last argument, as `check_cmd` of this module's states does.\n\n" +
    "cmd\n    The command.\n\nfilename\n    The path.",
  params: { cmd: p.str(), filename: p.str() },
  varKwargs: "check_cmd_opts",
  run: async ({ cmd, filename }, context, { kwargs }) => {
    const refused = await refusalOf(cmd, filename, context, kwargs);
    return { ...startResult(filename), ...refused };
  },
});
