/**
 * The runners and wheel modules of a master.
 * @module
 */

import type { RunnerContext } from "#lib/client/runner_context.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { type Family, loadFamily } from "#lib/plugins/loader.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { RUNNERS } from "#modules/runners/_built_in.ts";
import { WHEEL } from "#modules/wheel/_built_in.ts";

/** All runners: built-in and the user's own. */
export function loadRunners(opts: MasterOpts, log: Logger): Family<RunnerContext> {
  return loadFamily<RunnerContext>(RUNNERS, {
    directories: [...opts.runner_dirs, `${opts.extension_modules}/runners`],
    disabled: opts.disable_runners,
    warn: (text) => log.warning(text),
  });
}

/** All wheel modules: built-in and the user's own. */
export function loadWheel(opts: MasterOpts, log: Logger): Family<RunnerContext> {
  return loadFamily<RunnerContext>(WHEEL, {
    directories: [`${opts.extension_modules}/wheel`],
    warn: (text) => log.warning(text),
  });
}
