/**
 * Grains of the operating system: `kernel*`, `os*`, `lsb_distrib_*`, `init`, `systemd`, `selinux`. Reads files only;
 * starts no process. Source: Salt 3008.3 `salt/grains/core.py` os_data; freedesktop.org os-release(5).
 * @module
 */

import { escapeRegex } from "#lib/regex/escape.ts";
import { type HostFiles, parseAssignments } from "#lib/programs/files.ts";

/** Grains by name, as plain values. */
export type Grains = Record<string, unknown>;

/** All grains of the operating system. `os_family` is there for the other parts to look at. */
export function osGrains(files: HostFiles): Grains & { os: string; os_family: string } {
  const kernel = kernelGrains(files);
  const distribution = Deno.build.os === "darwin" ? macGrains(files) : distributionGrains(files);
  return {
    ...kernel,
    ...(Deno.build.os === "linux"
      ? { ...selinuxGrain(files), ...systemdGrain(files, kernel.cpuarch), init: initSystem(files) }
      : {}),
    ...distribution,
    osarch: osarch(distribution.os_family, kernel.cpuarch),
    ...releaseGrains(distribution),
  };
}

interface Distribution extends Grains {
  os: string;
  os_family: string;
  osfullname: string;
  osrelease: string;
  oscodename?: string;
}

function kernelGrains(files: HostFiles): Grains & { cpuarch: string } {
  return {
    kernel: files.line("/proc/sys/kernel/ostype") ?? (Deno.build.os === "darwin" ? "Darwin" : "Linux"),
    nodename: files.line("/proc/sys/kernel/hostname") ?? Deno.hostname(),
    kernelrelease: files.line("/proc/sys/kernel/osrelease") ?? Deno.osRelease(),
    kernelversion: files.line("/proc/sys/kernel/version") ?? "",
    // Kernels before 6.1 do not say; what this program was built for is right there, but for 32 bits on 64.
    cpuarch: files.line("/proc/sys/kernel/arch") ?? Deno.build.arch,
  };
}

/** Names that Salt has always shortened, by the first ten letters of the full name without blanks. */
const OS_NAMES: Readonly<Record<string, string>> = {
  redhatente: "RedHat",
  gentoobase: "Gentoo",
  archarm: "Arch ARM",
  arch: "Arch",
  debian: "Debian",
  raspbian: "Raspbian",
  fedoraremi: "Fedora",
  amazonami: "Amazon",
  alt: "ALT",
  enterprise: "OEL",
  oracleserv: "OEL",
  cloudserve: "CloudLinux",
  cloudlinux: "CloudLinux",
  virtuozzo: "Virtuozzo",
  almalinux: "AlmaLinux",
  almalinuxk: "AlmaLinux",
  scientific: "ScientificLinux",
  synology: "Synology",
  nilrt: "NILinuxRT",
  poky: "Poky",
  manjaro: "Manjaro",
  manjarolin: "Manjaro",
  univention: "Univention",
  antergos: "Antergos",
  sles: "SUSE",
  void: "Void",
  slesexpand: "RES",
  linuxmint: "Mint",
  neon: "KDE neon",
  pop: "Pop",
  rocky: "Rocky",
  alibabaclo: "Alinux",
  mendel: "Mendel",
  photon: "VMware Photon OS",
};

/** The families of distributions whose own name is not the family's. */
const FAMILIES: Readonly<Record<string, readonly string[]>> = {
  Debian: [
    "Ubuntu",
    "Mint",
    "Trisquel",
    "GCEL",
    "Linaro",
    "elementary OS",
    "elementary",
    "Univention",
    "Raspbian",
    "Devuan",
    "antiX",
    "Kali",
    "Parrot OS",
    "neon",
    "Cumulus",
    "Deepin",
    "KDE neon",
    "IDMS",
    "TurnKey",
    "Pop",
    "AstraLinuxCE",
    "AstraLinuxSE",
    "Mendel",
    "OSMC",
  ],
  RedHat: [
    "Fedora",
    "CentOS",
    "CentOS Stream",
    "Scientific",
    "ScientificLinux",
    "Amazon",
    "CloudLinux",
    "Virtuozzo",
    "AlmaLinux",
    "AlmaLinux Kitten",
    "OEL",
    "XCP",
    "XCP-ng",
    "XenServer",
    "RES",
    "Sangoma",
    "VMware Photon OS",
    "AlterOS",
    "RED OS",
    "ALT",
    "Rocky",
    "Alinux",
    "openEuler",
  ],
  Suse: ["SLES", "SLED", "SLES_SAP", "SUSE", "openSUSE", "openSUSE Leap", "openSUSE Tumbleweed"],
  Arch: ["Arch ARM", "Manjaro", "Manjaro ARM", "Antergos", "EndeavourOS"],
  Gentoo: ["Funtoo"],
};

