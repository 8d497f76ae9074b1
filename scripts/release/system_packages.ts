/**
 * The packages for dpkg and rpm: what each contains, and how it stands to the packages of Python Salt, which have the
 * same programs, configuration and units.
 * @module
 */

import { COMMANDS_STEPS, COMMON_STEPS, MASTER_STEPS, MINION_STEPS, type PackageSteps } from "./package_scripts.ts";
import type { Shared } from "#scripts/build/share.ts";

/** A file of a package, by its path on the host. */
export type PackageFile =
  & { readonly path: string; readonly mode?: number; readonly isConfiguration?: boolean }
  & ({ readonly text: string } | { readonly file: string } | { readonly link: string });

/** One package as dpkg and rpm know it, before a file of either is made of it. */
export interface SystemPackage {
  readonly name: string;
  readonly summary: string;
  /** Whether it has programs of one platform. */
  readonly hasPrograms: boolean;
  /** Other packages of this project that it needs, of the same version. */
  readonly needs: readonly string[];
  /** Packages of Python Salt in whose place it is. */
  readonly inPlaceOf: readonly string[];
  readonly files: readonly PackageFile[];
  /** Directories besides those of the files. */
  readonly directories: readonly string[];
  readonly steps: PackageSteps;
}

/** What the packages are made of. */
export interface PackageParts {
  /** The directory of the executables. */
  readonly programs: string;
  readonly shared: readonly Shared[];
  /** The texts of NOTICE and LICENSE. */
  readonly notice: string;
  readonly license: string;
}

/** What each package is for, below its summary. */
export const DESCRIPTION = "Salt (SaltStack) in TypeScript on Deno, which speaks with Python Salt 3006 to 3008.";

const FILES = new URL("files/", import.meta.url);
const own = (name: string) => Deno.readTextFileSync(new URL(name, FILES));

/** All packages. */
export function systemPackages(parts: PackageParts): SystemPackage[] {
  const { programs, notice, license } = parts;
  const program = (name: string, links: readonly string[] = []): PackageFile[] => [
    { path: `/usr/bin/${name}`, file: `${programs}/${name}`, mode: 0o755 },
    ...links.map((link) => ({ path: `/usr/bin/${link}`, link: name })),
    ...[name, ...links].flatMap((prog) => manualPages(parts.shared, prog)),
  ];
  const unit = (name: string): PackageFile => ({ path: `/usr/lib/systemd/system/${name}`, text: own(name) });
  const packages: SystemPackage[] = [
    {
      name: "salt-deno-common",
      summary: "Salt on Deno: documentation, completion and what its packages share",
      hasPrograms: false,
      needs: [],
      inPlaceOf: ["salt-common", "salt"],
      files: [
        ...documentation(parts.shared),
        { path: "/usr/share/doc/salt-deno/NOTICE", text: notice },
        { path: "/usr/share/doc/salt-deno/LICENSE", text: license },
        ...["restart-when-idle", "remove-old-releases"].map((name) => (
          { path: `/usr/lib/salt-deno/${name}`, text: own(name), mode: 0o755 }
        )),
      ],
      directories: ["/etc/salt"],
      steps: COMMON_STEPS,
    },
    {
      name: "salt-deno",
      summary: "Salt on Deno: the operator's commands salt, salt-key, salt-run, salt-cp, salt-ssh and salt-api",
      hasPrograms: true,
      needs: ["salt-deno-common"],
      inPlaceOf: ["salt-master", "salt-api"],
      files: [
        ...program("salt", ["salt-key", "salt-run", "salt-cp", "salt-ssh", "salt-api"]),
        unit("salt-api.service"),
      ],
      directories: [],
      steps: COMMANDS_STEPS,
    },
    {
      name: "salt-deno-master",
      summary: "Salt on Deno: the master",
      hasPrograms: true,
      needs: ["salt-deno", "salt-deno-common"],
      inPlaceOf: ["salt-master"],
      files: [
        ...program("salt-master", ["salt-syndic"]),
        unit("salt-master.service"),
        { path: "/etc/salt/master", text: own("master.conf"), isConfiguration: true },
      ],
      directories: ["/etc/salt/master.d", "/var/lib/salt"],
      steps: MASTER_STEPS,
    },
    {
      name: "salt-deno-minion",
      summary: "Salt on Deno: the minion and salt-call",
      hasPrograms: true,
      needs: ["salt-deno-common"],
      inPlaceOf: ["salt-minion"],
      files: [
        ...program("salt-minion", ["salt-call"]),
        unit("salt-minion.service"),
        { path: "/etc/salt/minion", text: own("minion.conf"), isConfiguration: true },
      ],
      directories: ["/etc/salt/minion.d"],
      steps: MINION_STEPS,
    },
  ];
  return packages.map((each) => ({
    ...each,
    files: [...each.files, { path: `/usr/share/doc/${each.name}/copyright`, text: notice }]
      .sort((a, b) => a.path < b.path ? -1 : 1),
  }));
}

function manualPages(shared: readonly Shared[], prog: string): PackageFile[] {
  return shared.filter(({ path }) => /^man\/man\d\//.test(path) && path.replace(/^.*\/|\.\d$/g, "") === prog)
    .map((page) => ({ ...page, path: `/usr/share/${page.path}` }));
}

function documentation(shared: readonly Shared[]): PackageFile[] {
  return shared.filter(({ path }) => !path.startsWith("man/")).map((file) => ({
    ...file,
    path: `/usr/share/${file.path}`,
  }));
}
