/**
 * A systemd scope for a package manager, so that a restart of the minion does not end it.
 * Source: Salt 3008.3, `salt/utils/systemd.py`; systemd-run(1).
 * @module
 */

import { which } from "#lib/programs/which.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import { isTrue } from "#lib/values/is_true.ts";
import { isMap } from "#lib/values/value.ts";

const OPTION = "systemd.scope";
/** The first version of systemd with scopes. */
const FIRST_VERSION = 205;

/**
 * The words before a command that run it in a scope; none without systemd, or if the option `systemd.scope` (of the
 * minion, its grains or its pillar) is false.
 */
export function scopeWords({ opts, grains, pillar }: JobContext, description?: string): string[] {
  const wanted = [opts.extra, grains, pillar].map((place) => place.get(OPTION)).find((value) => value !== undefined);
  if (wanted !== undefined && !isTrue(wanted)) return [];
  const systemd = grains.get("systemd");
  const version = isMap(systemd) ? Number(systemd.get("version") ?? 0) : 0;
  const has = grains.get("init") === "systemd" && version >= FIRST_VERSION && which("systemd-run") !== undefined;
  return has ? ["systemd-run", "--scope", ...description === undefined ? [] : ["--description", description]] : [];
}
