/**
 * Gives the result of `salt-call` to returners: those of `--return`, and those of the option `return`.
 * Source: Salt 3008.3 `salt/cli/caller.py`, where a failure is not told.
 * @module
 */

import { RETURNERS_PREFIX } from "#lib/minion/catalogue/catalogue.ts";
import { configuredReturners } from "#lib/returners/names.ts";
import { str, type Value, type ValueMap } from "#lib/values/value.ts";
import { type CallHost, runCall } from "./job.ts";

/** Calls each returner once. A failure is logged: the call itself has succeeded. */
export async function giveToReturners(result: ValueMap, given: readonly Value[], host: CallHost): Promise<void> {
  const { names, refused } = configuredReturners(host.opts, ...given);
  for (const name of refused) host.log.error(`There is no returner of the name ${name}`);
  const ret: ValueMap = new Map([...result, ["success", true]]);
  for (const name of names) {
    const fun = `${RETURNERS_PREFIX}${name}.returner`;
    const jid = str(result.get("jid") ?? "");
    const outcome = await runCall({ fun, arg: [ret], jid, metadata: undefined }, host);
    if (!outcome.success) host.log.error(`The returner ${name} did not take the result: ${str(outcome.return)}`);
  }
}
