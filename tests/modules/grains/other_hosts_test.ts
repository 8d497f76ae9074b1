/**
 * Grains of other kinds of hosts: the files and programs of each are below its own directory.
 * @module
 */

import { coreGrains } from "#modules/grains/core.ts";
import { hardwareGrains } from "#modules/grains/hardware.ts";
import { networkGrains } from "#modules/grains/network.ts";
import { osGrains } from "#modules/grains/os.ts";
import { virtualGrains } from "#modules/grains/virtual.ts";
import { HostFiles } from "#lib/programs/files.ts";
import { assertEquals } from "#tests/support/assert.ts";

/** The grains that `read` returns on a host with these files, all of them executable. */
function grainsOf(
  read: (files: HostFiles) => Record<string, unknown>,
  files: Readonly<Record<string, string>>,
): Record<string, unknown> {
  const root = Deno.makeTempDirSync({ prefix: "other_host_" });
  try {
    for (const [path, text] of Object.entries(files)) {
      Deno.mkdirSync(`${root}${path}`.replace(/\/[^/]*$/, ""), { recursive: true });
      Deno.writeTextFileSync(root + path, text, { mode: 0o755 });
    }
    return read(new HostFiles(root));
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
}

/** The result of Salt 3008.3's parse_resolv: invalid addresses and networks are left out. */
const RESOLV = `NameServer 192.0.2.1
nameserver FD00:0::1
nameserver nope
nameserver
nameserver 192.0.2.1 ; twice
domain example.net
DOMAIN
sortlist 10.1.0.0 172.16.0.0 192.0.2.0 224.0.0.0 192.0.2.0/255.255.255.0 10.0.0.0/8 10.0.0.1/8 fd00::/8 fd00:: x # c
search a b
search
options timeout:1 attempts:2
options rotate
OPTIONS timeout:1
`;

Deno.test("dns has the data that Salt reads from resolv.conf: networks of sortlist with their masks, each once", () => {
  assertEquals(grainsOf((files) => networkGrains(files, []), { "/etc/resolv.conf": RESOLV }).dns, {
    nameservers: ["192.0.2.1", "fd00::1"],
    ip4_nameservers: ["192.0.2.1"],
    ip6_nameservers: ["fd00::1"],
    sortlist: [
      "10.0.0.0/255.0.0.0",
      "172.16.0.0/255.255.0.0",
      "192.0.2.0/255.255.255.0",
      "224.0.0.0/255.255.255.0",
      "fd00::/ff00::",
      "fd00::/ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff",
    ],
    domain: "example.net",
    search: [],
    options: ["timeout:1", "rotate"],
  });
});

Deno.test("the gateway is that of the first default route that is up", () => {
  const route = (gateway: string, flags: string) =>
    `${"0".repeat(32)} 00 ${"0".repeat(32)} 00 ${gateway} 400 2 0 ${flags}     eth0\n`;
  const gateways = ["fe800000000000000000000000000001", "20010db8000100020003000400050006"];
  for (const [gateway, text] of [[gateways[0], "fe80::1"], [gateways[1], "2001:db8:1:2:3:4:5:6"]]) {
    const files = { "/proc/net/ipv6_route": route(gateways[0], "00000002") + route(gateway, "00000003") };
    assertEquals(grainsOf((host) => networkGrains(host, []), files).ip6_gw, text);
  }
});

const DMI = "/sys/class/dmi/id";

Deno.test("virtual names Xen's guests with the version and the features of the hypervisor, and other containers", () => {
  const version = { major: "4", minor: "17", extra: ".3" };
  assertEquals(
    grainsOf(virtualGrains, {
      "/sys/bus/xen/x": "",
      [`${DMI}/product_name`]: "HVM domU\n",
      ...Object.fromEntries(Object.entries(version).map(([name, text]) => [`/sys/hypervisor/version/${name}`, text])),
      "/sys/hypervisor/properties/features": "00002705\n",
    }),
    {
      virtual: "xen",
      virtual_subtype: "Xen HVM DomU",
      virtual_hv_version: "4.17.3",
      virtual_hv_version_info: ["4", "17", ".3"],
      virtual_hv_features: "00002705",
      virtual_hv_features_list: [
        "writable_page_tables",
        "auto_translated_physmap",
        "hvm_callback_vector",
        "hvm_safe_pvclock",
        "hvm_pirqs",
        "memory_op_vnode_supported",
      ],
    },
  );
  assertEquals(
    grainsOf(virtualGrains, { "/proc/xen/capabilities": "control_d\n", "/sys/hypervisor/version/major": "4" }),
    {
      virtual: "xen",
      virtual_subtype: "Xen Dom0",
    },
  );
  assertEquals(grainsOf(virtualGrains, { "/proc/1/cgroup": "1:cpu:/lxc/web1\n" }), {
    virtual: "container",
    virtual_subtype: "LXC",
  });
});

Deno.test("the processes of an OpenVZ host are listed without those of its containers", () => {
  const opts = { id: "web1", master: "salt", append_domain: null, enable_gpu_grains: false };
  const { ps } = grainsOf((files) => coreGrains(opts, { files, addresses: [] }), { "/proc/vz/version": "1" });
  assertEquals(
    ps,
    'ps -fH -p $(grep -l "^envID:[[:space:]]*0\\$" /proc/[0-9]*/status | sed -e "s=/proc/\\([0-9]*\\)/.*=\\1=")  ' +
      `| awk '{ $7=""; print }'`,
  );
});

Deno.test("a process of a user without an account has no names", () => {
  const own = Deno.uid;
  const uid = 4_000_000_000;
  try {
    Deno.uid = () => uid;
    const opts = { id: "web1", master: "salt", append_domain: null, enable_gpu_grains: false };
    const grains = grainsOf((files) => coreGrains(opts, { files, addresses: [] }), {});
    assertEquals([grains.uid, grains.username, grains.groupname], [uid, "", ""]);
  } finally {
    Deno.uid = own;
  }
});

Deno.test("the group of an account may have no name", () => {
  const own = Deno.uid, path = Deno.env.get("PATH") ?? "";
  const uid = 4_000_000_001;
  const directory = Deno.makeTempDirSync({ prefix: "getent_" });
  try {
    Deno.uid = () => uid;
    // A directory service that knows the user alone.
    const getent = `#!/bin/sh\n[ "$2" = passwd ] && echo "ghost:x:${uid}:4000000002::/home/ghost:/bin/sh"\n`;
    Deno.writeTextFileSync(`${directory}/getent`, getent, { mode: 0o755 });
    Deno.env.set("PATH", `${directory}:${path}`);
    const opts = { id: "web1", master: "salt", append_domain: null, enable_gpu_grains: false };
    const grains = grainsOf((files) => coreGrains(opts, { files, addresses: [] }), {});
    assertEquals([grains.uid, grains.username, grains.groupname], [uid, "ghost", ""]);
  } finally {
    Deno.uid = own;
    Deno.env.set("PATH", path);
    Deno.removeSync(directory, { recursive: true });
  }
});

Deno.test("processors of IBM S/390, kernel parameters with an open quote, graphics cards that are in no list", () => {
  const cpuinfo = "vendor_id       : IBM/S390\n# processors    : 4\nprocessor 0: version = FF\n";
  const card = "/sys/bus/pci/devices/0000:01:00.0";
  const { num_cpus, cpu_model, kernelparams, gpus } = grainsOf((files) => hardwareGrains(files, { gpus: true }), {
    "/proc/cpuinfo": cpuinfo,
    "/proc/cmdline": 'root=/dev/sda1 name="two words\n',
    [`${card}/class`]: "0x030000\n",
    [`${card}/vendor`]: "0x10de\n",
    [`${card}/device`]: "0x2504\n",
    "/usr/share/misc/pci.ids": "# list\n1002  AMD\n",
  });
  assertEquals([num_cpus, cpu_model], [4, "IBM/S390"]);
  assertEquals(kernelparams, [["root", "/dev/sda1"], ["name", "two"], ["words", null]]);
  assertEquals(gpus, [{ vendor: "nvidia", model: "2504" }]);
  assertEquals("kernelparams" in grainsOf((files) => hardwareGrains(files, { gpus: false }), {}), false);
});

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
