/**
 * Whether a minion has a master. Source: Salt 3008.3 `salt/minion.py` MinionBase.eval_master, `salt/modules/event.py`
 * fire_master.
 * @module
 */

import type { MinionOpts } from "./options.ts";

/** The options that say so. */
export type MasterlessOpts = Pick<MinionOpts, "file_client" | "master_type" | "use_master_when_local">;

/**
 * Whether functions, files and pillar of this host use no master. The service with `file_client: local` takes jobs of a
 * master all the same: only `master_type: disable` keeps it from connecting.
 */
export function isMasterless({ file_client, master_type, use_master_when_local }: MasterlessOpts): boolean {
  return master_type === "disable" || file_client === "local" && !use_master_when_local;
}
