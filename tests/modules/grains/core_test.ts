import { loadGrains } from "#lib/minion/agent/grains.ts";
import type { GrainAddress } from "#lib/plugins/core_grains.ts";
import { HostFiles } from "#lib/programs/files.ts";
import { libzmqVersion } from "#lib/sockets/libzmq.ts";
import { expandIpv6, isIpv4, isIpv6, sortAddresses } from "#lib/text/ip_address.ts";
import { map } from "#lib/values/value.ts";
import { CORE_GRAINS, coreGrains, thisHost } from "#modules/grains/core.ts";
import { hardwareGrains } from "#modules/grains/hardware.ts";
import { fqdnsGrain, networkGrains } from "#modules/grains/network.ts";
import { osGrains } from "#modules/grains/os.ts";
import { pythonGrains } from "#modules/grains/python.ts";
import { abbreviation } from "#modules/grains/time_zone.ts";
import { virtualGrains } from "#modules/grains/virtual.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { grainsOf } from "#tests/support/calls/grains_of.ts";
import { testOpts } from "#tests/support/calls/job_context.ts";
import { cpuMs } from "#tests/support/time.ts";

/** Runs `test` with a host that has only these files; `-> target` makes a link. */
async function withHost<T>(host: Record<string, string>, test: (files: HostFiles) => T | Promise<T>): Promise<T> {
  const root = await Deno.makeTempDir({ prefix: "grains" });
  try {
    for (const [path, text] of Object.entries(host)) {
      await Deno.mkdir(`${root}${path}`.replace(/\/[^/]*$/, ""), { recursive: true });
      if (text.startsWith("-> ")) await Deno.symlink(text.slice(3), root + path);
      else await Deno.writeTextFile(root + path, text, { mode: 0o755 });
    }
    return await test(new HostFiles(root));
  } finally {
    await Deno.remove(root, { recursive: true });
  }
}

function subset(grains: Record<string, unknown>, names: Record<string, unknown>): Record<string, unknown> {
  return Object.fromEntries(Object.keys(names).map((name) => [name, grains[name]]));
}

const OPTS = { id: "web1", master: "salt", append_domain: null, enable_gpu_grains: true };

/**
 * Contents of os-release, and the grains that Salt 3008.3 makes from it with `_linux_distribution_data` and
 * `_osrelease_data`.
 */
