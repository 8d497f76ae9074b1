/**
 * The host on which formulas are really applied: the content of its packages, and the pillar where a formula's example
 * cannot be used. The programs are scripts that do only what the states need, and write their calls to files.
 * @module
 */

import type { TestPackage } from "#tests/support/calls/apt_root.ts";

/** The SLS files of thirteen formulas that are applied together. */
export const SLS = [
  "cron",
  "fail2ban",
  "firewalld",
  "logrotate",
  "nfs.server",
  "nfs.client",
  "ntp",
  "packages.pkgs",
  "postfix",
  "postfix.config",
  "redis",
  "sudoers",
  "sudoers.included",
  "sysctl",
  "systemd",
  "systemd.journald",
  "systemd.resolved",
  "systemd.timesyncd",
  "systemd.units",
  "timezone",
];

/**
 * Pillar that replaces a formula's example, because the example is no plain YAML, needs packages that no repository
 * has, or waits for minutes.
 */
export const PILLAR: Readonly<Record<string, unknown>> = {
  ntp: { lookup: { client: "ntp", service: "ntp", ntp_conf: "/etc/ntp.conf" }, servers: ["0.pool", "1.pool"] },
  packages: {
    pkgs: {
      held: { alien: "8.95" },
      wanted: ["less", "bc"],
      unwanted: ["avahi-daemon"],
      required: { pkgs: ["wget"] },
    },
    retry_options: { attempts: 1 },
  },
  redis: {
    disable_transparent_huge_pages: true,
    snapshots: ["900 1", "300 10"],
    lookup: { svc_state: "running", overcommit_memory: true, retry_option: { attempts: 2, interval: 1 } },
  },
};

const CRONTAB = `#!/bin/sh
user=root
while [ $# -gt 0 ]; do
  case $1 in
    -u) user=$2; shift ;;
    -l) cat /var/spool/cron/crontabs/$user 2> /dev/null || { echo "no crontab for $user" >&2; exit 1; }; exit ;;
    *) mkdir -p /var/spool/cron/crontabs; cat "$1" > /var/spool/cron/crontabs/$user ;;
  esac
  shift
done
`;

const program = (text = "") => `#!/bin/sh\n${text}`;

/** A program that writes its arguments to a file. */
const recordingProgram = (name: string) => program(`echo "$*" >> /var/lib/noted-${name}\n`);

const unit = (name: string) => ({ [`usr/lib/systemd/system/${name}.service`]: `[Service]\nExecStart=/bin/${name}\n` });

/** The packages of the repository, by name. */
const FILES: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  alien: {},
  "avahi-daemon": {},
  bc: {},
  cronie: { ...unit("cron"), "usr/bin/crontab": CRONTAB, "etc/cron.hourly/.placeholder": "" },
  dbus: unit("dbus"),
  fail2ban: {
    ...unit("fail2ban"),
    "etc/fail2ban/action.d/iptables.conf": "[Init]\n",
    "etc/fail2ban/filter.d/sshd.conf": "[Init]\n",
  },
  firewalld: { ...unit("firewalld"), "usr/bin/firewall-cmd": recordingProgram("firewall-cmd") },
  ipset: {},
  less: {},
  "libnss-resolve": {},
  libsystemd0: {},
  logrotate: { "etc/logrotate.conf": "weekly\n" },
  nftables: {},
  "nfs-common": {},
  "nfs-kernel-server": { ...unit("nfs-server"), ...unit("nfs-kernel-server") },
  ntp: { ...unit("ntp"), "etc/ntp.conf": "pool example\n" },
  postfix: {
    ...unit("postfix"),
    "usr/sbin/postmap": program('cp "$1" "$1.db"\n'),
    "usr/bin/newaliases": recordingProgram("newaliases"),
  },
  "procps-ng": {},
  "python3-systemd": {},
  "redis-server": { ...unit("redis-server"), "etc/redis/redis.conf": "port 1\n" },
  sudo: {
    "usr/sbin/visudo": program('grep -q . "$3" && echo "$3: parsed OK"\n'),
    "etc/sudoers": "root ALL=(ALL) ALL\n",
  },
  systemd: { ...unit("systemd-journald"), ...unit("systemd-resolved"), ...unit("systemd-networkd") },
  "systemd-resolved": {},
  "systemd-timesyncd": unit("systemd-timesyncd"),
  tzdata: {},
  wget: {},
};

/** The packages of the repository. */
export const PACKAGES: readonly TestPackage[] = Object.entries(FILES).map(([name, files]) => ({
  name,
  version: name === "alien" ? "8.95" : "1.0",
  files,
}));
