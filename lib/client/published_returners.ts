/**
 * The returners of `salt --return`, checked before a job is published: a minion without the returner of a misspelt name
 * runs the job, and its return is lost to that returner with a line in the minion's log.
 * Source: `salt/returners` of Salt 3006.28, 3007.15 and 3008.3.
 * @module
 */

import { UsageError } from "#lib/errors.ts";
import type { MasterOpts } from "#lib/config/options.ts";
import { isDirectory } from "#lib/os/file_kind.ts";
import { ALIASES } from "#lib/plugins/aliases.ts";
import { returnerNames } from "#lib/returners/names.ts";
import { nearestName } from "#lib/text/nearest_name.ts";
import { listOrEmpty } from "#lib/values/shape.ts";
import { str } from "#lib/values/value.ts";

/** The returners of ours and of Salt's versions. */
export const KNOWN_RETURNERS: readonly string[] = [
  ...["appoptics", "carbon", "cassandra_cql", "couchbase", "couchdb", "elasticsearch", "etcd", "highstate", "influxdb"],
  ...["kafka", "librato", "local", "local_cache", "mattermost", "memcache", "mongo", "mongo_future", "multi_returner"],
  ...["mysql", "nagios_nrdp", "odbc", "pgjsonb", "postgres", "postgres_local_cache", "pushover", "rawfile_json"],
  ...["redis", "salt_cache", "sentry", "slack", "slack_webhook", "sms", "smtp", "splunk", "sqlite3", "syslog"],
  ...["telegram", "webhook", "xmpp", "zabbix"],
  ...Object.keys(ALIASES.returners),
];

/** The options that say where own returners may be. */
type ReturnerPlaces = Pick<MasterOpts, "fileserver_backend" | "file_roots" | "extension_modules">;

/**
 * Refuses what cannot be the name of a returner, and what is nearly the name of a known one. Other names may be an
 * operator's own returners, which only the minions know.
 * @throws {UsageError} It names the nearest.
 */
export function checkPublishedReturners(given: string, places: ReturnerPlaces): void {
  const { names, refused } = returnerNames(given);
  if (refused.length > 0) throw new UsageError(`'${refused[0]}' cannot be a returner. Nothing was sent.`);
  for (const name of names) {
    if (KNOWN_RETURNERS.includes(name)) continue;
    const near = nearestName(name, KNOWN_RETURNERS);
    if (near === undefined || mayBeOwn(name, places)) continue;
    throw new UsageError(`There is no returner '${name}'; did you mean ${near}? Nothing was sent.`);
  }
}

/** Whether the file server may have a returner of this name: of files that are not on this host, that is not known. */
function mayBeOwn(name: string, { fileserver_backend, file_roots, extension_modules }: ReturnerPlaces): boolean {
  if (fileserver_backend.some((backend) => backend !== "roots")) return true;
  const roots = [...file_roots.values()].flatMap((paths) => listOrEmpty(paths)).map((root) =>
    `${str(root)}/_returners`
  );
  return [...roots, `${extension_modules}/returners`].some((directory) => hasModule(directory, name));
}

function hasModule(directory: string, name: string): boolean {
  if (!isDirectory(directory)) return false;
  return [...Deno.readDirSync(directory)].some((entry) => entry.name === name || entry.name.startsWith(`${name}.`));
}
