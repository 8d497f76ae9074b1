/**
 * Jobs in lines of the master's log: who wanted to run what where, and how it ended. Nothing of a result itself.
 * @module
 */

import { readStateRun } from "#lib/output/state_return.ts";
import { hideArguments, isNoLog } from "#lib/protocol/no_log.ts";
import { REFUSED_JOB } from "#lib/protocol/operator_field.ts";
import { CANCELLED_JOB, outcomeOfReturn } from "#lib/protocol/outcome.ts";
import { plainRetcode } from "#lib/protocol/retcode.ts";
import { truncate, truncateList } from "#lib/text/truncate.ts";
import { isMap, repr, str, type Value, type ValueMap } from "#lib/values/value.ts";

/**
 * `state.apply ['motd'] on 'web*' (glob)`. The arguments are those that the job cache has: hidden with `no_log`.
 * @param load The load of a publish.
 */
export function jobText(load: ValueMap): string {
  const kwargs = load.get("kwargs");
  const shownLoad = isNoLog(load) || (isMap(kwargs) && isNoLog(kwargs)) ? hideArguments(load) : load;
  const text = (value: Value) => truncate(repr(value));
  const args = shownLoad.get("arg") ?? null;
  const given = Array.isArray(args) && args.length === 0 ? "" : ` ${text(args)}`;
  const target = `${text(load.get("tgt") ?? null)} (${truncate(str(load.get("tgt_type") ?? "glob"))})`;
  return `${truncate(str(load.get("fun") ?? null))}${given} on ${target}`;
}

/**
 * The user that a request says it comes from, before that is proved: with `external_auth` not the one who typed the
 * command.
 * @param proof Where a name and a password would be, if not in the request itself.
 */
export function claimedUser(request: ValueMap, proof: ValueMap = request): Value {
  return proof.has("eauth") ? proof.get("username") ?? null : request.get("user") ?? null;
}

/**
 * `succeeded`, `succeeded, 2 states`, `failed, return code 4`, `failed, 1 of 2 states: /opt/src`, `interrupted`,
 * `refused` or `cancelled`.
 * @param load The minion's message.
 */
export function returnText(load: ValueMap): string {
  const retcode = load.get("retcode") ?? 0;
  const outcome = outcomeOfReturn({
    retcode,
    interrupted: load.get("interrupted") === true,
    refused: load.get(REFUSED_JOB) === true,
    cancelled: load.get(CANCELLED_JOB) === true,
  });
  if (outcome !== "returned" && outcome !== "failed") return outcome;
  const states = statesOf(load.get("return") ?? null);
  const all = states.length === 1 ? "1 state" : `${states.length} states`;
  if (outcome === "returned") return states.length === 0 ? "succeeded" : `succeeded, ${all}`;
  const failed = states.filter(({ result }) => result === false);
  if (failed.length === 0) return `failed, return code ${plainRetcode(retcode)}`;
  return `failed, ${failed.length} of ${all}: ${truncateList(failed.map(({ comps: [, id] }) => truncate(id)))}`;
}

function statesOf(returned: Value) {
  return isMap(returned) ? readStateRun(returned)?.states ?? [] : [];
}
