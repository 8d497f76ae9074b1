/**
 * The built-in beacons, by name. Written as literal imports, so that `deno compile` finds them.
 * @module
 */

import type { BeaconTable } from "#lib/plugins/beacon.ts";

/** How each beacon is loaded. */
export const BEACONS: BeaconTable = {
  btmp: () => import("./btmp.ts"),
  cert_info: () => import("./cert_info.ts"),
  diskusage: () => import("./diskusage.ts"),
  inotify: () => import("./inotify.ts"),
  journald: () => import("./journald.ts"),
  load: () => import("./load.ts"),
  log: () => import("./log.ts"),
  memusage: () => import("./memusage.ts"),
  network_info: () => import("./network_info.ts"),
  network_settings: () => import("./network_settings.ts"),
  pkg: () => import("./pkg.ts"),
  ps: () => import("./ps.ts"),
  salt_monitor: () => import("./salt_monitor.ts"),
  service: () => import("./service.ts"),
  status: () => import("./status.ts"),
  swapusage: () => import("./swapusage.ts"),
  watchdog: () => import("./watchdog.ts"),
  wtmp: () => import("./wtmp.ts"),
};

/** Salt's beacons that are not here, and what does their work. */
export const BEACONS_NOT_BUILT: Readonly<Record<string, string>> = {
  salt_proxy: "Proxy minions are not built.",
  sh: "It attached strace to every shell, and slowed each of its commands; use auditd, and the beacon log on its file.",
};
