/**
 * The list of everything that the executables of one platform contain (SBOM), as SPDX 2.3 in JSON: npm packages with
 * the checksums of deno.lock, and the crates that Deno's executable names. Source: spdx.github.io/spdx-spec/v2.3.
 * @module
 */

import { SHIPPED } from "#lib/programs/licenses.ts";
import { LIBZMQ_VERSION, LICENSE } from "#lib/version.ts";
import { DENO_VERSION } from "./platforms.ts";

/** What a list is made of. */
export interface SbomParts {
  readonly version: string;
  /** The platform's name: `linux-x64`. */
  readonly platform: string;
  /** The time that the list names, in seconds. */
  readonly epoch: number;
  /** The text of deno.lock. */
  readonly lock: string;
  /** The bytes of the Deno that is packed. */
  readonly deno: Uint8Array;
  /** The checksums of the executables, by name. SPDX requires SHA-1 of a file. */
  readonly executables: ReadonlyMap<string, { readonly SHA1: string; readonly SHA256: string }>;
}

/** A package in SPDX's words. */
interface SpdxPackage {
  readonly SPDXID: string;
  readonly name: string;
  readonly [field: string]: unknown;
}

const NOTHING_SAID = "NOASSERTION";

/** The list, as text. */
export function sbomText(parts: SbomParts): string {
  const { version, platform, epoch } = parts;
  const root = packageOf({ name: "salt-deno", version, license: LICENSE });
  const components = SHIPPED.map(({ name, license, isPackage }) => {
    const locked = isPackage ? lockedPackage(parts.lock, name) : undefined;
    return packageOf({
      name,
      license,
      version: locked?.version ?? VERSIONS[name],
      url: locked && `pkg:npm/${name.replace("@", "%40")}@${locked.version}`,
      sha512: locked?.sha512,
    });
  });
  const crates = crateNames(parts.deno).map(({ name, version }) =>
    packageOf({ name, version, prefix: "crate", url: `pkg:cargo/${name}@${version}` })
  );
  const files = [...parts.executables].map(([name, { SHA1, SHA256 }]) => ({
    SPDXID: `SPDXRef-File-${idOf(name)}`,
    fileName: `./${name}`,
    checksums: [{ algorithm: "SHA1", checksumValue: SHA1 }, { algorithm: "SHA256", checksumValue: SHA256 }],
    licenseConcluded: NOTHING_SAID,
    copyrightText: NOTHING_SAID,
  }));
  const deno = components.find(({ name }) => name === "Deno");
  const document = {
    spdxVersion: "SPDX-2.3",
    dataLicense: "CC0-1.0",
    SPDXID: "SPDXRef-DOCUMENT",
    name: `salt-deno-${version}-${platform}`,
    // A name that is unique for the files, and no address of a page.
    documentNamespace: `urn:salt-deno:${version}:${platform}:${
      [...parts.executables.values()].map(({ SHA256 }) => SHA256).join(":")
    }`,
    creationInfo: {
      created: new Date(epoch * 1000).toISOString().replace(".000Z", "Z"),
      creators: [`Tool: salt-deno-release-${version}`],
    },
    packages: [root, ...components, ...crates],
    files,
    relationships: [
      relationship("SPDXRef-DOCUMENT", "DESCRIBES", root.SPDXID),
      ...files.map((file) => relationship(root.SPDXID, "GENERATES", file.SPDXID)),
      ...components.map((component) => relationship(root.SPDXID, "CONTAINS", component.SPDXID)),
      ...crates.map((crate) => relationship(deno?.SPDXID ?? root.SPDXID, "CONTAINS", crate.SPDXID)),
    ],
  };
  return JSON.stringify(document, null, 1) + "\n";
}

/** The versions of what is no npm package, as far as they are known. */
const VERSIONS: Readonly<Record<string, string | undefined>> = {
  Deno: DENO_VERSION,
  V8: Deno.version.v8,
  libzmq: LIBZMQ_VERSION,
};

function relationship(from: string, type: string, to: string): Record<string, string> {
  return { spdxElementId: from, relationshipType: type, relatedSpdxElement: to };
}

function packageOf(
  { name, version, license = NOTHING_SAID, url, sha512, prefix = "package" }: {
    readonly name: string;
    readonly version?: string;
    readonly license?: string;
    readonly url?: string;
    readonly sha512?: string;
    readonly prefix?: string;
  },
): SpdxPackage {
  return {
    SPDXID: `SPDXRef-${prefix}-${idOf(`${name}-${version ?? ""}`)}`,
    name,
    ...version !== undefined && { versionInfo: version },
    downloadLocation: NOTHING_SAID,
    filesAnalyzed: false,
    licenseConcluded: license,
    licenseDeclared: license,
    copyrightText: NOTHING_SAID,
    ...sha512 !== undefined && { checksums: [{ algorithm: "SHA512", checksumValue: sha512 }] },
    ...url !== undefined &&
      { externalRefs: [{ referenceCategory: "PACKAGE-MANAGER", referenceType: "purl", referenceLocator: url }] },
  };
}

/** A text as a part of an SPDX identifier: letters, digits, `.` and `-`. */
function idOf(text: string): string {
  return text.replaceAll(/[^A-Za-z0-9.-]+/g, "-").replaceAll(/^-|-$/g, "");
}

/** The version of an npm package in deno.lock, and SHA-512 of its archive in hexadecimal. */
function lockedPackage(lock: string, name: string): { readonly version: string; readonly sha512?: string } {
  const { npm }: { readonly npm: Readonly<Record<string, { readonly integrity?: string }>> } = JSON.parse(lock);
  // `mysql2@3.24.6_@types+node`: the names of peers follow the version.
  const entry = Object.entries(npm).find(([id]) => id.startsWith(`${name}@`));
  if (entry === undefined) throw new TypeError(`deno.lock has no package ${name}`);
  const [id, { integrity }] = entry;
  const digest = integrity?.startsWith("sha512-") ? Uint8Array.fromBase64(integrity.slice(7)).toHex() : undefined;
  return { version: id.slice(name.length + 1).replace(/_.*$/, ""), sha512: digest };
}

/**
 * The crates that an executable made by Cargo names, sorted: the paths of their sources are in its messages. Crates
 * without a message are not found.
 */
export function crateNames(executable: Uint8Array): { readonly name: string; readonly version: string }[] {
  const text = new TextDecoder("latin1").decode(executable);
  const paths = text.matchAll(
    /\/registry\/src\/[^/\0]{1,80}\/([A-Za-z0-9_-]{1,64}?)-(\d+\.\d+\.\d+[A-Za-z0-9.+-]*)\//g,
  );
  const crates = new Map([...paths].map(([, name, version]) => [`${name}-${version}`, { name, version }]));
  return [...crates].sort(([a], [b]) => a < b ? -1 : 1).map(([, crate]) => crate);
}
