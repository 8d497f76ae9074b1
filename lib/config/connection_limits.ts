/**
 * The maximum number of connections of each of the master's ports, from its options and the system's limit on open
 * files.
 * @module
 */

import type { ConnectionLimits } from "#lib/sockets/connection_shares.ts";
import { raiseOpenFileLimit } from "#lib/libc/libc.ts";
import type { MasterOpts } from "./options.ts";

/** Share of the open files for one port. The other port has the same share; the rest is for files. */
const SHARE = 0.4;

/** The limits of one port. */
export function connectionLimits(opts: MasterOpts): ConnectionLimits {
  const total = opts.max_connections ?? Math.floor(SHARE * raiseOpenFileLimit(0).soft);
  return { total, perAddress: opts.max_connections_per_address };
}
