/**
 * A process in which a minion compiles its own pillar, with `file_client: local`.
 * @module
 */

import { CallModules } from "./modules.ts";
import { compilePillar } from "../pillar/compile.ts";
import { encode } from "../values/msgpack.ts";
import { localPillarHost } from "./pillar.ts";
import type { PillarRequest } from "../pillar/request.ts";
import { openLog } from "../process/log_sinks.ts";
import { NoMasterError } from "../errors.ts";
import { servePillarRequests } from "../pillar/serve_requests.ts";
import { unpackOpts } from "../config/opts_transfer.ts";

/** Compiles until its input ends. @returns The exit code. */
export function runOwnPillarProcess(): Promise<number> {
  return servePillarRequests((packed, signal) => {
    const opts = unpackOpts("minion", packed);
    const { log, close } = openLog(opts, {});
    const pillar = async (request: PillarRequest) => {
      const { grains } = request;
      await using modules = new CallModules({ opts, grains, log });
      modules.enter({ grains, pillar: new Map(), signal, jobs: NO_JOBS, outside: NO_OUTSIDE });
      const host = localPillarHost(opts, { grains, catalogue: modules.catalogue, log, signal });
      return encode((await compilePillar(request, host)).pillar, "wire");
    };
    return { log, close, pillar };
  });
}

const NO_JOBS = { running: () => Promise.resolve([]), signal: () => Promise.resolve(false) };

const NO_OUTSIDE = {
  request: noMaster,
  pillar: noMaster,
  grains: () => Promise.resolve(new Map()),
  fire: () => Promise.resolve(false),
  refresh: () => Promise.resolve(false),
};

function noMaster(): Promise<never> {
  return Promise.reject(new NoMasterError("There is no master to ask while pillar is compiled"));
}
