/**
 * Where commands reach the master of their own host.
 * @module
 */

import { readPorts } from "#lib/config/master_paths.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { tcpAddress } from "#lib/sockets/request_channel.ts";

/** The options that say where a master is. */
export type MasterPlace = Pick<MasterOpts, "sock_dir" | "ret_port" | "publish_port" | "interface">;

/** The address for requests, and the port of the publisher: those of the running master, else those of its options. */
export function masterAddress(opts: MasterPlace): { readonly requests: string; readonly publishPort: number } {
  const ports = readPorts(opts.sock_dir) ?? { publishPort: opts.publish_port, requestPort: opts.ret_port };
  const host = ["0.0.0.0", "::", ""].includes(opts.interface) ? "127.0.0.1" : opts.interface;
  return { requests: tcpAddress(host, ports.requestPort), publishPort: ports.publishPort };
}