const DISTRIBUTIONS: readonly [string, Record<string, string>, Record<string, unknown>][] = [
  [
    "Debian",
    {
      "/etc/os-release":
        'PRETTY_NAME="Debian GNU/Linux 12 (bookworm)"\nNAME="Debian GNU/Linux"\nVERSION_ID="12"\nVERSION="12 (bookworm)"\n' +
        "VERSION_CODENAME=bookworm\nID=debian\n",
    },
    {
      os: "Debian",
      os_family: "Debian",
      oscodename: "bookworm",
      osfullname: "Debian GNU/Linux",
      osrelease: "12",
      osrelease_info: [12],
      osmajorrelease: 12,
      osfinger: "Debian-12",
      lsb_distrib_id: "Debian GNU/Linux",
      lsb_distrib_release: "12",
      lsb_distrib_codename: "bookworm",
    },
  ],
  [
    "Ubuntu",
    {
      "/etc/os-release": 'NAME="Ubuntu"\nVERSION_ID="22.04"\nVERSION_CODENAME=jammy\nID=ubuntu\nID_LIKE=debian\n',
      "/etc/lsb-release":
        'DISTRIB_ID=Ubuntu\nDISTRIB_RELEASE=22.04\nDISTRIB_CODENAME=jammy\nDISTRIB_DESCRIPTION="Ubuntu 22.04.3 LTS"\n',
    },
    {
      os: "Ubuntu",
      os_family: "Debian",
      oscodename: "jammy",
      osrelease: "22.04",
      osrelease_info: [22, 4],
      osfinger: "Ubuntu-22.04",
      lsb_distrib_description: "Ubuntu 22.04.3 LTS",
    },
  ],
  [
    "Rocky Linux",
    {
      "/etc/os-release":
        'NAME="Rocky Linux"\nVERSION="9.3 (Blue Onyx)"\nID="rocky"\nID_LIKE="rhel centos fedora"\nVERSION_ID="9.3"\n' +
        'PRETTY_NAME="Rocky Linux 9.3 (Blue Onyx)"\n',
    },
    {
      os: "Rocky",
      os_family: "RedHat",
      oscodename: "Blue Onyx",
      osfullname: "Rocky Linux",
      osmajorrelease: 9,
      osfinger: "Rocky Linux-9",
    },
  ],
  [
    "CentOS 7",
    {
      "/etc/os-release": 'NAME="CentOS Linux"\nID="centos"\nVERSION_ID="7"\nPRETTY_NAME="CentOS Linux 7 (Core)"\n',
      "/etc/centos-release": "CentOS Linux release 7.9.2009 (Core)\n",
    },
    { os: "CentOS", os_family: "RedHat", osrelease: "7.9.2009", osfinger: "CentOS Linux-7" },
  ],
  [
    "Alpine",
    { "/etc/os-release": 'NAME="Alpine Linux"\nID=alpine\nVERSION_ID=3.18.4\nPRETTY_NAME="Alpine Linux v3.18"\n' },
    { os: "Alpine", os_family: "Alpine", osrelease: "3.18.4", osfinger: "Alpine Linux-3" },
  ],
  [
    "openSUSE Leap",
    {
      "/usr/lib/os-release":
        'NAME="openSUSE Leap"\nVERSION="15.5"\nID="opensuse-leap"\nVERSION_ID="15.5"\nPRETTY_NAME="openSUSE Leap 15.5"\n' +
        'CPE_NAME="cpe:/o:opensuse:leap:15.5"\n',
    },
    { os: "SUSE", os_family: "Suse", osfullname: "Leap", osrelease: "15.5", osfinger: "Leap-15" },
  ],
  ["no os-release", {}, { os: "Linux", osrelease: "", osfinger: undefined }],
];

for (const [name, files, expected] of DISTRIBUTIONS) {
  Deno.test(`grains of ${name}`, async () => {
    await withHost(files, (host) => assertEquals(subset(osGrains(host), expected), expected));
  });
}

const corpus: Record<string, { os_release: string; grains: Record<string, unknown> }> = JSON.parse(
  await Deno.readTextFile(new URL("../../corpus/os_release.json", import.meta.url)),
);

for (const [name, { os_release, grains }] of Object.entries(corpus)) {
  Deno.test(`os-release of ${name} gives the grains of Salt`, async () => {
    await withHost({ "/etc/os-release": os_release }, (host) => assertEquals(subset(osGrains(host), grains), grains));
  });
}

Deno.test("init is the program of the first process", async () => {
  const init = (files: Record<string, string>) => withHost(files, (host) => osGrains(host).init);
  assertEquals(await init({ "/run/systemd/system/x": "" }), "systemd");
  assertEquals(await init({ "/proc/1/cmdline": "runit\0" }), "runit");
  assertEquals(await init({ "/proc/1/cmdline": "/python3\0/sbin/my_init\0" }), "runit");
  assertEquals(await init({}), "unknown");
});

const DMI = "/sys/class/dmi/id";

const GUEST_CPU = "processor\t: 0\nflags\t\t: fpu hypervisor lm\n";

