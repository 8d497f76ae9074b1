/**
 * The built-in state modules, by name. Written as literal imports, so that `deno compile` finds them.
 * @module
 */

import { joined, type ModuleTable } from "../../lib/plugins/loader.ts";

/** What `loadCatalogue` makes a minion's state modules of. */
export const STATE_MODULES: ModuleTable = {
  acl: () => import("./acl.ts"),
  at: () => import("./at.ts"),
  cmd: () => import("./cmd.ts"),
  cron: () => import("./cron.ts"),
  file: () =>
    joined([
      import("./file.ts"),
      import("./_file_accumulating.ts"),
      import("./_file_appending.ts"),
      import("./_file_check_cmd.ts"),
      import("./_file_hardlinks.ts"),
      import("./_file_keyvalue.ts"),
      import("./_file_moving.ts"),
      import("./_file_patching.ts"),
      import("./_file_presence.ts"),
      import("./_file_replacing.ts"),
      import("./_file_symlinks.ts"),
    ]),
  firewalld: () => import("./firewalld.ts"),
  group: () => import("./group.ts"),
  iptables: () => import("./iptables.ts"),
  logrotate: () => import("./logrotate.ts"),
  lvm: () => import("./lvm.ts"),
  module: () => import("./module.ts"),
  nftables: () => import("./nftables.ts"),
  pkg: () => import("./pkg.ts"),
  pkgrepo: () => import("./pkgrepo.ts"),
  postgres_database: () => import("./postgres_database.ts"),
  postgres_extension: () => import("./postgres_extension.ts"),
  postgres_group: () => import("./postgres_group.ts"),
  postgres_initdb: () => import("./postgres_initdb.ts"),
  postgres_language: () => import("./postgres_language.ts"),
  postgres_privileges: () => import("./postgres_privileges.ts"),
  postgres_schema: () => import("./postgres_schema.ts"),
  postgres_tablespace: () => import("./postgres_tablespace.ts"),
  postgres_user: () => import("./postgres_user.ts"),
  selinux: () => import("./selinux.ts"),
  service: () => import("./service.ts"),
  test: () => import("./test.ts"),
  user: () => import("./user.ts"),
};
