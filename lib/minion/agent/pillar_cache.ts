/**
 * `minion_pillar_cache`: the pillar as files below the cache directory, which `salt-call --local --pillar-root` can use
 * while there is no master. Source: Salt 3008.3 `salt/minion.py` _post_master_init.
 * @module
 */

import type { Logger } from "#lib/runtime/log.ts";
import { messageOf } from "#lib/errors.ts";
import type { MinionOpts } from "#lib/config/options.ts";
import { writeFileAtomic } from "#lib/os/atomic_file.ts";
import type { ValueMap } from "#lib/values/value.ts";

/** Writes the pillar, if the option says so. A failure is logged. */
export async function writePillarCache(opts: MinionOpts, pillar: ValueMap, log: Logger): Promise<void> {
  if (!opts.minion_pillar_cache) return;
  const directory = `${opts.cachedir}/pillar`;
  // Most minions write none.
  const { dumpYaml } = await import("#lib/yaml/dump.ts");
  const top: ValueMap = new Map([[opts.saltenv ?? "base", new Map([[opts.id, ["cache"]]])]]);
  try {
    Deno.mkdirSync(directory, { recursive: true, mode: 0o700 });
    writeFileAtomic(`${directory}/top.sls`, dumpYaml(top), { mode: 0o600 });
    writeFileAtomic(`${directory}/cache.sls`, dumpYaml(pillar), { mode: 0o600 });
  } catch (error) {
    log.error(`The pillar cannot be written to ${directory}: ${messageOf(error)}`);
  }
}
