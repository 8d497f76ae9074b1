/**
 * Events of single states, for the master: `state_events`, and the argument `fire_event` of a state.
 * Source: Salt 3008.3, `State.event` of `salt/state.py`.
 * @module
 */

import { isMasterless } from "#lib/config/masterless.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { stateProgress } from "#lib/protocol/tags.ts";
import { type Chunk, field } from "#lib/states/compiler/chunks.ts";
import { map, toNumber, type ValueMap } from "#lib/values/value.ts";

/** Which events a run fires. */
export interface EventSetting {
  readonly jid: string;
  /** Whether every state has one. */
  readonly progress: boolean;
  /** How many chunks there are. */
  readonly total: number;
}

/** Fires the event of a state that has a result. Does nothing without a master. */
export async function fireStateEvent(
  { chunk, result, context }: { chunk: Chunk; result: ValueMap; context: JobContext },
  { jid, progress, total }: EventSetting,
): Promise<void> {
  const wanted = chunk.get("fire_event") ?? false;
  if (wanted === false && !progress || isMasterless(context.opts)) return;
  const id = context.opts.id ?? "";
  const data = map({ ret: result });
  let tag: string;
  if (wanted === true) tag = `salt/state_result/${jid}/${id}/${field(result, "name")}`;
  else if (typeof wanted === "string") tag = `salt/state_result/${jid}/${id}/${wanted}`;
  else {
    tag = stateProgress(jid, id, toNumber(result.get("__run_num__")) ?? 0);
    data.set("len", total);
  }
  await context.call("event.fire_master", [data, tag], map({ preload: map({ jid }) }));
}
