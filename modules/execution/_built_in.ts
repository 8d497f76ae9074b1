/**
 * The built-in execution modules, by name. Written as literal imports, so that `deno compile` finds them.
 * @module
 */

import { joined, type ModuleTable, type VirtualNames } from "../../lib/plugins/loader.ts";

/** What `loadCatalogue` makes a minion's execution modules of. */
export const EXECUTION_MODULES: ModuleTable = {
  aliases: () => import("./aliases.ts"),
  alternatives: () => import("./alternatives.ts"),
  apkpkg: () => import("./apkpkg.ts"),
  aptpkg: () =>
    joined([
      import("./aptpkg.ts"),
      import("./_apt_queries.ts"),
      import("./_apt_repositories.ts"),
    ]),
  archive: () => joined([import("./archive.ts"), import("./_archive_listing.ts")]),
  at: () => import("./at.ts"),
  cmd: () => joined([import("./cmd.ts"), import("./_cmd_scripts.ts")]),
  config: () => import("./config.ts"),
  cp: () => joined([import("./cp.ts"), import("./_cp_caching.ts"), import("./_cp_sending.ts")]),
  cron: () => import("./cron.ts"),
  data: () => import("./data.ts"),
  debian_service: () => import("./debian_service.ts"),
  debian_ip: () => import("./debian_ip.ts"),
  debconfmod: () => import("./debconfmod.ts"),
  defaults: () => import("./defaults.ts"),
  dig: () => import("./dig.ts"),
  disk: () => import("./disk.ts"),
  dnsutil: () => import("./dnsutil.ts"),
  dpkg_lowpkg: () => import("./dpkg_lowpkg.ts"),
  environ: () => import("./environ.ts"),
  event: () => import("./event.ts"),
  extfs: () => import("./extfs.ts"),
  file: () =>
    joined([
      import("./file.ts"),
      import("./_file_editing.ts"),
      import("./_file_finding.ts"),
      import("./_file_managing.ts"),
      import("./_file_ownership.ts"),
      import("./_file_replacing.ts"),
      import("./_file_trees.ts"),
    ]),
  git: () =>
    joined([
      import("./git.ts"),
      import("./_git_config.ts"),
      import("./_git_remotes.ts"),
      import("./_git_worktrees.ts"),
    ]),
  firewalld: () => import("./firewalld.ts"),
  gem: () => import("./gem.ts"),
  gentoo_service: () => import("./gentoo_service.ts"),
  grains: () => import("./grains.ts"),
  groupadd: () => import("./groupadd.ts"),
  hashutil: () => import("./hashutil.ts"),
  hosts: () => import("./hosts.ts"),
  http: () => import("./http.ts"),
  ini: () => import("./ini.ts"),
  iptables: () => import("./iptables.ts"),
  key: () => import("./key.ts"),
  kmod: () => import("./kmod.ts"),
  linux_acl: () => import("./linux_acl.ts"),
  linux_lvm: () => import("./linux_lvm.ts"),
  linux_service: () => import("./linux_service.ts"),
  linux_shadow: () => import("./linux_shadow.ts"),
  linux_sysctl: () => import("./linux_sysctl.ts"),
  locale: () => import("./locale.ts"),
  log: () => import("./log.ts"),
  logrotate: () => import("./logrotate.ts"),
  match: () => import("./match.ts"),
  mount: () => joined([import("./mount.ts"), import("./_mount_tables.ts")]),
  network: () => joined([import("./network.ts"), import("./_network_addresses.ts"), import("./_network_routes.ts")]),
  nftables: () => import("./nftables.ts"),
  npm: () => import("./npm.ts"),
  pacmanpkg: () => import("./pacmanpkg.ts"),
  pip: () => joined([import("./pip.ts"), import("./_pip_listing.ts")]),
  ps: () => import("./ps.ts"),
  pillar: () => import("./pillar.ts"),
  postgres: () =>
    joined([
      import("./postgres.ts"),
      import("./_postgres_extensions.ts"),
      import("./_postgres_privileges.ts"),
      import("./_postgres_roles.ts"),
    ]),
  publish: () => import("./publish.ts"),
  random: () => import("./random.ts"),
  rh_ip: () => import("./rh_ip.ts"),
  rpm_lowpkg: () => import("./rpm_lowpkg.ts"),
  saltutil: () => joined([import("./saltutil.ts"), import("./_syncing.ts"), import("./_master_side.ts")]),
  selinux: () => import("./selinux.ts"),
  slsutil: () => import("./slsutil.ts"),
  ssh: () => joined([import("./ssh.ts"), import("./_ssh_known_hosts.ts")]),
  state: () =>
    joined([
      import("./state.ts"),
      import("./_state_applying.ts"),
      import("./_state_controlling.ts"),
      import("./_state_showing.ts"),
    ]),
  status: () => import("./status.ts"),
  sys: () => joined([import("./sys.ts"), import("./_sys_families.ts")]),
  system: () => import("./system.ts"),
  systemd_service: () => import("./systemd_service.ts"),
  temp: () => import("./temp.ts"),
  test: () => import("./test.ts"),
  timezone: () => import("./timezone.ts"),
  useradd: () => import("./useradd.ts"),
  virtualenv_mod: () => import("./virtualenv_mod.ts"),
  xfs: () => import("./xfs.ts"),
  yumpkg: () =>
    joined([
      import("./yumpkg.ts"),
      import("./_rpm_queries.ts"),
      import("./_yum_groups.ts"),
      import("./_yum_queries.ts"),
    ]),
  zypperpkg: () =>
    joined([
      import("./zypperpkg.ts"),
      import("./_rpm_queries.ts"),
      import("./_zypper_queries.ts"),
    ]),
};

/** The virtual names, each with the files that bear it, in the order in which they are asked whether they serve. */
export const VIRTUAL_NAMES: VirtualNames = {
  acl: ["linux_acl"],
  debconf: ["debconfmod"],
  group: ["groupadd"],
  ip: ["debian_ip", "rh_ip"],
  lowpkg: ["dpkg_lowpkg", "rpm_lowpkg"],
  lvm: ["linux_lvm"],
  pkg: ["apkpkg", "aptpkg", "pacmanpkg", "yumpkg", "zypperpkg"],
  service: ["debian_service", "gentoo_service", "linux_service", "systemd_service"],
  shadow: ["linux_shadow"],
  sysctl: ["linux_sysctl"],
  user: ["useradd"],
  virtualenv: ["virtualenv_mod"],
};
