/**
 * `salt-master`: the control node.
 * @module
 */

import { loadMasterConfig } from "./lib/config/load.ts";
import { Master } from "./lib/master/master.ts";
import { nameProcess } from "./lib/process/process_name.ts";
import { preflightMaster } from "./lib/commands/preflight.ts";
import { runService } from "./lib/commands/service.ts";

if (import.meta.main) {
  nameProcess("salt-master", Deno.args);
  Deno.exit(
    await runService({
      prog: "salt-master",
      description: "The Salt master, which controls the minions.",
      role: "master",
      load: loadMasterConfig,
      preflight: preflightMaster,
      start: (opts, log) => Master.start(opts, log),
      // Whatever a master makes is its own: the odd file that others may read gets its mode when it is made.
      umask: 0o077,
    }, Deno.args),
  );
}
