/**
 * A reaction for tests of the reactor.
 * @module
 */

import type { RenderedEvent } from "#lib/reactor/rendering.ts";
import { map } from "#lib/values/value.ts";

/** Lets minions run `test.ping`, by the id `a` of `/a.sls`. */
export function localReaction(
  tgt: string,
  more: { readonly fun?: string } = {},
): RenderedEvent["reactions"][number] {
  return {
    kind: "local",
    fun: "test.ping",
    args: [],
    kwargs: map({}),
    id: "a",
    file: "/a.sls",
    tgt,
    tgtType: "glob",
    ret: "",
    publish: map({}),
    ...more,
  };
}
