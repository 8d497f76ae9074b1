/**
 * Architectures in the names of RPM packages: a package of another architecture than the host's has it in its name,
 * `zlib.i686`. Source: Salt 3008.3, `salt/utils/pkg/rpm.py`.
 * @module
 */

const X86_64 = ["x86_64", "x86_64_v2"];
const X86_32 = ["i386", "i486", "i586", "i686"];
const ARM_32 = ["armv5tel", "armv5tejl", "armv6l", "armv6hl", "armv7l", "armv7hl", "armv7hnl"];

/** All architectures that a name may end in, except `noarch`. */
export const ARCHITECTURES: readonly string[] = [
  ...X86_64,
  ...["athlon", "amd64", "ia32e", "ia64", "geode"],
  ...X86_32,
  ...["ppc", "ppc64", "ppc64le", "ppc64iseries", "ppc64pseries"],
  ...["s390", "s390x"],
  ...["alpha", "alphaev4", "alphaev45", "alphaev5", "alphaev56", "alphapca56", "alphaev6", "alphaev67", "alphaev68"],
  "alphaev7",
  ...ARM_32,
  "aarch64",
  ...["sh3", "sh4", "sh4a"],
];

/** Whether both are in the same 32-bit family: a host installs the packages of all its members. */
export function areBoth32Bits(one: string, other: string): boolean {
  return [X86_32, ARM_32].some((family) => family.includes(one) && family.includes(other));
}

/** The name of a package of an architecture on a host. */
export function resolvedName(name: string, architecture: string, own: string): string {
  const isOwn = areBoth32Bits(architecture, own) || architecture === own || architecture === "noarch" ||
    (X86_64.includes(architecture) && X86_64.includes(own));
  return isOwn ? name : `${name}.${architecture}`;
}

/** Name and architecture of `zlib.i686`; without an architecture at its end the whole text is the name. */
export function splitArchitecture(full: string): { readonly name: string; readonly arch: string | null } {
  const dot = full.lastIndexOf(".");
  const arch = full.slice(dot + 1);
  const isOne = dot >= 0 && (ARCHITECTURES.includes(arch) || arch === "noarch");
  return isOne ? { name: full.slice(0, dot), arch } : { name: full, arch: null };
}

/** A name without the architecture, if that is the host's own. */
export function withoutHostArchitecture(full: string, own: string): string {
  const { name, arch } = splitArchitecture(full);
  return arch !== null && resolvedName(name, arch, own) === name ? name : full;
}
