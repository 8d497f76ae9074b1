/**
 * Changes of keys by another thread of a master of a cluster: its Cluster thread makes them.
 * @module
 */

import type { ClusterLink } from "#lib/cluster/cluster_messages.ts";
import type { KeyBank } from "#lib/keys/key_bank.ts";

/** The bank behind a link; it does not wait for the other masters. */
export function linkedKeyBank(link: ClusterLink): KeyBank {
  return {
    // The thread that answers follows the others all the time.
    refresh: () => Promise.resolve(),
    async change(steps) {
      const done = await link.ask("changeKeys", steps);
      return steps.map((_, i) => Array.isArray(done) && done[i] === true);
    },
  };
}
