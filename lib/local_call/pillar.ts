/**
 * The pillar of a host that has no master, for `salt-call --local`.
 * @module
 */

import type { CallMaster } from "../minion/call_master.ts";
import type { Catalogue, PillarAsked } from "../plugins/job_context.ts";
import { compilePillar } from "../pillar/compile.ts";
import { extraMinionData } from "../minion/pillar_request.ts";
import type { Logger } from "../process/log.ts";
import type { MinionOpts } from "../config/options.ts";
import { optsValues } from "../config/opts_map.ts";
import { pillarHost } from "../worker/pillar_host.ts";
import { plainRequest } from "../pillar/request.ts";
import type { ValueMap } from "../values/value.ts";
import { WITHOUT_MASTER } from "../minion/call_master.ts";

/** What compiles pillar here. */
export interface LocalPillarParts {
  readonly grains: ValueMap;
  readonly catalogue: Catalogue;
  readonly log: Logger;
  readonly signal: AbortSignal;
}

/** No master, and the pillar of this host. */
export async function localPillar(opts: MinionOpts, parts: LocalPillarParts): Promise<CallMaster> {
  const host = pillarHost({
    ...parts,
    opts,
    values: optsValues(opts).set("__role", "minion"),
    minionOpts: opts,
    sources: [...opts.module_dirs.map((directory) => `${directory}/pillar`), `${opts.extension_modules}/pillar`],
  });
  const freshPillar = async ({ override, pillarenv, saltenv, ext }: PillarAsked): Promise<ValueMap> => {
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