function distributionGrains(files: HostFiles): Distribution {
  const release = parseAssignments(files.text("/etc/os-release") ?? files.text("/usr/lib/os-release") ?? "");
  const name = (release.get("NAME") ?? "Linux").trim();
  const lsb = lsbGrains(files, release);
  const suse = /^cpe:[^o]*o:(open)?suse:/i.test(release.get("CPE_NAME") ?? "");
  const os = suse ? "SUSE" : shortName(name, release.get("ID"));
  const bracketed = /\(([^)]+)\)/.exec(release.get("PRETTY_NAME") ?? release.get("VERSION") ?? "")?.[1] ?? "";
  // These put the code name into brackets, within the pretty name that stands in for it.
  if (/Rocky|AlmaLinux|AstraLinuxSE/.test(os) && lsb.lsb_distrib_codename?.includes("(")) {
    lsb.lsb_distrib_codename = os === "AstraLinuxSE" ? bracketed.trim().split(/\s+/)[0].toLowerCase() : bracketed;
  }
  const codename = lsb.lsb_distrib_codename?.trim() ?? "";
  const point = pointRelease(files, release);
  if (point !== undefined) delete lsb.lsb_distrib_release;
  const leap = suse && name === "openSUSE Leap";
  const tumbleweed = suse && release.get("VERSION") === "Tumbleweed";
  return {
    ...lsb,
    os,
    os_family: Object.entries(FAMILIES).find(([, members]) => members.includes(os))?.[0] ?? os,
    oscodename: codename.includes("Red Hat") ? bracketed : codename,
    osfullname: leap ? "Leap" : tumbleweed ? "Tumbleweed" : name,
    osrelease: (point ?? lsb.lsb_distrib_release ?? "").trim(),
  };
}

interface Lsb extends Grains {
  lsb_distrib_id?: string;
  lsb_distrib_release?: string;
  lsb_distrib_codename?: string;
}

/** `lsb_distrib_*`: from lsb-release, else what os-release says instead. */
function lsbGrains(files: HostFiles, release: Map<string, string>): Lsb {
  const lsb: Record<string, string> = {};
  for (const [key, value] of parseAssignments(files.text("/etc/lsb-release") ?? "")) {
    if (/^DISTRIB_(ID|RELEASE|CODENAME|DESCRIPTION)$/.test(key)) lsb[`lsb_${key.toLowerCase()}`] = value;
  }
  if (lsb.lsb_distrib_id !== undefined) return lsb;
  const codename = release.get("VERSION_CODENAME") ?? release.get("PRETTY_NAME");
  const version = release.get("VERSION_ID");
  return {
    ...lsb,
    ...(release.has("NAME") ? { lsb_distrib_id: release.get("NAME")?.trim() } : {}),
    ...(version === undefined ? {} : { lsb_distrib_release: version }),
    ...(codename === undefined ? {} : { lsb_distrib_codename: codename }),
  };
}

/** CentOS 7 and 8 keep their minor number out of os-release. */
function pointRelease(files: HostFiles, release: Map<string, string>): string | undefined {
  if (!/CentOS Linux [78]/.test(release.get("PRETTY_NAME") ?? "")) return undefined;
  return /\d+(\.\d+)+/.exec(files.text("/etc/centos-release") ?? "")?.[0];
}

function shortName(name: string, id: string | undefined): string {
  if (id === "astra") {
    if (name === "Astra Linux (Orel)") return "AstraLinuxCE";
    if (name === "Astra Linux (Smolensk)") return "AstraLinuxSE";
  }
  if (id === "pop" && name === "Pop!_OS") return "Pop";
  const plain = name.replace(/\W(?:gnu\/)?linux/gi, "").trim();
  const key = plain.replaceAll(" ", "").toLowerCase().slice(0, 10);
  return Object.hasOwn(OS_NAMES, key) ? OS_NAMES[key] : plain;
}

