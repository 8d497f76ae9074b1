/**
 * The scripts that dpkg and rpm run when they install, upgrade and remove a package. Each step is written once, for the
 * shell variable `event`: `install`, `upgrade`, `remove` or, after the removal, `purge`; rpm never purges. An upgrade
 * stops no service.
 * @module
 */

/** What a package does on the host besides its files, as text for the shell. */
export interface PackageSteps {
  /** After its files are installed: `event` is `install` or `upgrade`. */
  readonly installed?: string;
  /** Before its files are removed for good. */
  readonly removing?: string;
  /** After its files are removed for good: `event` is `remove` or `purge`. */
  readonly removed?: string;
}

/** Sets `running` if systemd runs here: not in a chroot, and not in most containers. */
const RUNNING = "running=\n[ ! -d /run/systemd/system ] || running=1\n";

/** Unpacks an executable, so that its first start is as fast as every other; a failure is shown, and stops nothing. */
const unpack = (program: string) =>
  `/usr/bin/${program} --version >/dev/null || echo "${program} does not start yet" >&2\n` +
  "/usr/lib/salt-deno/remove-old-releases\n";

const REMOVING_SERVICE = (service: string) =>
  `[ -z "$running" ] || systemctl --no-reload disable --now ${service}.service\n`;

/** Removes directories of a service that nothing needs any more, unless another Salt has taken its place. */
const PURGED = (service: string, directories: readonly string[]) =>
  `[ -z "$running" ] || systemctl daemon-reload
if [ "$event" = purge ] && [ ! -e /usr/bin/${service} ]; then
  rm -rf ${directories.join(" ")}
fi
`;

const STARTED = (service: string) =>
  `if [ -n "$running" ]; then
  systemctl daemon-reload
  if [ "$event" = install ]; then systemctl enable --now ${service}.service || echo "${service} does not run" >&2; fi
fi
`;

/** The steps of the master's package. */
export const MASTER_STEPS: PackageSteps = {
  installed: `${RUNNING}getent passwd salt >/dev/null ||
  useradd --system --user-group --home-dir /var/lib/salt --no-create-home --shell /usr/sbin/nologin salt
chown salt:salt /var/lib/salt
${unpack("salt-master")}${
    STARTED("salt-master")
  }if [ -n "$running" ] && [ "$event" = upgrade ]; then systemctl try-restart salt-master.service; fi
`,
  removing: RUNNING + REMOVING_SERVICE("salt-master"),
  removed: RUNNING + PURGED("salt-master", ["/var/cache/salt/master", "/var/log/salt/master"]),
};

/** The steps of the minion's package. The minion of an upgrade restarts when it runs no job. */
export const MINION_STEPS: PackageSteps = {
  installed: `${RUNNING}${unpack("salt-minion")}${
    STARTED("salt-minion")
  }if [ -n "$running" ] && [ "$event" = upgrade ]; then
  systemd-run --quiet --collect --unit=salt-minion-upgrade /usr/lib/salt-deno/restart-when-idle ||
    echo "restart salt-minion when it runs no job: systemctl restart salt-minion" >&2
fi
`,
  removing: RUNNING + REMOVING_SERVICE("salt-minion"),
  removed: RUNNING + PURGED("salt-minion", ["/var/cache/salt/minion", "/var/log/salt/minion"]),
};

/** The steps of the package with the operator's commands. Its API is started by the operator, who configures it. */
export const COMMANDS_STEPS: PackageSteps = {
  installed: `${RUNNING}${unpack("salt")}if [ -n "$running" ]; then
  systemctl daemon-reload
  if [ "$event" = upgrade ]; then systemctl try-restart salt-api.service; fi
fi
`,
  removing: RUNNING + REMOVING_SERVICE("salt-api"),
  removed: `${RUNNING}[ -z "$running" ] || systemctl daemon-reload
`,
};

/** The steps of the package that the others share. */
export const COMMON_STEPS: PackageSteps = {
  removed: "[ -e /usr/bin/salt-master ] || [ -e /usr/bin/salt-minion ] || rm -rf /var/lib/salt-deno\n",
};

/**
 * The scripts of dpkg for the package `name`, by the names that they have in it. dpkg tells only the first of them that
 * a removed package, whose configuration was left, is installed again.
 */
export function debScripts(name: string, { installed, removing, removed }: PackageSteps): Record<string, string> {
  const script = (guard: string, steps: string) => `#!/bin/sh\nset -e\n${guard}\n${steps}`;
  const mark = `/run/${name}.install`;
  const configured = '[ "$1" = configure ] || exit 0\nevent=upgrade\n' +
    `if [ -z "$2" ] || [ -e ${mark} ]; then event=install; fi\nrm -f ${mark}`;
  return {
    ...installed && {
      preinst: script('[ "$1" = install ] || exit 0', `: > ${mark}\n`),
      postinst: script(configured, installed),
    },
    ...removing && { prerm: script('[ "$1" = remove ] || exit 0\nevent=remove', removing) },
    ...removed && { postrm: script("case $1 in remove | purge) event=$1 ;; *) exit 0 ;; esac", removed) },
  };
}

/** The scriptlets of rpm, by the names of their sections in a spec file. rpm tells how many versions will be left. */
export function rpmScripts({ installed, removing, removed }: PackageSteps): Record<string, string> {
  return {
    ...installed && { post: `event=install\n[ "$1" = 1 ] || event=upgrade\n${installed}` },
    ...removing && { preun: `[ "$1" = 0 ] || exit 0\nevent=remove\n${removing}` },
    ...removed && { postun: `[ "$1" = 0 ] || exit 0\nevent=remove\n${removed}` },
  };
}
