/**
 * Asks the master, on the request port, to run a wheel function for a user of `external_auth`. Source: Salt 3008.3
 * `salt/wheel/__init__.py` (`cmd_sync`).
 * @module
 */

import { CommandError, RefusedError, WireError } from "#lib/errors.ts";
import { checkMasterIfAllowed } from "./master_running.ts";
import { askMaster } from "./token_request.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";

/** The wheel function and its arguments. */
export interface RequestedWheel {
  /** `key.accept_dict` */
  readonly fun: string;
  readonly args?: readonly Value[];
  readonly kwargs?: ValueMap;
}

/**
 * Runs it.
 * @returns Its result.
 * @param proof A token, or a name and a password.
 * @throws {RefusedError} If the rules of the user do not allow it.
 * @throws {CommandError} If it failed.
 * @throws {NoMasterError} At once if no master is running on this host, or when it has not answered in time.
 */
export async function requestWheel(
  opts: MasterOpts,
  { fun, args = [], kwargs = new Map() }: RequestedWheel,
  proof: ValueMap,
): Promise<Value> {
  const load = map({ cmd: "wheel", fun, arg: [...args], kwarg: kwargs });
  await checkMasterIfAllowed(opts.sock_dir);
  const reply = await askMaster(opts, new Map([...load, ...proof]));
  const error = isMap(reply) ? reply.get("error") : undefined;
  if (isMap(error)) throw new RefusedError(str(error.get("name") ?? ""), str(error.get("message") ?? ""));
  const data = isMap(reply) ? reply.get("data") : undefined;
  if (!isMap(data)) throw new WireError(`The master answered ${str(reply)} to a wheel function`);
  if (data.get("success") !== true) throw new CommandError(str(data.get("return") ?? ""));
  return data.get("return") ?? null;
}
