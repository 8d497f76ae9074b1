/**
 * What reactor files would do about an event, for operators.
 * @module
 */

import type { MasterOpts } from "#lib/config/options.ts";
import { mistakeText, type RenderEvent } from "#lib/reactor/rendering.ts";
import type { Reaction } from "#lib/reactor/reaction.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { map, type Value, type ValueMap } from "#lib/values/value.ts";
import { EventRenderer } from "./event_renderer.ts";

let renderer: Promise<EventRenderer> | undefined;

/** Renders the files and compiles their reactions; starts none. */
export async function explainEvent(
  event: RenderEvent,
  { opts, log, signal }: { readonly opts: MasterOpts; readonly log: Logger; readonly signal: AbortSignal },
): Promise<ValueMap> {
  renderer ??= EventRenderer.open(opts, { log, signal });
  const { rendered = [], reactions, mistakes } = await (await renderer).render(event, true);
  return map({
    rendered: rendered.map(({ path, data }): Value => map({ path, data })),
    reactions: reactions.map((reaction): Value => reactionText(reaction)),
    mistakes: mistakes.map(mistakeText),
  });
}

/** What a reaction would call. */
function reactionText({ kind, fun, id, file, args, kwargs, tgt, tgtType, ret, publish }: Reaction): ValueMap {
  const call = map({ id, file, call: `${kind}.${fun}`, args: [...args], kwargs });
  if (kind !== "local") return call;
  call.set("tgt", tgt).set("tgt_type", tgtType);
  if (ret !== "") call.set("ret", ret);
  for (const [key, value] of publish) call.set(key, value);
  return call;
}
