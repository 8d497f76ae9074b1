/**
 * The clients `runner`, `runner_async`, `wheel` and `wheel_async`: functions on the master, which runs them itself and
 * checks the rights of the user.
 * Source: Salt 3008.3 `salt/netapi/__init__.py`, `salt/client/mixins.py`; answers of a live salt-api.
 * @module
 */

import { argumentsIn } from "#lib/protocol/low.ts";
import { awaitRunner, type RequestedRunner, startRunner } from "#lib/client/runner_request.ts";
import { askWheel, startWheel } from "#lib/client/wheel_request.ts";
import { fromWireArgs } from "#lib/yaml/arguments.ts";
import { functionEvent } from "#lib/protocol/tags.ts";
import { ApiError } from "#lib/api/http/api_error.ts";
import { RefusedError } from "#lib/errors.ts";
import { map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { type ApiCaller, noteRefusal, proofWithTrace } from "./caller.ts";
import { argList } from "./local_calls.ts";

/** `runner`: its return; with `full_return` the event of its end. */
export async function runRunnerCall(low: ValueMap, caller: ApiCaller): Promise<Value[]> {
  const { opts, signal } = caller;
  const wanted = wantedCall(low, "runner");
  const timeoutMs = opts.rest_timeout * 1000;
  const { started: { jid }, event } = await orRefused(
    caller,
    () => awaitRunner(opts, wanted, { proof: proofWithTrace(caller), signal, timeoutMs }),
  );
  if (event === undefined) throw new ApiError(504, `RunnerClient job '${jid}' timed out`);
  if (low.get("full_return") === true) return [map({ tag: functionEvent("runner", jid, "ret"), data: event.data })];
  return [event.data.get("return") ?? null];
}

/** `runner_async`: the tag of its events, and its job id. */
export async function startRunnerCall(low: ValueMap, caller: ApiCaller): Promise<Value[]> {
  const { tag, jid } = await orRefused(
    caller,
    () => startRunner(caller.opts, wantedCall(low, "runner"), proofWithTrace(caller)),
  );
  return [map({ tag, jid })];
}

/** `wheel`: always the whole reply. */
export async function runWheelCall(low: ValueMap, caller: ApiCaller): Promise<Value[]> {
  const wanted = wantedCall(low, "wheel");
  const { tag, data } = await orRefused(caller, () => askWheel(caller.opts, wanted, proofWithTrace(caller)));
  const shown = new Map(data);
  // Salt's answers have it only if the function failed, and begin that text so.
  if (data.get("success") === true) shown.delete("_stamp");
  else shown.set("return", wheelFailure(wanted.fun, data.get("return") ?? null));
  return [map({ tag, data: shown })];
}

function wheelFailure(fun: string, text: Value): Value {
  const beginning = `Exception occurred in wheel ${fun}: `;
  return typeof text !== "string" || text.startsWith(beginning) ? text : `${beginning}${text}`;
}

/** `wheel_async`: the tag of its events, and its job id. */
export async function startWheelCall(low: ValueMap, caller: ApiCaller): Promise<Value[]> {
  const { tag, jid } = await orRefused(
    caller,
    () => startWheel(caller.opts, wantedCall(low, "wheel"), proofWithTrace(caller)),
  );
  return [map({ tag, jid })];
}

/**
 * The function and its arguments.
 * @throws {ApiError} 400 without a function, or with an argument given twice.
 */
function wantedCall(low: ValueMap, client: "runner" | "wheel"): RequestedRunner {
  const fun = low.get("fun");
  if (typeof fun !== "string") throw new ApiError(400, `${client} takes at least 1 argument (0 given)`);
  const named = argumentsIn(withoutOwnFields(low));
  const words = fromWireArgs(argList(low));
  const twice = [...words.kwargs.keys()].find((name) => named.kwargs.has(name));
  if (twice !== undefined) throw new ApiError(400, `The argument ${str(twice)} is given twice`);
  const ambiguity = named.ambiguity ?? words.ambiguity;
  if (ambiguity !== undefined) throw new ApiError(400, ambiguity);
  return { fun, args: words.args, kwargs: new Map([...named.kwargs, ...words.kwargs]) };
}

/** Fields of a chunk that are no arguments, besides those of every request. */
function withoutOwnFields(low: ValueMap): ValueMap {
  return new Map([...low].filter(([name]) => name !== "timeout" && name !== "raw_shell"));
}

/** @throws {ApiError} 401 in Salt's words, if the master refuses. */
async function orRefused<T>(caller: ApiCaller, ask: () => Promise<T>): Promise<T> {
  const { proof, user } = caller;
  try {
    return await ask();
  } catch (error) {
    noteRefusal(error, caller);
    if (!(error instanceof RefusedError) || error.kind === "TokenAuthenticationError") throw error;
    const type = proof.has("token") ? "token" : "eauth";
    throw new ApiError(401, `Authentication failure of type "${type}" occurred for user ${user}. ${error.message}`);
  }
}
