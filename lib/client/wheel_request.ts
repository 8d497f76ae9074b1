/**
 * Asks the master, on the request port, to run a wheel function for a user of `external_auth`. Source: Salt 3008.3
 * `salt/wheel/__init__.py` (`cmd_sync`).
 * @module
 */

import { CommandError, WireError } from "#lib/errors.ts";
import { checkMasterIfAllowed } from "./master_running.ts";
import { askMaster, throwRefusal } from "./token_request.ts";
import type { StartedFunction } from "./runner_request.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";

/** The wheel function and its arguments. */
export interface RequestedWheel {
  /** `key.accept_dict` */
  readonly fun: string;
  readonly args?: readonly Value[];
  readonly kwargs?: ValueMap;
}

/** What the master answers to a wheel function. */
export interface WheelReply {
  /** `salt/wheel/20261123231502118734` */
  readonly tag: string;
  /** `fun`, `jid`, `tag`, `user`, `return`, `success`, `_stamp`. */
  readonly data: ValueMap;
}

/**
 * Runs it.
 * @returns The master's whole reply, also if the function failed.
 * @param proof A token, or a name and a password.
 * @throws {RefusedError} If the rules of the user do not allow it.
 * @throws {NoMasterError} At once if no master is running on this host, or when it has not answered in time.
 */
export async function askWheel(
  opts: MasterOpts,
  wanted: RequestedWheel,
  proof: ValueMap,
): Promise<WheelReply> {
  const reply = await ask(opts, "wheel", wanted, proof);
  const data = reply.get("data");
  if (!isMap(data)) throw new WireError(`The master answered ${str(reply)} to a wheel function`);
  return { tag: str(reply.get("tag") ?? ""), data };
}

/**
 * Starts it, and does not wait for its result. Only our masters know the request.
 * @param proof A token, or a name and a password.
 * @throws {RefusedError} If the rules of the user do not allow it.
 * @throws {NoMasterError} At once if no master is running on this host, or when it has not answered in time.
 */
export async function startWheel(
  opts: MasterOpts,
  wanted: RequestedWheel,
  proof: ValueMap,
): Promise<StartedFunction> {
  const reply = await ask(opts, "wheel_async", wanted, proof);
  const [tag, jid] = [reply.get("tag"), reply.get("jid")];
  if (typeof tag !== "string" || typeof jid !== "string") {
    throw new WireError(`The master answered ${str(reply)} to a wheel function`);
  }
  return { tag, jid };
}

async function ask(
  opts: MasterOpts,
  cmd: "wheel" | "wheel_async",
  { fun, args = [], kwargs = new Map() }: RequestedWheel,
  proof: ValueMap,
): Promise<ValueMap> {
  await checkMasterIfAllowed(opts.sock_dir);
  const reply = await askMaster(opts, new Map([...map({ cmd, fun, arg: [...args], kwarg: kwargs }), ...proof]));
  throwRefusal(reply);
  if (!isMap(reply)) throw new WireError(`The master answered ${str(reply)} to a wheel function`);
  return reply;
}

/**
 * Runs it.
 * @returns Its result.
 * @param proof A token, or a name and a password.
 * @throws {CommandError} If it failed.
 * @throws What {@linkcode askWheel} throws.
 */
export async function requestWheel(opts: MasterOpts, wanted: RequestedWheel, proof: ValueMap): Promise<Value> {
  const { data } = await askWheel(opts, wanted, proof);
  if (data.get("success") !== true) throw new CommandError(str(data.get("return") ?? ""));
  return data.get("return") ?? null;
}
