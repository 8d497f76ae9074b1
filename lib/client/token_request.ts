/**
 * Asks a master for a token, by a user's name and password.
 * Source: Salt 3008.3 `salt/auth/__init__.py` (`Resolver`).
 * @module
 */

import { NoMasterError, RequestTimeoutError } from "../errors.ts";
import { readPorts } from "../config/master_paths.ts";
import type { MasterOpts } from "../config/options.ts";
import { clearRequest } from "../protocol/payload.ts";
import { RequestChannel, tcpAddress } from "../sockets/request_channel.ts";
import { isMap, type ValueMap } from "../values/value.ts";
import { decode } from "../values/msgpack.ts";

/** Time for what asks PAM, a directory or a web service, in milliseconds. */
export const EAUTH_PATIENCE = { timeoutMs: 45_000, tries: 1 };

/**
 * The data of a new token: `token`, `start`, `expire`, `name`, `eauth`; `undefined` if the master does not let this user.
 * @param load `eauth`, `username`, `password`; `token_expire` in seconds.
 * @throws {NoMasterError} If the master does not answer.
 */
export async function requestToken(
  opts: Pick<MasterOpts, "sock_dir" | "ret_port" | "interface">,
  load: ValueMap,
): Promise<ValueMap | undefined> {
  const port = readPorts(opts.sock_dir)?.requestPort ?? opts.ret_port;
  const host = ["0.0.0.0", "::", ""].includes(opts.interface) ? "127.0.0.1" : opts.interface;
  const channel = new RequestChannel(tcpAddress(host, port));
  try {
    const frame = clearRequest(new Map([...load, ["cmd", "mk_token"]]));
    const data = decode(await channel.request(frame, EAUTH_PATIENCE), "wire");
    return isMap(data) && data.has("token") ? data : undefined;
  } catch (error) {
    if (!(error instanceof RequestTimeoutError)) throw error;
    throw new NoMasterError("Salt request timed out. The master is not responding.");
  } finally {
    channel.close();
  }
}
