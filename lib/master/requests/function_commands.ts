/**
 * The clear commands `runner`, `wheel` and `wheel_async`: functions that run on the master itself, for clients that
 * may run them. A runner is answered at once, with the tag of its events; a wheel function with its result.
 * Source: Salt 3008.3 `salt/master.py` (ClearFuncs.runner, ClearFuncs.wheel); docs/protocol.md "Clear commands".
 * @module
 */

import { stampNow } from "#lib/bus/event.ts";
import { RefusedError, WireError } from "#lib/errors.ts";
import { makeJid } from "#lib/protocol/jid.ts";
import { requestArguments } from "#lib/protocol/low.ts";
import { type FunctionKind, functionTag } from "#lib/protocol/tags.ts";
import { truncate, truncateValue } from "#lib/text/truncate.ts";
import { claimedUser } from "./job_text.ts";
import type { Caller } from "#lib/auth/callers.ts";
import type { MasterCall } from "#lib/auth/rules.ts";
import type { FunctionJob } from "#lib/master/functions/messages.ts";
import type { Needs } from "./services.ts";
import { map, type ValueMap } from "#lib/values/value.ts";

type FunctionNeeds = Needs<"auth" | "functions" | "opts" | "log" | "warn">;

/**
 * `runner`: starts it.
 * @returns `{tag, jid}`, or `{error: {name, message}}`.
 * @throws {WireError} Without a function.
 */
export function runnerCommand(load: ValueMap, services: FunctionNeeds): Promise<ValueMap> {
  return start("runner", load, services);
}

/**
 * `wheel_async`, which Salt has not: starts a wheel function.
 * @returns `{tag, jid}`, or `{error: {name, message}}`.
 * @throws {WireError} Without a function.
 */
export function wheelAsyncCommand(load: ValueMap, services: FunctionNeeds): Promise<ValueMap> {
  return start("wheel", load, services);
}

function start(kind: FunctionKind, load: ValueMap, services: FunctionNeeds): Promise<ValueMap> {
  return perform(kind, load, services, async (job) => {
    await services.functions.start(job);
    return map({ tag: functionTag(kind, job.jid), jid: job.jid });
  });
}

/**
 * `wheel`: runs it.
 * @returns `{tag, data}` with the result, or `{error: {name, message}}`.
 * @throws {WireError} Without a function.
 */
export function wheelCommand(load: ValueMap, services: FunctionNeeds): Promise<ValueMap> {
  return perform("wheel", load, services, async (job) => {
    const outcome = await services.functions.call(job);
    const tag = functionTag("wheel", job.jid);
    const { fun, jid, user } = job;
    return map({ tag, data: { fun: `wheel.${fun}`, jid, tag, user, _stamp: stampNow(), ...outcome } });
  });
}

async function perform(
  kind: FunctionKind,
  load: ValueMap,
  services: FunctionNeeds,
  run: (job: FunctionJob) => Promise<ValueMap>,
): Promise<ValueMap> {
  const fun = load.get("fun");
  if (typeof fun !== "string") throw new WireError(`a ${kind} request without a function`, "fun");
  const request = requestArguments(load, kind);
  try {
    const { user } = await authorize(load, { form: kind, fun, ...request }, services);
    const jid = makeJid(undefined, { unique: services.opts.unique_jid });
    services.log.info(`User ${user} runs ${kind} ${truncate(fun)} with jid ${jid}`);
    return await run({ kind, fun, ...request, jid, user });
  } catch (error) {
    if (!(error instanceof RefusedError)) throw error;
    const user = truncateValue(claimedUser(load));
    services.warn(`Refused ${kind} ${truncate(fun)} of ${user}: ${error.kind}`);
    return map({ error: { name: error.kind, message: error.message } });
  }
}

/**
 * Authenticates the user, and checks that the user may run the function.
 * @throws {RefusedError} With Salt's name and text.
 */
async function authorize(load: ValueMap, call: MasterCall, { auth: { callers } }: Needs<"auth">): Promise<Caller> {
  try {
    return await callers.forMasterCall(load, call);
  } catch (error) {
    if (!(error instanceof RefusedError) || load.has("token") || load.has("eauth")) throw error;
    throw new RefusedError("UserAuthenticationError", 'Authentication failure of type "user" occurred');
  }
}
