/**
 * `salt-ssh -H`: lists the hosts of the rosters, by the file of the roster.
 * @module
 */

import { callingUser } from "#lib/commands/cli/calling_user.ts";
import { openStores, rosterSources } from "./roster_sources.ts";
import { EVERY_HOST, readRosters } from "#lib/ssh/rosters.ts";
import type { SshRun } from "./ssh_run.ts";
import { isMap, type Value } from "#lib/values/value.ts";

/**
 * Lists them.
 * @returns The exit code.
 */
export async function listHosts({ opts, log, io, print }: SshRun): Promise<number> {
  const sources = rosterSources(opts, openStores(opts, log), { log, signal: io.signal, user: callingUser() });
  const rosters = await readRosters(sources, EVERY_HOST);
  print(
    new Map(rosters.map(({ file, entries }): [Value, Value] => [
      file,
      new Map([...entries].map(([id, entry]): [Value, Value] => [id, isMap(entry) ? entry.get("host") ?? id : entry])),
    ])),
    { out: "nested" },
  );
  return 0;
}
