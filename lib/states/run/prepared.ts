/**
 * The setup of a function that runs states: the settings of its call, the minion's states, and the environment in which
 * they run. Source: Salt 3008.3, `salt/modules/state.py`.
 * @module
 */

import { loadMinionConfig } from "#lib/config/load.ts";
import { loadYamlMapping } from "#lib/yaml/load.ts";
import { type HighState, openHighState, type OpenSetting } from "#lib/states/tree/high_state.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import type { Chunk } from "#lib/states/compiler/chunks.ts";
import { str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";
import type { SurvivingCommand } from "#lib/states/control/interrupted_run.ts";
import { RETCODE } from "#lib/states/tree/retcode.ts";
import { textOrNull } from "#lib/values/shape.ts";
import { isTestMode } from "./test_mode.ts";

/** How a function was called. */
export interface ApplyCall {
  readonly context: JobContext;
  /** The argument `test`; `null`: not given. */
  readonly test: Value;
  /** Arguments that many functions have: `saltenv`, `pillar`, `exclude`, `mock`, …. */
  readonly kwargs: ValueMap;
  /** Commands that continued when the minion ended in the middle of this run. */
  readonly commands?: readonly SurvivingCommand[];
  /** Called with the chunks before they run. */
  compiled?(chunks: readonly Chunk[], job: JobContext): Promise<void>;
}

/** A call whose states can be compiled. */
export interface Prepared {
  readonly call: ApplyCall;
  readonly states: HighState;
  /** The job with the options and the pillar of the run, not yet in its mode. */
  readonly job: JobContext;
  readonly test: boolean;
}

/** The job with the options of the file that a call names by `localconfig`, over those of the minion's files. */
function withLocalConfig({ context, kwargs }: ApplyCall): JobContext {
  const path = kwargs.get("localconfig") ?? null;
  if (path === null) return context;
  const { config_dir } = context.opts;
  const { value: written } = loadYamlMapping(Deno.readTextFileSync(str(path)), str(path));
  const overrides = Object.fromEntries([...written].map(([name, value]) => [str(name), value]));
  const { opts } = loadMinionConfig({ configDir: config_dir, overrides: { id: context.opts.id, ...overrides } });
  // Objects that are cached for the job, such as its file client, have other options.
  return { ...context, opts, outside: { ...context.outside } };
}

/** What a function returns instead of running, with its return code set. */
export class CallRefusal {
  constructor(readonly returned: Value) {}
}

/**
 * Prepares a run; its pillar is made again.
 * @param setting.options Options that the call replaces.
 * @param setting.ofSls As of {@linkcode openHighState}.
 * @throws {CommandError}
 * @throws {InvocationError} For arguments that cannot be.
 */
export async function prepare(
  call: ApplyCall,
  setting: Pick<OpenSetting, "options" | "ofSls"> = {},
): Promise<Prepared | CallRefusal> {
  const { kwargs } = call;
  const context = withLocalConfig(call);
  const test = isTestMode(call.test, kwargs, context);
  const states = await openHighState(context, new Map(kwargs).set("test", test), { ...setting, freshPillar: true });
  const errors = states.pillar.get("_errors");
  if (truthy(errors) && !truthy(kwargs.get("force"))) {
    context.setRetcode(RETCODE.pillar);
    const list = Array.isArray(errors) ? errors : [errors ?? null];
    return new CallRefusal(["Pillar failed to render with the following messages:", ...list]);
  }
  const pillarenv = states.opts.get("pillarenv") ?? null;
  const opts = {
    ...context.opts,
    test,
    saltenv: states.saltenv ?? context.opts.saltenv,
    pillarenv: textOrNull(pillarenv),
  };
  return { call, states, job: { ...context, opts, pillar: states.pillar }, test };
}
