/**
 * Which replies of a master acknowledge a minion's request. Both sides use it. An encrypted answer alone is no
 * acknowledgement: Salt's masters also encrypt the answer to a command that failed. Python minions ignore these
 * answers.
 * Source: docs/protocol.md "Commands of minions"; Salt's `salt/master.py` (AESFuncs.run_func), which answers "" to a
 * command that threw.
 * @module
 */

import { WireError } from "#lib/errors.ts";
import { truncateValue } from "#lib/text/truncate.ts";
import { map, type Value, type ValueMap } from "#lib/values/value.ts";

/** The commands whose answers are acknowledgements. */
export type AcknowledgedCommand = "_return" | "_syndic_return" | "_minion_event";

const DONE: Readonly<Record<AcknowledgedCommand, (answer: Value) => boolean>> = {
  // "": the master already has this minion's return for this job.
  _return: (answer) => answer === null || answer === "",
  _syndic_return: (answer) => answer === null || answer === "",
  _minion_event: (answer) => answer === null,
};

/** Whether `cmd` is a command whose answer is an acknowledgement. */
export function isAcknowledged(cmd: unknown): cmd is AcknowledgedCommand {
  return typeof cmd === "string" && Object.hasOwn(DONE, cmd);
}

/** Whether this answer to `cmd` says that the master has done it. Always true for commands without acknowledgement. */
export function isDone(cmd: unknown, answer: Value): boolean {
  return !isAcknowledged(cmd) || DONE[cmd](answer);
}

/**
 * Checks what {@linkcode isDone} says.
 * @throws {WireError} If the master could not do it.
 */
export function requireDone(cmd: unknown, answer: Value): void {
  if (!isDone(cmd, answer)) {
    throw new WireError(`The master could not take it, and answered ${truncateValue(answer)}`);
  }
}

/** The answer of a master that could not do it, so that the minion sends it again. */
export function notDone(reason: string): ValueMap {
  return map({ error: reason });
}