function macGrains(files: HostFiles): Distribution {
  const plist = files.text("/System/Library/CoreServices/SystemVersion.plist") ?? "";
  const value = (key: string) =>
    new RegExp(`<key>${escapeRegex(key)}</key>\\s*<string>([^<]*)</string>`).exec(plist)?.[1] ?? "";
  const osrelease = value("ProductVersion");
  return {
    os: "MacOS",
    os_family: "MacOS",
    osfullname: `${value("ProductName")} ${osrelease}`.trim(),
    osrelease,
    osbuild: value("ProductBuildVersion"),
    init: "launchd",
  };
}

/** Debian's names of architectures, where they differ from the kernel's. */
const DEBIAN_ARCHITECTURES: Readonly<Record<string, string>> = {
  x86_64: "amd64",
  aarch64: "arm64",
  armv7l: "armhf",
  armv6l: "armhf",
  i686: "i386",
  ppc64le: "ppc64el",
};

function osarch(family: string, cpuarch: string): string {
  return family === "Debian" ? DEBIAN_ARCHITECTURES[cpuarch] ?? cpuarch : cpuarch;
}

/** Distributions whose finger begins with the short name rather than the full one. */
const SHORT_FINGERS = ["Debian", "Raspbian", "AlmaLinux"];
/** Distributions whose finger ends with the whole release rather than its first number. */
const LONG_FINGERS = ["Ubuntu", "Pop", "NixOS"];

function releaseGrains({ os, osfullname, osrelease }: Distribution): Grains {
  if (osrelease === "") return {};
  const info = osrelease.split(".").map((part) => /^\d+$/.test(part) ? Number(part) : part);
  return {
    osrelease_info: info,
    ...(typeof info[0] === "number" ? { osmajorrelease: info[0] } : {}),
    osfinger: `${SHORT_FINGERS.includes(os) ? os : osfullname}-${LONG_FINGERS.includes(os) ? osrelease : info[0]}`,
  };
}

function selinuxGrain(files: HostFiles): Grains {
  if (files.program("selinuxenabled") === undefined) return {};
  const enforce = files.line("/sys/fs/selinux/enforce");
  const enabled = enforce !== undefined;
  if (files.program("getenforce") === undefined) return { selinux: { enabled } };
  return { selinux: { enabled, enforced: !enabled ? "Disabled" : enforce === "1" ? "Enforcing" : "Permissive" } };
}

/** What systemd was built with, out of the text of its library: `+PAM -AUDIT … default-hierarchy=unified`. */
function systemdFeatures(files: HostFiles, library: string): string | undefined {
  return files.search(library, "PAM ", (piece) => /^[-+]PAM (?:[-+][A-Z0-9_]+ )+[\x20-\x7e]*/.exec(piece)?.[0]);
}

/** systemd's version is in the name of its own library, which spares a process. */
function systemdGrain(files: HostFiles, cpuarch: string): Grains {
  if (files.program("systemctl") === undefined || files.program("localectl") === undefined) return {};
  const multiarch = `/usr/lib/${cpuarch}-linux-gnu/systemd`;
  for (const directory of ["/usr/lib/systemd", multiarch, "/usr/lib64/systemd"]) {
    for (const name of files.names(directory)) {
      const version = /^libsystemd-shared-(\d+)/.exec(name)?.[1];
      if (version === undefined) continue;
      const features = systemdFeatures(files, `${directory}/${name}`);
      return { systemd: features === undefined ? { version } : { version, features } };
    }
  }
  return { systemd: { version: "UNDEFINED" } };
}

const INIT_PROGRAMS = ["supervisord", "dumb-init", "tini"];

function initSystem(files: HostFiles): string {
  if (files.exists("/run/systemd/system")) return "systemd";
  const words = (files.text("/proc/1/cmdline") ?? "").split("\0").flatMap((word) => word.split(/\s+/)).filter(Boolean);
  if (words.length === 0) return "unknown";
  const program = files.program(words[0]);
  if (program?.endsWith("bin/init")) {
    const text = files.text(program)?.toLowerCase() ?? "";
    return ["upstart", "sysvinit", "systemd"].find((system) => text.includes(system)) ?? "unknown";
  }
  const init = INIT_PROGRAMS.find((name) => words.includes(files.program(name) ?? ""));
  if (init !== undefined) return init;
  return words.join(" ") === "runit" || words.includes("/sbin/my_init") ? "runit" : "unknown";
}