const VIRTUAL: readonly [string, Record<string, string>, string, string | undefined][] = [
  ["bare metal", { "/proc/cpuinfo": "flags\t: fpu\n", [`${DMI}/sys_vendor`]: "Dell Inc.\n" }, "physical", undefined],
  ["Docker", { "/.dockerenv": "", "/proc/cpuinfo": GUEST_CPU }, "container", "Docker"],
  ["Docker by control groups", { "/proc/1/cgroup": "1:name=systemd:/docker/abc\n" }, "container", "Docker"],
  ["LXC", { "/proc/1/environ": "a=b\0container=lxc\0" }, "container", "LXC"],
  ["Podman", { "/run/.containerenv": "" }, "container", "Podman"],
  ["systemd-nspawn", { "/run/systemd/container": "systemd-nspawn\n" }, "systemd-nspawn", undefined],
  ["Kubernetes", { "/proc/1/cgroup": "1:cpu:/kubepods/x\n" }, "virtual", "kubernetes"],
  ["KVM", { [`${DMI}/sys_vendor`]: "QEMU\n", "/proc/cpuinfo": GUEST_CPU }, "kvm", undefined],
  ["KVM without tables", { "/proc/cpuinfo": GUEST_CPU }, "kvm", undefined],
  ["VMware", { [`${DMI}/product_name`]: "VMware Virtual Platform\n" }, "VMware", undefined],
  ["VirtualBox", { [`${DMI}/product_name`]: "VirtualBox\n" }, "VirtualBox", undefined],
  [
    "Hyper-V",
    { [`${DMI}/sys_vendor`]: "Microsoft Corporation\n", [`${DMI}/product_name`]: "Virtual Machine\n" },
    "VirtualPC",
    undefined,
  ],
  [
    "Amazon EC2",
    { [`${DMI}/sys_vendor`]: "Amazon EC2\n", [`${DMI}/product_name`]: "m5.large\n", "/proc/cpuinfo": GUEST_CPU },
    "Nitro",
    "Amazon EC2 (m5.large)",
  ],
  ["Google", { [`${DMI}/product_name`]: "Google Compute Engine\n" }, "gce", undefined],
  ["Xen Dom0", { "/proc/xen/xsd_kva": "" }, "xen", "Xen Dom0"],
  ["Xen DomU", { "/proc/xen/capabilities": "\n" }, "xen", "Xen PV DomU"],
  ["OpenVZ", { "/proc/self/status": "Name:\tx\nenvID:\t101\n" }, "openvzve", undefined],
];

for (const [what, files, virtual, subtype] of VIRTUAL) {
  Deno.test(`virtual on ${what} is ${virtual}`, async () => {
    const grains = await withHost(files, virtualGrains);
    assertEquals([grains.virtual, grains.virtual_subtype], [virtual, subtype]);
  });
}

Deno.test("hardware grains come from the kernel's files", async () => {
  const files = {
    "/proc/cpuinfo": "processor\t: 0\nvendor_id\t: X\nmodel name\t: Fast: CPU\nflags\t\t: fpu sse\n\nprocessor\t: 1\n",
    "/proc/cmdline": 'root=/dev/sda1 quiet a=b=c name="two words"\n',
    [`${DMI}/product_uuid`]: "4C4C4544-0042\n",
    [`${DMI}/bios_version`]: "1.2\n",
    "/sys/devices/pci/sda/queue/rotational": "1\n",
    "/sys/devices/pci/nvme0n1/queue/rotational": "0\n",
    "/sys/devices/virtual/loop0/queue/rotational": "1\n",
    "/sys/block/sda": "-> ../devices/pci/sda",
    "/sys/block/nvme0n1": "-> ../devices/pci/nvme0n1",
    "/sys/block/loop0": "-> ../devices/virtual/loop0",
    "/sys/bus/pci/devices/0000:01:00.0/class": "0x030000\n",
    "/sys/bus/pci/devices/0000:01:00.0/vendor": "0x10de\n",
    "/sys/bus/pci/devices/0000:01:00.0/device": "0x2504\n",
    "/sys/bus/pci/devices/0000:02:00.0/class": "0x020000\n",
    "/sys/bus/pci/devices/0000:03:00.0/class": "0x030000\n",
    "/sys/bus/pci/devices/0000:03:00.0/vendor": "0x10de\n",
    "/sys/bus/pci/devices/0000:03:00.0/device": "0x(.*\n",
    "/usr/share/misc/pci.ids": "# list\n1002  AMD\n\t2504  Wrong\n10de  NVIDIA\n\t2504  GA106\n\t\t10de 1  Sub\n",
    "/sys/firmware/efi/efivars/SecureBoot-8be4": "\x06\0\0\0\x01",
    "/sys/class/fc_host/x": "",
  };
  const expected = {
    num_cpus: 2,
    cpu_model: "Fast",
    cpu_flags: ["fpu", "sse"],
    kernelparams: [["root", "/dev/sda1"], ["quiet", null], ["a", null], ["name", "two words"]],
    uuid: "4c4c4544-0042",
    biosversion: "1.2",
    serialnumber: undefined,
    disks: ["sda"],
    ssds: ["nvme0n1"],
    num_gpus: 2,
    gpus: [{ vendor: "nvidia", model: "GA106" }, { vendor: "nvidia", model: "(.*" }],
    "efi": true,
    "efi-secure-boot": true,
    fibre_channel_host: true,
  };
  await withHost(files, (host) => assertEquals(subset(hardwareGrains(host, { gpus: true }), expected), expected));
});

