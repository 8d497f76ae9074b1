/**
 * What a master's answer to a minion means: whether it has done what it was asked to. Both sides go by this.
 *
 * A sealed answer alone says nothing: Salt's masters seal one to a command that failed as well. Python minions look at
 * none of these answers.
 * Source: salt-protocol.md section 5; Salt's `AESFuncs.run_func`, which answers "" to a command that threw.
 * @module
 */

import { map, type Value, type ValueMap } from "../values/value.ts";

/** The commands whose answers are acknowledgements. */
export type Acknowledged = "_return" | "_minion_event";

const DONE: Readonly<Record<Acknowledged, (answer: Value) => boolean>> = {
  // "": the master has a return of that minion for that job already.
  _return: (answer) => answer === null || answer === "",
  _minion_event: (answer) => answer === null,
};

/** Whether `cmd` is a command whose answer is an acknowledgement. */
export function isAcknowledged(cmd: unknown): cmd is Acknowledged {
  return typeof cmd === "string" && Object.hasOwn(DONE, cmd);
}

/** Whether a master that gave this answer to `cmd` has done it. Of commands that are not acknowledged every answer says so. */
export function isDone(cmd: unknown, answer: Value): boolean {
  return !isAcknowledged(cmd) || DONE[cmd](answer);
}

/** What a master answers that could not do it, so that the minion says it again. */
export function notDone(reason: string): ValueMap {
  return map({ error: reason });
}
