/**
 * The pillar that a host compiles itself: for `salt-call --local`, and for a minion with `file_client: local`.
 * @module
 */

import type { CallMaster } from "./call_master.ts";
import type { Catalogue, PillarQuery } from "#lib/plugins/job_context.ts";
import { compilePillar } from "#lib/pillar/compile.ts";
import { extraMinionData } from "#lib/minion/agent/pillar_request.ts";
import { masterTops } from "#lib/pillar/master_tops.ts";
import type { Logger } from "#lib/runtime/log.ts";
import type { MinionOpts } from "#lib/config/options.ts";
import { optsValues } from "#lib/config/opts_map.ts";
import type { PillarHost } from "#lib/pillar/host.ts";
import { pillarHost } from "#lib/minion/catalogue/pillar_host.ts";
import { plainRequest } from "#lib/pillar/request.ts";
import { pythonPlugins } from "#lib/minion/catalogue/python_plugins.ts";
import { PythonLease } from "#lib/python_bridge/loader/separate_calls.ts";
import type { Value, ValueMap } from "#lib/values/value.ts";
import { WITHOUT_MASTER } from "./call_master.ts";

/** What {@linkcode localPillarHost} needs. */
export interface LocalPillarParts {
  readonly grains: ValueMap;
  readonly catalogue: Catalogue;
  readonly log: Logger;
  readonly signal: AbortSignal;
  /** Answers requests of execution functions. Default: there is no master to ask. */
  request?(load: ValueMap): Promise<Value>;
}

/** The environment for compiling the pillar of this host. */
export function localPillarHost(opts: MinionOpts, parts: LocalPillarParts): PillarHost {
  return pillarHost({
    ...parts,
    opts,
    values: optsValues(opts).set("__role", "minion").set("grains", parts.grains),
    minionOpts: opts,
    python: {
      plugins: pythonPlugins(opts, parts.log.warning),
      lease: new PythonLease(opts, { printed: parts.log.info, keeps: false }),
      log: parts.log,
    },
    sources: [...opts.module_dirs.map((directory) => `${directory}/pillar`), `${opts.extension_modules}/pillar`],
    tops: [...opts.module_dirs.map((directory) => `${directory}/tops`), `${opts.extension_modules}/tops`],
  });
}

/** No master, and the pillar of this host. */
export async function localPillar(opts: MinionOpts, parts: LocalPillarParts): Promise<CallMaster> {
  // Who calls reads the details here: there is no master's log.
  const host = localPillarHost({ ...opts, pillar_safe_render_error: false }, parts);
  const freshPillar = async ({ override, pillarenv, saltenv, ext, tops }: PillarQuery): Promise<ValueMap> => {
    if (tops) {
      const values = new Map([...host.values, ["saltenv", saltenv ?? null] as const]);
      return await masterTops(plainRequest(opts.id, parts.grains, { tops: values }), host);
    }
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
