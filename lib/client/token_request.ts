/**
 * Asks a master for a token, by a user's name and password.
 * Source: Salt 3008.3 `salt/auth/__init__.py` (`Resolver`).
 * @module
 */

import { NoMasterError, RefusedError, RequestTimeoutError, ThrottledError } from "#lib/errors.ts";
import { masterAddress, type MasterPlace } from "./master_address.ts";
import { checkMasterIfAllowed } from "./master_running.ts";
import { clearRequest } from "#lib/protocol/payload.ts";
import { RequestChannel, type RequestOptions } from "#lib/sockets/request_channel.ts";
import { isMap, str, toNumber, type Value, type ValueMap } from "#lib/values/value.ts";
import { decode } from "#lib/values/msgpack.ts";

/** Time limit for requests that make the master ask PAM, a directory or a web service, in milliseconds. */
export const EAUTH_TIMEOUTS = { timeoutMs: 45_000, tries: 1 };

/**
 * Sends a clear request.
 * @returns The answer.
 * @throws {NoMasterError} If the master does not answer.
 */
export async function askMaster(
  opts: MasterPlace,
  load: ValueMap,
  timeouts: RequestOptions = EAUTH_TIMEOUTS,
): Promise<Value> {
  const channel = new RequestChannel(masterAddress(opts).requests);
  try {
    return decode(await channel.request(clearRequest(load), timeouts), "wire");
  } catch (error) {
    if (!(error instanceof RequestTimeoutError)) throw error;
    throw new NoMasterError("Salt request timed out. The master is not responding.");
  } finally {
    channel.close();
  }
}

/** Whether the master answers that the user must wait for his turn. */
export function isThrottled(reply: ValueMap): boolean {
  const error = reply.get("error");
  return isMap(error) && error.get("name") === "SaltThrottled";
}

/**
 * Throws what the master answers to a request that it refuses: `{error: {name, message}}`.
 * @throws {RefusedError}
 */
export function throwRefusal(reply: Value): void {
  if (!isMap(reply)) return;
  const error = reply.get("error");
  if (!isMap(error)) return;
  const message = str(error.get("message") ?? "");
  if (isThrottled(reply)) {
    const [rule = 0, retryAfter = 1] = ["rule", "retry_after"].map((name) => toNumber(error.get(name)));
    throw new ThrottledError(message, rule, retryAfter * 1000);
  }
  throw new RefusedError(str(error.get("name") ?? ""), message);
}

/**
 * The data of a new token: `token`, `start`, `expire`, `name`, `eauth`; `undefined` if the master refuses this user.
 * @param load `eauth`, `username`, `password`; `token_expire` in seconds.
 * @throws {NoMasterError} At once if no master is running on this host, or when it has not answered in time.
 */
export async function requestToken(opts: MasterPlace, load: ValueMap): Promise<ValueMap | undefined> {
  await checkMasterIfAllowed(opts.sock_dir);
  const reply = await askMaster(opts, new Map([...load, ["cmd", "mk_token"]]));
  return isMap(reply) && reply.has("token") ? reply : undefined;
}
