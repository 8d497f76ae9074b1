/**
 * Several minions in their own thread, for tests of large fleets.
 * @module
 */

import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { Minion } from "#lib/minion/agent/minion.ts";
import { unpackOpts } from "#lib/config/opts_transfer.ts";
import { serveThread } from "#lib/runtime/thread.ts";

/** The settings of such a thread. */
export interface MinionThreadInit {
  /** The packed options of each minion. */
  readonly opts: readonly Uint8Array[];
}

serveThread<MinionThreadInit>(async ({ opts }) => {
  const minions = await Promise.all(opts.map((packed) => Minion.start(unpackOpts("minion", packed), SILENT_LOGGER)));
  return {
    describe: () => `${minions.length} minions`,
    close: async () => void await Promise.all(minions.map((minion) => minion.close())),
  };
});