const ADDRESSES: readonly GrainAddress[] = [
  { name: "lo", family: "IPv4", address: "127.0.0.1", mac: "00:00:00:00:00:00" },
  { name: "eth0", family: "IPv6", address: "fe80::1", mac: "02:00:00:00:00:01" },
  { name: "eth0", family: "IPv4", address: "192.0.2.20", mac: "02:00:00:00:00:01" },
  { name: "eth0:1", family: "IPv4", address: "192.0.2.3", mac: "02:00:00:00:00:01" },
  { name: "lo", family: "IPv6", address: "::1", mac: "00:00:00:00:00:00" },
];

Deno.test("network grains come from the interfaces and the kernel's files", async () => {
  const files = {
    "/sys/class/net/lo/ifindex": "1\n",
    "/sys/class/net/lo/address": "00:00:00:00:00:00\n",
    "/sys/class/net/eth0/ifindex": "3\n",
    "/sys/class/net/eth0/address": "02:00:00:00:00:01\n",
    "/sys/class/net/dummy0/ifindex": "2\n",
    "/sys/class/net/dummy0/address": "\n",
    "/sys/class/net/bonding_masters": "\n",
    "/proc/sys/kernel/hostname": "web1\n",
    "/etc/hosts":
      "127.0.0.1 localhost\n# 1.2.3.4 web1\n192.0.2.20 web1.example.com web1 # ours\nfd00::2 web1.example.com\n",
    "/etc/resolv.conf":
      "nameserver 192.0.2.1\nnameserver fd00::1 # six\nsearch example.com lan ; x\noptions timeout:1\n",
    "/proc/net/route": "Iface\tDestination\tGateway \tFlags\tRefCnt\tUse\tMetric\tMask\n" +
      "eth0\t000200C0\t00000000\t0001\t0\t0\t0\t00FFFFFF\neth0\t00000000\t010200C0\t0003\t0\t0\t0\t00000000\n",
    "/proc/net/ipv6_route":
      `${"0".repeat(32)} 00 ${"0".repeat(32)} 00 ${"0".repeat(32)} ffffffff 1 0 00200200       lo\n` +
      `${"0".repeat(32)} 00 ${"0".repeat(32)} 00 fd000000000000000000000000000001 400 2 0 00000003     eth0\n`,
  };
  await withHost(files, (host) =>
    assertEquals(networkGrains(host, ADDRESSES), {
      localhost: "web1",
      fqdn: "web1.example.com",
      host: "web1",
      domain: "example.com",
      fqdn_ip4: ["192.0.2.20"],
      fqdn_ip6: ["fd00::2"],
      hwaddr_interfaces: { lo: "00:00:00:00:00:00", eth0: "02:00:00:00:00:01" },
      ip4_interfaces: { lo: ["127.0.0.1"], dummy0: [], eth0: ["192.0.2.20", "192.0.2.3"] },
      ip6_interfaces: { lo: ["::1"], dummy0: [], eth0: ["fe80::1"] },
      ip_interfaces: { lo: ["127.0.0.1", "::1"], dummy0: [], eth0: ["192.0.2.20", "192.0.2.3", "fe80::1"] },
      ipv4: ["127.0.0.1", "192.0.2.3", "192.0.2.20"],
      ipv6: ["::1", "fe80::1"],
      ip_gw: true,
      ip4_gw: "192.0.2.1",
      ip6_gw: "fd00::1",
      dns: {
        nameservers: ["192.0.2.1", "fd00::1"],
        ip4_nameservers: ["192.0.2.1"],
        ip6_nameservers: ["fd00::1"],
        sortlist: [],
        domain: "",
        search: ["example.com", "lan"],
        options: ["timeout:1"],
      },
    }));
});

