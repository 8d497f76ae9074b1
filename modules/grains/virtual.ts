/**
 * Grains `virtual` and `virtual_subtype`: the virtualization of the host.
 *
 * Salt asks systemd-detect-virt, virt-what, dmidecode or lspci; here the same facts are read where those programs read
 * them. Source: Salt 3008.3 `salt/grains/core.py` _virtual; systemd-detect-virt(1).
 * @module
 */

import type { HostFiles } from "#lib/programs/files.ts";
import type { Grains } from "./os.ts";

/** What a host runs on, in Salt's words. */
interface Virtual {
  virtual: string;
  virtual_subtype?: string;
}

/** The grains of what the host runs on: `physical`, `kvm`, `VMware`, `container` … */
export function virtualGrains(files: HostFiles): Grains {
  const kind: Virtual = container(files) ?? hypervisor(files) ?? { virtual: "physical" };
  const details = { ...kind, ...openvz(files), ...xen(files), ...cgroup(files) };
  if (details.virtual === "physical" && details.virtual_subtype !== undefined) details.virtual = "virtual";
  return { ...details, ...hypervisorGrains(files, details.virtual) };
}

/** Words by which container managers name themselves, in Salt's words. */
const CONTAINERS: Readonly<Record<string, Virtual>> = {
  "docker": { virtual: "container", virtual_subtype: "Docker" },
  "podman": { virtual: "container", virtual_subtype: "Podman" },
  "lxc": { virtual: "container", virtual_subtype: "LXC" },
  "lxc-libvirt": { virtual: "container", virtual_subtype: "LXC" },
  "systemd-nspawn": { virtual: "systemd-nspawn" },
};

function container(files: HostFiles): Virtual | undefined {
  const engine = /(?:^|\0)container=([^\0]+)/.exec(files.text("/proc/1/environ") ?? "")?.[1] ??
    files.line("/run/systemd/container");
  if (engine !== undefined && Object.hasOwn(CONTAINERS, engine)) return CONTAINERS[engine];
  if (files.exists("/run/.containerenv")) return CONTAINERS.podman;
  return files.exists("/.dockerenv") ? CONTAINERS.docker : undefined;
}

/** What firmware tables call their makers, the surest first. */
const MAKERS: readonly (readonly [string, Virtual])[] = [
  ["VMware", { virtual: "VMware" }],
  ["VMW", { virtual: "VMware" }],
  ["VirtualBox", { virtual: "VirtualBox" }],
  ["innotek GmbH", { virtual: "VirtualBox" }],
  ["Parallels", { virtual: "Parallels" }],
  ["BHYVE", { virtual: "bhyve" }],
  ["RHEV Hypervisor", { virtual: "kvm", virtual_subtype: "rhev" }],
  ["oVirt", { virtual: "kvm", virtual_subtype: "ovirt" }],
  ["Nutanix", { virtual: "kvm", virtual_subtype: "Nutanix AHV" }],
  ["Google", { virtual: "gce" }],
  ["Bochs", { virtual: "bochs" }],
  ["OpenStack", { virtual: "kvm" }],
  ["KubeVirt", { virtual: "kvm" }],
  ["KVM", { virtual: "kvm" }],
  ["QEMU", { virtual: "kvm" }],
  ["Xen", { virtual: "xen" }],
];

function hypervisor(files: HostFiles): Virtual | undefined {
  const read = (name: string) => files.line(`/sys/class/dmi/id/${name}`) ?? "";
  const product = read("product_name"), maker = read("sys_vendor");
  const isHypervisor = /^flags\s*:.*\bhypervisor\b/m.test(files.text("/proc/cpuinfo") ?? "");
  if (maker === "Amazon EC2") {
    // Amazon's bare metal has the same maker, but no hypervisor.
    return { virtual: isHypervisor ? "Nitro" : "physical", virtual_subtype: `Amazon EC2 (${product})` };
  }
  if (maker === "Microsoft Corporation" && product === "Virtual Machine") return { virtual: "VirtualPC" };
  const tables = [product, maker, read("board_vendor"), read("bios_vendor"), read("product_version")].join("\n");
  const hypervisorName = MAKERS.find(([word]) => tables.includes(word))?.[1];
  if (hypervisorName !== undefined) return hypervisorName;
  const type = files.line("/sys/hypervisor/type");
  if (type === "xen") return { virtual: "xen" };
  if (files.text("/proc/cpuinfo")?.includes("User Mode Linux")) return { virtual: "uml" };
  // A hypervisor that keeps its name to itself: KVM without tables, as Firecracker's.
  return isHypervisor ? { virtual: "kvm" } : undefined;
}

