/**
 * Runs a function on minions for an endpoint, with the return code and the outcome of each.
 * @module
 */

import { runChunk } from "#lib/api/calls/run_chunks.ts";
import { sessionCaller } from "#lib/api/endpoints/callers.ts";
import type { ApiParts, ApiRequest } from "#lib/api/endpoints/endpoint.ts";
import { isMap, str, type Value, type ValueMap } from "#lib/values/value.ts";

/**
 * Runs a chunk of the client `local`.
 * @returns By id: `ret`, `retcode`, `jid`. One that did not return has an `outcome` as well, and a text for people.
 */
export async function fullReturns(
  low: ValueMap,
  request: ApiRequest,
  parts: ApiParts,
): Promise<ReadonlyMap<string, ValueMap>> {
  const chunk = new Map<Value, Value>([...low, ["client", "local"], ["full_return", true]]);
  const [entry] = await runChunk(chunk, sessionCaller(request, parts));
  const returns = isMap(entry) ? [...entry] : [];
  return new Map(returns.flatMap(([id, full]) => isMap(full) ? [[str(id), full]] : []));
}

/** Whether the minion of one of these entries returned. */
export function isReturn(full: ValueMap | undefined): full is ValueMap {
  return full !== undefined && !full.has("outcome");
}
