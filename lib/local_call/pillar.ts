/**
 * The pillar that a host compiles itself: for `salt-call --local`, and for a minion with `file_client: local`.
 * @module
 */

import type { CallMaster } from "../minion/call_master.ts";
import type { Catalogue, PillarQuery } from "../plugins/job_context.ts";
import { compilePillar } from "../pillar/compile.ts";
import { extraMinionData } from "../minion/pillar_request.ts";
import type { Logger } from "../process/log.ts";
import type { MinionOpts } from "../config/options.ts";
import { optsValues } from "../config/opts_map.ts";
import type { PillarHost } from "../pillar/host.ts";
import { pillarHost } from "../worker/pillar_host.ts";
import { plainRequest } from "../pillar/request.ts";
import type { ValueMap } from "../values/value.ts";
import { WITHOUT_MASTER } from "../minion/call_master.ts";

/** What {@linkcode localPillarHost} needs. */
export interface LocalPillarParts {
  readonly grains: ValueMap;
  readonly catalogue: Catalogue;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** The environment for compiling the pillar of this host. */
export function localPillarHost(opts: MinionOpts, parts: LocalPillarParts): PillarHost {
  return pillarHost({
    ...parts,
    opts,
    values: optsValues(opts).set("__role", "minion"),
    minionOpts: opts,
    sources: [...opts.module_dirs.map((directory) => `${directory}/pillar`), `${opts.extension_modules}/pillar`],
  });
}

/** No master, and the pillar of this host. */
export async function localPillar(opts: MinionOpts, parts: LocalPillarParts): Promise<CallMaster> {
  const host = localPillarHost(opts, parts);
  const freshPillar = async ({ override, pillarenv, saltenv, ext }: PillarQuery): Promise<ValueMap> => {
    const request = plainRequest(opts.id, parts.grains, {
      override,
      pillarenv: pillarenv ?? null,
      saltenv: saltenv ?? opts.saltenv,
      ext: ext ?? null,
      extraMinionData: extraMinionData(opts),
    });
    return (await compilePillar(request, host)).pillar;
  };
  return { ...WITHOUT_MASTER, pillar: await freshPillar({}), freshPillar };
}
