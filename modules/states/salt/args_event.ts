/**
 * The event with the arguments of a call of an orchestration, fired before the call.
 * Source: Salt 3008.3 `salt/utils/event.py` fire_args.
 * @module
 */

import { fireEvent } from "#lib/bus/fire.ts";
import { masterBus } from "#lib/bus/paths.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { functionEvent } from "#lib/protocol/tags.ts";
import { map, type Value, type ValueMap } from "#lib/values/value.ts";

/** What an orchestration calls. */
export interface OrchestratedCall {
  readonly type: "state" | "function" | "runner" | "wheel";
  /** The name of the function; of `state`, that of the state. */
  readonly name: string;
  /** The target, for jobs on minions. */
  readonly tgt?: Value;
  readonly args: ValueMap | readonly Value[];
  readonly kwargs?: ValueMap;
}

/** Fires `salt/run/<jid>/args` on the master's bus, if this is an orchestration. */
export async function fireCall({ args, ...call }: OrchestratedCall, { opts, job }: StateContext): Promise<void> {
  const { jid } = job;
  if (opts.extra.get("__role") !== "master" || typeof jid !== "string") return;
  const tag = functionEvent("runner", jid, "args");
  // Without a running master nobody could see it.
  await fireEvent(masterBus(opts.sock_dir), tag, map({ ...call, args: args instanceof Map ? args : [...args] }));
}
