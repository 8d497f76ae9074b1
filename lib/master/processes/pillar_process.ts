/**
 * A process in which a master compiles pillars.
 * @module
 */

import { masterPillarHost } from "./pillar_compiler.ts";
import { PythonLease } from "#lib/python_bridge/loader/separate_calls.ts";
import { openLog } from "#lib/runtime/log_sinks.ts";
import { PillarService } from "#lib/pillar/service.ts";
import { servePillarRequests } from "#lib/pillar/serve_requests.ts";
import { unpackOpts } from "#lib/config/opts_transfer.ts";

/**
 * Compiles until its input ends.
 * @returns The exit code.
 */
export function runPillarProcess(): Promise<number> {
  return servePillarRequests((packed, signal) => {
    const opts = unpackOpts("master", packed);
    const { log, close } = openLog(opts, {});
    const lease = new PythonLease(opts, { printed: log.info, keeps: true });
    const service = new PillarService(opts, masterPillarHost(opts, { log, signal, lease }));
    const closeAll = async () => {
      await lease.close();
      await close();
    };
    return { log, close: closeAll, pillar: (request) => service.pillar(request) };
  });
}
