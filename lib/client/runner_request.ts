/**
 * Asks the master to run a runner for a user of `external_auth`. The request goes to the request port; the result comes
 * as an event. Source: Salt 3008.3 `salt/client/mixins.py` (`cmd_sync`), `salt/runner.py`.
 * @module
 */

import type { BusEvent } from "#lib/bus/event.ts";
import { LoggedSubscriber } from "#lib/bus/logged_subscriber.ts";
import { checkMasterRunning } from "./master_running.ts";
import { NoMasterError, RefusedError, WireError } from "#lib/errors.ts";
import { subscribedBus } from "./subscribed_bus.ts";
import { askMaster, throwRefusal } from "./token_request.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import type { RunnerOutcome } from "./runner.ts";
import { functionEvent, functionTag } from "#lib/protocol/tags.ts";
import { isMap, map, str, toNumber, type Value, type ValueMap } from "#lib/values/value.ts";

/** Time for the result, in milliseconds: Salt's `rest_timeout`. */
const RESULT_MS = 300_000;

/** The runner's function and its arguments. */
export interface RequestedRunner {
  readonly fun: string;
  readonly args: readonly Value[];
  readonly kwargs: ValueMap;
}

/** How a runner is asked for. */
export interface RunnerRequestOptions {
  /** A token, or a name and a password. */
  readonly proof: ValueMap;
  /** Ends the wait for the result. */
  readonly signal: AbortSignal;
  /** Time for the result, in milliseconds. Default: five minutes. */
  readonly timeoutMs?: number;
}

/** A function that runs on the master: where its events go, and its job id. */
export interface StartedFunction {
  /** `salt/run/20261123231502118734` */
  readonly tag: string;
  readonly jid: string;
}

/**
 * Starts it, and does not wait for its result.
 * @throws {RefusedError} If the rules of the user do not allow it.
 * @throws {NoMasterError} If the master does not answer.
 */
export async function startRunner(
  opts: MasterOpts,
  { fun, args, kwargs }: RequestedRunner,
  proof: ValueMap,
): Promise<StartedFunction> {
  const load = map({ cmd: "runner", fun, kwarg: { arg: [...args], kwarg: kwargs } });
  const reply = await askMaster(opts, new Map([...load, ...proof]));
  throwRefusal(reply);
  const jid = isMap(reply) ? reply.get("jid") : undefined;
  if (typeof jid !== "string") throw new WireError(`The master answered ${str(reply)} to a runner`);
  return { tag: functionTag("runner", jid), jid };
}

/**
 * Starts it and waits for the event of its end.
 * @returns The event; `undefined` when the time is over or the wait was ended.
 * @throws {RefusedError} If the rules of the user do not allow it.
 * @throws {NoMasterError} At once if no master is running on this host, or if it does not answer.
 */
export async function awaitRunner(
  opts: MasterOpts,
  wanted: RequestedRunner,
  { proof, signal, timeoutMs = RESULT_MS }: RunnerRequestOptions,
): Promise<{ readonly started: StartedFunction; readonly event: BusEvent | undefined }> {
  await checkMasterRunning(opts.sock_dir);
  using events = await LoggedSubscriber.connect(subscribedBus(opts), [functionTag("runner", "")]);
  const wakeUp = () => events.close();
  signal.addEventListener("abort", wakeUp);
  try {
    const started = await startRunner(opts, wanted, proof);
    const tag = functionEvent("runner", started.jid, "ret");
    return { started, event: await events.next(timeoutMs, (one) => one === tag) };
  } finally {
    signal.removeEventListener("abort", wakeUp);
  }
}

/** Runs it. A refusal and an absent master are outcomes too, not errors. */
export async function requestRunner(
  opts: MasterOpts,
  wanted: RequestedRunner,
  options: RunnerRequestOptions,
): Promise<RunnerOutcome> {
  try {
    const { started, event } = await awaitRunner(opts, wanted, options);
    if (event === undefined) throw new NoMasterError(`RunnerClient job '${started.jid}' timed out`);
    const ok = event.data.get("success") === true;
    const retcode = toNumber(event.data.get("retcode")) ?? (ok ? 0 : 1);
    return { end: ok ? "done" : "failed", return: event.data.get("return") ?? null, retcode };
  } catch (error) {
    if (error instanceof NoMasterError) return { end: "noMaster", return: error.message, retcode: 1 };
    if (error instanceof RefusedError) return { end: "refused", return: error.message, retcode: 1 };
    throw error;
  }
}
