import { osGrains } from "#modules/grains/os.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { grainsOf } from "#tests/support/calls/grains_of.ts";

const SELINUX = { "/usr/sbin/selinuxenabled": "", "/usr/sbin/getenforce": "" };

for (
  const [what, files, name, expected] of [
    ["no programs of SELinux", { "/sys/fs/selinux/enforce": "1" }, "selinux", undefined],
    ["SELinux that is off", SELINUX, "selinux", { enabled: false, enforced: "Disabled" }],
    ["SELinux that enforces", { ...SELINUX, "/sys/fs/selinux/enforce": "1\n" }, "selinux", {
      enabled: true,
      enforced: "Enforcing",
    }],
    ["SELinux that permits", { ...SELINUX, "/sys/fs/selinux/enforce": "0" }, "selinux", {
      enabled: true,
      enforced: "Permissive",
    }],
    ["SELinux without getenforce", { "/usr/sbin/selinuxenabled": "" }, "selinux", { enabled: false }],
    ["no systemd", { "/usr/lib/systemd/libsystemd-shared-252.so": "" }, "systemd", undefined],
    [
      "systemd",
      { "/bin/systemctl": "", "/bin/localectl": "", "/usr/lib/systemd/libsystemd-shared-252.so": "" },
      "systemd",
      { version: "252" },
    ],
    ["systemd without its library", { "/bin/systemctl": "", "/bin/localectl": "" }, "systemd", {
      version: "UNDEFINED",
    }],
    ["Upstart", { "/proc/1/cmdline": "/sbin/init\0", "/sbin/init": "x Upstart y" }, "init", "upstart"],
    ["SysV init", { "/proc/1/cmdline": "/sbin/init\0", "/sbin/init": "\x7fELF sysvinit" }, "init", "sysvinit"],
    ["an unknown init", { "/proc/1/cmdline": "/sbin/init\0", "/sbin/init": "busybox" }, "init", "unknown"],
    ["a container's init", { "/proc/1/cmdline": "/usr/bin/tini\0--\0run\0", "/usr/bin/tini": "" }, "init", "tini"],
    ["a program as the first process", { "/proc/1/cmdline": "/bin/sh\0", "/bin/sh": "" }, "init", "unknown"],
  ] as const
) {
  Deno.test(`a host with ${what} has ${name} ${JSON.stringify(expected)}`, () => {
    assertEquals(grainsOf(osGrains, files)[name], expected);
  });
}
