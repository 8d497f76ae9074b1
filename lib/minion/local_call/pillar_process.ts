/**
 * A process in which a minion compiles its own pillar, with `file_client: local`.
 * @module
 */

import { CallModules } from "./modules.ts";
import { compilePillar } from "#lib/pillar/compile.ts";
import { encode } from "#lib/values/msgpack.ts";
import { masterTops } from "#lib/pillar/master_tops.ts";
import { localPillarHost } from "./pillar.ts";
import type { PillarRequest } from "#lib/pillar/request.ts";
import { openLog } from "#lib/runtime/log_sinks.ts";
import { servePillarRequests } from "#lib/pillar/serve_requests.ts";
import { unpackOpts } from "#lib/config/opts_transfer.ts";
import { aloneWith } from "#lib/minion/catalogue/pillar_host.ts";

/**
 * Compiles until its input ends.
 * @returns The exit code.
 */
export function runOwnPillarProcess(): Promise<number> {
  return servePillarRequests((packed, signal) => {
    const opts = unpackOpts("minion", packed);
    const { log, close } = openLog(opts, {});
    const pillar = async (request: PillarRequest) => {
      const { grains } = request;
      await using modules = new CallModules({ opts, grains, log });
      modules.enter({ grains, pillar: new Map(), signal, ...aloneWith(grains) });
      const host = localPillarHost(opts, { grains, catalogue: modules.withoutPython, log, signal });
      const { tops } = request;
      return encode(
        tops === null ? (await compilePillar(request, host)).pillar : await masterTops(request, host),
        "wire",
      );
    };
    return { log, close, pillar };
  });
}
