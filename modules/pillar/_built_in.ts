/**
 * The built-in sources of external pillar, by name. Written as literal imports, so that `deno compile` finds them.
 * @module
 */

import type { ModuleTable } from "#lib/plugins/loader.ts";

/** What `loadFamily` makes the family of sources of. */
export const PILLAR_SOURCES: ModuleTable = {
  cmd_json: () => import("./cmd_json.ts"),
  cmd_yaml: () => import("./cmd_yaml.ts"),
  csv: () => import("./csv.ts"),
  extra_minion_data_in_pillar: () => import("./extra_minion_data_in_pillar.ts"),
  file_tree: () => import("./file_tree.ts"),
  git: () => import("./git.ts"),
  gpg: () => import("./gpg.ts"),
  http_json: () => import("./http_json.ts"),
  http_yaml: () => import("./http_yaml.ts"),
  nodegroups: () => import("./nodegroups.ts"),
  stack: () => import("./stack.ts"),
  vault: () => import("./vault.ts"),
};

/** Salt's sources that are not here, those of 3007 and 3006 included. */
export const PILLARS_NOT_BUILT: ReadonlySet<string> = new Set([
  ...["azureblob", "cobbler", "confidant", "consul", "digicert", "django_orm", "ec2", "etcd", "foreman", "hg", "hiera"],
  ...[
    "libvirt",
    "makostack",
    "mongo",
    "mysql",
    "netbox",
    "neutron",
    "nsot",
    "pepa",
    "pillar_ldap",
    "postgres",
    "puppet",
  ],
  ...["reclass", "redismod", "rethinkdb_pillar", "s3", "saltclass", "sql", "sqlcipher", "sqlite3", "svn", "varstack"],
  ...["venafi", "virtkey", "vmware"],
]);