Deno.test("a host without routes has no gateway, a host whose default route has no address has True", async () => {
  const gateways = async (files: Record<string, string>) => {
    const { ip_gw, ip4_gw, ip6_gw } = await withHost(files, (host) => networkGrains(host, []));
    return [ip_gw, ip4_gw, ip6_gw];
  };
  assertEquals(await gateways({}), [false, false, false]);
  const route = "Iface\nppp0\t00000000\t00000000\t0001\t0\t0\t0\t00000000\n";
  assertEquals(await gateways({ "/proc/net/route": route }), [true, true, false]);
});

Deno.test("fqdns of a host that has only loopback is empty", async () => {
  const addresses = ADDRESSES.filter(({ name }) => name === "lo");
  assertEquals(await CORE_GRAINS.readNames({ ...thisHost(), addresses }), { fqdns: [] });
});

Deno.test("fqdns looks up all addresses except loopback, and waits for each only a limited time", async () => {
  const lookups: string[] = [];
  const lookUp = (address: string): Promise<string[]> => {
    lookups.push(address);
    if (address === "fe80::1") return new Promise(() => {});
    return address === "192.0.2.3" ? Promise.reject(new Error("no name")) : Promise.resolve(["web1.example.com."]);
  };
  assertEquals(await fqdnsGrain(ADDRESSES, { lookUp, timeoutMs: 10 }), { fqdns: ["web1.example.com"] });
  assertEquals(lookups.sort(), ["192.0.2.20", "192.0.2.3", "fe80::1"]);
});

for (
  const [rule, minutes, expected] of [
    ["CET-1CEST,M3.5.0,M10.5.0/3", 60, "CET"],
    ["CET-1CEST,M3.5.0,M10.5.0/3", 120, "CEST"],
    ["EST5EDT,M3.2.0,M11.1.0", -300, "EST"],
    ["EST5EDT,M3.2.0,M11.1.0", -240, "EDT"],
    ["<+0530>-5:30", 330, "+0530"],
    ["<-03>3", -180, "-03"],
    ["UTC0", 0, "UTC"],
    ["nonsense", 0, undefined],
  ] as const
) {
  Deno.test(`the zone ${rule} is called ${expected} ${minutes} minutes east`, () => {
    assertEquals(abbreviation(rule, minutes), expected);
  });
}

Deno.test("addresses are distinguished and ordered numerically", () => {
  assertEquals(["1.2.3.4", "256.1.1.1", "1.2.3", "01.2.3.4", "::1"].map(isIpv4), [true, false, false, false, false]);
  assertEquals(
    ["::", "::1", "1::", "fe80::1%eth0", "::ffff:1.2.3.4", "1:2:3:4:5:6:7:8", "1:2", ":::", "1::2::3", "g::", "1.2.3.4"]
      .map(isIpv6),
    [true, true, true, true, true, true, false, false, false, false, false],
  );
  assertEquals(expandIpv6("2001:DB8::1"), "20010db8000000000000000000000001");
  assertEquals(sortAddresses(["10.0.0.2", "9.0.0.1", "10.0.0.2"]), ["9.0.0.1", "10.0.0.2"]);
  assertEquals(sortAddresses(["fe80::", "::2", "::10"]), ["::2", "::10", "fe80::"]);
});

