/**
 * Asks the master to run a runner for a user of `external_auth`. The request goes to the request port; the result comes
 * as an event. Source: Salt 3008.3 `salt/client/mixins.py` (`cmd_sync`), `salt/runner.py`.
 * @module
 */

import { EventSubscriber } from "#lib/bus/subscriber.ts";
import { masterBus } from "#lib/bus/paths.ts";
import { checkMasterRunning } from "./master_running.ts";
import { NoMasterError, RefusedError, WireError } from "#lib/errors.ts";
import { askMaster } from "./token_request.ts";
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

/**
 * Runs it. A refusal and an absent master are outcomes too, not errors.
 * @param proof A token, or a name and a password.
 */
export async function requestRunner(
  opts: MasterOpts,
  { fun, args, kwargs }: RequestedRunner,
  { proof, signal }: { readonly proof: ValueMap; readonly signal: AbortSignal },
): Promise<RunnerOutcome> {
  try {
    await checkMasterRunning(opts.sock_dir);
    using events = await EventSubscriber.connect(masterBus(opts.sock_dir).pub, [functionTag("runner", "")]);
    const wakeUp = () => events.close();
    signal.addEventListener("abort", wakeUp);
    try {
      const load = map({ cmd: "runner", fun, kwarg: { arg: [...args], kwarg: kwargs } });
      const reply = await askMaster(opts, new Map([...load, ...proof]));
      const error = isMap(reply) ? reply.get("error") : undefined;
      if (isMap(error)) throw new RefusedError(str(error.get("name") ?? ""), str(error.get("message") ?? ""));
      const jid = isMap(reply) ? reply.get("jid") : undefined;
      if (typeof jid !== "string") throw new WireError(`The master answered ${str(reply)} to a runner`);
      const tag = functionEvent("runner", jid, "ret");
      const event = await events.next(RESULT_MS, (one) => one === tag);
      if (event === undefined) throw new NoMasterError(`RunnerClient job '${jid}' timed out`);
      const ok = event.data.get("success") === true;
      const retcode = toNumber(event.data.get("retcode")) ?? (ok ? 0 : 1);
      return { end: ok ? "done" : "failed", return: event.data.get("return") ?? null, retcode };
    } finally {
      signal.removeEventListener("abort", wakeUp);
    }
  } catch (error) {
    if (error instanceof NoMasterError) return { end: "noMaster", return: error.message, retcode: 1 };
    if (error instanceof RefusedError) return { end: "refused", return: error.message, retcode: 1 };
    throw error;
  }
}
