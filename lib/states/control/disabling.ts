/**
 * States that an operator disabled on this minion: the grain `state_runs_disabled`.
 * Source: Salt 3008.3, `_disabled`, `enable`, `disable` of `salt/modules/state.py`.
 * @module
 */

import type { JobContext } from "#lib/plugins/job_context.ts";
import { listOrEmpty } from "#lib/values/shape.ts";
import { splitInput } from "#lib/values/split_input.ts";
import { map, str, type Value, type ValueMap } from "#lib/values/value.ts";

const GRAIN = "state_runs_disabled";

/** The disabled runs: SLS names, `highstate`, globs of state functions. */
export function disabledRuns({ grains }: Pick<JobContext, "grains">): string[] {
  return listOrEmpty(grains.get(GRAIN)).map(str);
}

/** The texts for those of `names` that are disabled. */
export function disabledTexts(names: readonly string[], context: Pick<JobContext, "grains">): string[] {
  const disabled = disabledRuns(context);
  return names.flatMap((name) =>
    disabled.flatMap((by) => {
      if (by.includes(".*")) {
        if (!name.startsWith(`${by.split(".", 1)[0]}.`)) return [];
        return [`The state file "${name}" is currently disabled by "${by}", to re-enable, run state.enable ${by}.`];
      }
      return by === name
        ? [`The state file "${name}" is currently disabled, to re-enable, run state.enable ${name}.`]
        : [];
    })
  );
}

/**
 * Disables states, or enables them again.
 * @returns What was done with each, as Salt says it.
 */
export async function setDisabledRuns(states: Value, off: boolean, context: JobContext): Promise<ValueMap> {
  const disabled = disabledRuns(context);
  const words = off ? "disabled" : "enabled";
  const left = new Set(disabled);
  const messages = splitInput(states).map((state) => {
    if (left.has(state) === off) return `Info: ${state} state already ${words}.`;
    if (off) left.add(state);
    else left.delete(state);
    return `Info: ${state} state ${words}.`;
  });
  if (left.size !== disabled.length) await context.call("grains.setval", [GRAIN, [...left]]);
  await context.outside.refresh("modules");
  return map({ res: true, msg: messages.join("\n") });
}
