/**
 * Returners in Python on a master: each call has a process of its own.
 * @module
 */

import { optsValues } from "#lib/config/opts_map.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { CommandError } from "#lib/errors.ts";
import { masterPlugins } from "#lib/master/functions/python_plugins.ts";
import type { Family } from "#lib/plugins/loader.ts";
import type { ReturnerContext } from "#lib/plugins/returner.ts";
import { withPythonFamily } from "#lib/python_bridge/loader/python_family.ts";
import { type PythonLease, SeparateCalls } from "#lib/python_bridge/loader/separate_calls.ts";
import { answerTexts } from "#lib/python_bridge/loader/text_questions.ts";
import type { Logger } from "#lib/runtime/log.ts";

/** What the calls need. */
interface MasterReturnersParts {
  readonly opts: MasterOpts;
  readonly log: Logger;
  readonly lease: PythonLease;
  readonly signal: AbortSignal;
}

/** The returners of `builtin` and those in Python. */
export function withMasterReturners(
  builtin: Family<ReturnerContext>,
  { opts, log, lease, signal }: MasterReturnersParts,
): Family<ReturnerContext> {
  const plugins = masterPlugins(opts, log.warning);
  const calls = new SeparateCalls<{ readonly signal: AbortSignal }>({
    role: "master",
    plugins,
    log,
    context: () => ({ signal }),
    answers: () => (question) => {
      switch (question.what) {
        case "opts":
          return Promise.resolve(optsValues(opts).set("__role", "master"));
        case "grains":
        case "pillar":
          return Promise.resolve({});
        case "has":
          return Promise.resolve(false);
        case "names":
          return Promise.resolve([]);
        default: {
          const answer = answerTexts(question);
          return answer === undefined
            ? Promise.reject(new CommandError(`a returner of a master cannot use ${question.what}`))
            : Promise.resolve(answer.value);
        }
      }
    },
    isHidden: () => false,
  }, lease);
  return withPythonFamily(builtin, {
    family: "returners",
    plugins,
    find: (family, fun) => calls.find(family, fun),
    describe: (family) => calls.describe(family),
    call: (call, context) => calls.request({ kind: "call", ...call, test: false }, context),
  });
}