function openvz(files: HostFiles): Partial<Virtual> {
  const id = /^envID:\s+(\d+)$/m.exec(files.text("/proc/self/status") ?? "")?.[1];
  if (id !== undefined) return { virtual: id === "0" ? "openvzhn" : "openvzve" };
  if (files.exists("/proc/vz/version")) return { virtual: "openvzhn" };
  return files.exists("/proc/vz/veinfo") ? { virtual: "openvzve" } : {};
}

function xen(files: HostFiles): Partial<Virtual> {
  if (!["/proc/sys/xen", "/sys/bus/xen", "/proc/xen"].some((path) => files.exists(path))) return {};
  const is = (virtual_subtype: string) => ({ virtual: "xen", virtual_subtype });
  if (files.exists("/proc/xen/xsd_kva")) return is("Xen Dom0");
  if (files.line("/sys/class/dmi/id/product_name") === "HVM domU") return is("Xen HVM DomU");
  const capabilities = files.text("/proc/xen/capabilities");
  if (capabilities !== undefined) return is(capabilities.includes("control_d") ? "Xen Dom0" : "Xen PV DomU");
  return files.exists("/sys/bus/xen/drivers/xenconsole") ? is("Xen PV DomU") : {};
}

/** What the control groups of the first process show, where nothing else did. */
function cgroup(files: HostFiles): Partial<Virtual> {
  const groups = files.text("/proc/1/cgroup") ?? "";
  if (groups.includes(":/lxc/")) return CONTAINERS.lxc;
  if (groups.includes(":/kubepods/")) return { virtual_subtype: "kubernetes" };
  if (groups.includes(":/libpod_parent/")) return { virtual_subtype: "libpod" };
  return /:\/(system\.slice\/docker|docker\/|docker-ce\/)/.test(groups) ? CONTAINERS.docker : {};
}

/** The features of Xen by their bits. Source: Xen's xen/include/public/features.h. */
const XEN_FEATURES: Readonly<Record<number, string>> = {
  0: "writable_page_tables",
  1: "writable_descriptor_tables",
  2: "auto_translated_physmap",
  3: "supervisor_mode_kernel",
  4: "pae_pgdir_above_4gb",
  5: "mmu_pt_update_preserve_ad",
  7: "gnttab_map_avail_bits",
  8: "hvm_callback_vector",
  9: "hvm_safe_pvclock",
  10: "hvm_pirqs",
  11: "dom0",
  12: "grant_map_identity",
  13: "memory_op_vnode_supported",
  14: "ARM_SMCCC_supported",
};

/** The version and the features of Xen. Source: Salt 3008.3 `salt/grains/core.py` _virtual_hv. */
function hypervisorGrains(files: HostFiles, virtual: string): Grains {
  if (!virtual.includes("xen")) return {};
  const grains: Grains = {};
  const parts = ["major", "minor", "extra"].map((part) => files.line(`/sys/hypervisor/version/${part}`));
  if (!parts.includes(undefined)) {
    grains.virtual_hv_version = `${parts[0]}.${parts[1]}${parts[2]}`;
    grains.virtual_hv_version_info = parts;
  }
  const features = files.line("/sys/hypervisor/properties/features");
  if (features !== undefined && /^[0-9a-f]+$/i.test(features)) {
    const bits = BigInt(`0x${features}`);
    grains.virtual_hv_features = features;
    grains.virtual_hv_features_list = Object.entries(XEN_FEATURES)
      .filter(([bit]) => (bits >> BigInt(bit) & 1n) === 1n).map(([, name]) => name);
  }
  return grains;
}
