/**
 * How many connections each of the master's ports may have, by its options and by what the system lets it open.
 * @module
 */

import type { ConnectionLimits } from "../sockets/connection_shares.ts";
import { raiseOpenFileLimit } from "../os/libc.ts";
import type { MasterOpts } from "../config/options.ts";

/** What of the open files allowed one port may take: the other takes as much, and files are opened as well. */
const SHARE = 0.4;

/** The limits of one port. */
export function connectionLimits(opts: MasterOpts): ConnectionLimits {
  const total = opts.max_connections ?? Math.floor(SHARE * raiseOpenFileLimit(0).soft);
  return { total, perAddress: opts.max_connections_per_address };
}
