/**
 * The encrypted commands of minions: the tables of all subjects as one. Those of parts of Salt that are not built are
 * in unbuilt_commands.ts.
 *
 * The caller has been authenticated: `id` is the minion that signed in, and the load's own `id` is the same.
 * Source: docs/protocol.md "Commands of minions".
 * @module
 */

import { isAcknowledged, notDone } from "#lib/protocol/acknowledgement.ts";
import { truncateValue } from "#lib/text/truncate.ts";
import { AUTH_COMMANDS } from "./auth_commands.ts";
import { describeError, WireError } from "#lib/errors.ts";
import { FILE_COMMANDS } from "./file_commands.ts";
import { JOB_COMMANDS } from "./job_commands.ts";
import type { MasterServices, MinionCommands } from "./services.ts";
import { MINION_COMMANDS, servePillar } from "./minion_data.ts";
import { PEER_COMMANDS } from "./peer_commands.ts";
import { UNBUILT_COMMANDS } from "./unbuilt_commands.ts";
import type { Value, ValueMap } from "#lib/values/value.ts";

/** An answer, which is encrypted with the session key. */
export interface MinionReply {
  readonly value: Value;
  /** A packed value in its place that only the minion's own key is to decrypt (pillar). */
  readonly sealed?: Uint8Array;
}

/** The reason for the minion; the log has the details. */
const FAILED = "Some exception handling minion payload";

const HANDLERS: MinionCommands<keyof MasterServices> = {
  ...AUTH_COMMANDS,
  ...FILE_COMMANDS,
  ...JOB_COMMANDS,
  ...MINION_COMMANDS,
  ...PEER_COMMANDS,
};

/**
 * Runs a minion's command.
 * @returns Salt's answer; `{}` for an unknown command. For a failed command `""`, as in Salt; or, if the minion waits
 * for an acknowledgement, an answer that acknowledges nothing, so that the minion sends the data again. Python minions
 * ignore both.
 * @param size Bytes of the request.
 * @throws {WireError} If there is no command.
 */
export async function minionCommand(
  load: ValueMap,
  id: string,
  services: MasterServices,
  size: { readonly bytes: number } = { bytes: 0 },
): Promise<MinionReply> {
  const cmd = load.get("cmd");
  if (cmd === undefined) throw new WireError(`a request of ${id} without a command`, "cmd");
  if (cmd === "_pillar") return { value: null, sealed: await servePillar(load, id, services) };
  if (typeof cmd === "string" && Object.hasOwn(UNBUILT_COMMANDS, cmd)) {
    const { part, answer, loses } = UNBUILT_COMMANDS[cmd];
    if (loses(load)) services.warn(`The data that minion ${id} sent by ${cmd} is dropped (not built yet: ${part})`);
    return { value: answer() };
  }
  if (typeof cmd !== "string" || !Object.hasOwn(HANDLERS, cmd)) {
    services.warn(`Minion ${id} sent the unknown command ${truncateValue(cmd)}`);
    return { value: new Map() };
  }
  try {
    // Commands without a bound begin in this turn: what they read is queued in the order in which they came.
    const admission = services.minions.flow.admit(load, id, services, size);
    const instead = admission === undefined ? undefined : await admission;
    if (instead !== undefined) return { value: instead.answer };
    return { value: await HANDLERS[cmd](load, id, services) };
  } catch (error) {
    services.log.error(`The command ${cmd} of minion ${id} failed: ${describeError(error)}`);
    return { value: isAcknowledged(cmd) ? notDone(FAILED) : "" };
  }
}
