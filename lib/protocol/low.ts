/**
 * The request for a function that runs on the master: how Salt's RunnerClient and WheelClient send its arguments. They
 * are parsed once, so that the checked arguments are those that are run. Source: Salt 3008.3 `salt/client/mixins.py`
 * (low, CLIENT_INTERNAL_KEYWORDS), `salt/master.py` (ClearFuncs).
 * @module
 */

import { listOrEmpty } from "#lib/values/shape.ts";
import { fromNamedArgs, type ReadArgs } from "#lib/yaml/arguments.ts";
import { isMap, type Value, type ValueMap } from "#lib/values/value.ts";
import type { FunctionKind } from "./tags.ts";

/** Fields of a request that are not arguments: credentials, and fields of the request itself. */
const REQUEST_FIELDS: ReadonlySet<Value> = new Set([
  "cmd",
  "fun",
  "key",
  "user",
  "token",
  "eauth",
  "username",
  "password",
  "token_expire",
  "client",
  "arg",
  "kwarg",
  "args",
  "kwargs",
  "full_return",
  "print_event",
  "__jid__",
  "__tag__",
  "__user__",
  "__kwarg__",
]);

/**
 * The arguments in the request `load`. A runner's are in `kwarg`: as `{arg, kwarg}`, or as keyword arguments. Those of
 * a wheel function are in `arg` and `kwarg`; all other fields are keyword arguments too.
 */
export function requestArguments(load: ValueMap, kind: FunctionKind): ReadArgs {
  const inner = load.get("kwarg");
  if (kind === "wheel") return argumentsIn(load);
  return isMap(inner) ? argumentsIn(inner) : fromNamedArgs([], []);
}

/** The arguments in a low chunk: `arg`, `kwarg`, and all fields that are none of the request. */
export function argumentsIn(low: ValueMap): ReadArgs {
  const args = low.get("arg"), kwarg = low.get("kwarg");
  const fields: ValueMap = new Map([...low].filter(([name]) => !REQUEST_FIELDS.has(name)));
  return fromNamedArgs(listOrEmpty(args), isMap(kwarg) ? [fields, kwarg] : [fields]);
}
