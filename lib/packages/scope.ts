/**
 * A scope of systemd for a package manager, so that a restart of the minion does not end it.
 * Source: Salt 3008.3, `salt/utils/systemd.py`; systemd-run(1).
 * @module
 */

import { which } from "../host/which.ts";
import type { JobContext } from "../plugins/job_context.ts";
import { isMap } from "../values/value.ts";

/** The first version of systemd that has scopes. */
const FIRST_VERSION = 205;

/** The words before a command that run it in a scope; none where there is no systemd. */
export function scopeWords({ grains }: JobContext, description?: string): string[] {
  const systemd = grains.get("systemd");
  const version = isMap(systemd) ? Number(systemd.get("version") ?? 0) : 0;
  const has = grains.get("init") === "systemd" && version >= FIRST_VERSION && which("systemd-run") !== undefined;
  return has ? ["systemd-run", "--scope", ...description === undefined ? [] : ["--description", description]] : [];
}