Deno.test("this host's core grains have Salt's names and types", () => {
  const grains = coreGrains(OPTS);
  assertEquals([grains.id, grains.master, grains.pid], ["web1", "salt", Deno.pid]);
  // Salt's value for this id.
  assertEquals(grains.server_id, 1826842219);
  const texts = [
    "os",
    "os_family",
    "kernel",
    "kernelrelease",
    "nodename",
    "fqdn",
    "host",
    "cpuarch",
    "osarch",
    "path",
    "shell",
    "ps",
    "virtual",
  ];
  assertEquals([grains.saltversion, grains.saltversioninfo], ["3008.3", [3008, 3]]);
  assertEquals(grains.zmqversion, libzmqVersion());
  assertEquals(texts.filter((name) => typeof grains[name] !== "string" || grains[name] === ""), []);
  assert(Array.isArray(grains.ipv4) && grains.ipv4.includes("127.0.0.1"));
});

Deno.test("core grains are computed without a process or a name look-up, the second time within a few milliseconds", () => {
  coreGrains(OPTS);
  const times = Array.from({ length: 5 }, () => cpuMs(() => void coreGrains(OPTS, thisHost())));
  // Fifteen milliseconds on a quiet machine, also the first time.
  assert(Math.min(...times) < 50, `took ${Math.min(...times)} ms`);
});

Deno.test("in loadGrains(), custom functions override core grains, the static file overrides both, and the option overrides all", async () => {
  const files = {
    "/etc/salt/grains": "a: static\nb: static\nc: static\n",
    "/ext/grains/mine.js": "export const mine = () => ({ a: 'mine', b: 'mine', c: 'mine', d: 'mine', os: 'mine' });\n" +
      "export const bad = () => { throw new Error('no grains today'); };",
  };
  await withHost(files, async ({ root }) => {
    const opts = testOpts({ root_dir: root, extension_modules: `${root}/ext`, grains: map({ a: "option" }) });
    const warnings: string[] = [];
    const grains = await loadGrains(opts, { core: CORE_GRAINS, warn: (message) => warnings.push(message) });
    assertEquals(["a", "b", "d", "os", "id"].map((name) => grains.get(name)), [
      "option",
      "static",
      "mine",
      "mine",
      "web1",
    ]);
    assertEquals(grains.get("fqdns"), []);
    assertEquals(warnings.map((line) => line.includes("no grains today")), [true]);
  });
});

Deno.test("a static grains file that cannot be read is a warning", async () => {
  await withHost({ "/etc/salt/grains": "a: [1" }, async ({ root }) => {
    const warnings: string[] = [];
    const grains = await loadGrains(testOpts({ root_dir: root }), {
      core: CORE_GRAINS,
      warn: (message) => warnings.push(message),
    });
    assertEquals([grains.get("id"), warnings.length], ["web1", 1]);
  });
});

Deno.test("the version of the host's Python is read from the name of its program, after all links", async () => {
  const hosts: readonly (readonly [files: Record<string, string>, expected: Record<string, unknown>])[] = [
    [{ "/usr/bin/python3": "-> python3.11" }, { pythonversion: [3, 11] }],
    [
      { "/usr/bin/python3": "-> /etc/alternatives/python3", "/etc/alternatives/python3": "-> /usr/bin/python3.6" },
      { pythonversion: [3, 6] },
    ],
    [{ "/usr/local/bin/python3": "-> ../python/bin/python3.13" }, { pythonversion: [3, 13] }],
    [{ "/usr/bin/python3": "a program" }, {}],
    [{ "/usr/bin/python3": "-> python3" }, {}],
    [{}, {}],
  ];
  for (const [files, expected] of hosts) await withHost(files, (host) => assertEquals(pythonGrains(host), expected));
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
