/**
 * The runners and wheel modules of a master.
 * @module
 */

import type { RunnerContext } from "#lib/client/runner_context.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { type Family, loadFamily } from "#lib/plugins/loader.ts";
import type { MasterPython } from "./python_functions.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { RUNNERS } from "#modules/runners/_built_in.ts";
import { WHEEL } from "#modules/wheel/_built_in.ts";

/** All runners: built-in and the user's own. Without `python` those in Python are left out. */
export function loadRunners(opts: MasterOpts, log: Logger, python?: MasterPython): Family<RunnerContext> {
  const builtin = loadFamily<RunnerContext>(RUNNERS, {
    directories: [...opts.runner_dirs, `${opts.extension_modules}/runners`],
    disabled: opts.disable_runners,
    warn: (text) => log.warning(text),
  });
  return python?.family("runners", builtin) ?? builtin;
}

/** All wheel modules: built-in and the user's own. Without `python` those in Python are left out. */
export function loadWheel(opts: MasterOpts, log: Logger, python?: MasterPython): Family<RunnerContext> {
  const builtin = loadFamily<RunnerContext>(WHEEL, {
    directories: [`${opts.extension_modules}/wheel`],
    warn: (text) => log.warning(text),
  });
  return python?.family("wheel", builtin) ?? builtin;
}
