/**
 * How a minion gets the shared key again without a sign-in: a request of this project's own.
 * @module
 */

import { map, toNumber, type ValueMap } from "#lib/values/value.ts";

/** The field of the reply to a sign-in that says that the master knows the request. */
export const REKEY = "rekey";
/** The request, whose answer is `{aes, next, generation, renew}`; and the `cmd` of a publish that announces a key. */
export const REKEY_COMMAND = "_rekey";

/**
 * The load of a publish after which minions ask for the next key, at a random moment. Its target matches nobody, so
 * that minions of Salt do nothing.
 * @param withinS Seconds until the master uses that key.
 */
export function announcement(withinS: number, jid: string): ValueMap {
  return map({
    cmd: REKEY_COMMAND,
    within: withinS,
    fun: REKEY_COMMAND,
    arg: [],
    tgt: [],
    tgt_type: "list",
    jid,
    ret: "",
  });
}

/** The seconds of an announcement; `undefined` of any other load. */
export function announcedS(load: ValueMap): number | undefined {
  return load.get("cmd") === REKEY_COMMAND
    ? Math.min(Math.max(toNumber(load.get("within")) ?? 0, 0), MAX_S)
    : undefined;
}

/** More is not believed, in seconds. */
const MAX_S = 600;
