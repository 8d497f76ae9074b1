/**
 * Makes packages for Debian and its relatives with `dpkg-deb`. The same files make the same bytes: dpkg-deb sorts them,
 * and takes no time that is later than SOURCE_DATE_EPOCH.
 * Source: Debian Policy Manual, chapters 5 to 7; deb(5), deb-control(5), deb-conffiles(5).
 * @module
 */

import { debScripts } from "./package_scripts.ts";
import { setTimes, writeTree } from "./package_tree.ts";
import { run } from "./platforms.ts";
import { DESCRIPTION, type SystemPackage } from "./system_packages.ts";

/** What a package file is made for. */
export interface PackageBuild {
  readonly version: string;
  /** The architecture, in the words of the program that makes the package. */
  readonly architecture: string;
  /** The time of all files, in seconds. */
  readonly epoch: number;
  /** An empty directory to work in. */
  readonly work: string;
  /** The directory of the package files. */
  readonly out: string;
}

/** Libraries of the system that Deno and libzmq are linked with, in the versions that they ask for. */
const LIBRARIES = "libc6 (>= 2.28), libgcc-s1 | libgcc1, libstdc++6 (>= 6)";

/**
 * Makes the file of a package.
 * @returns Its name.
 * @throws {ReleaseError} If dpkg-deb is missing or fails.
 */
export async function makeDeb(common: SystemPackage, build: PackageBuild): Promise<string> {
  const { version, epoch, work, out } = build;
  const system = { ...common, files: common.files.map((file) => ({ ...file, path: debPath(file.path) })) };
  const architecture = system.hasPrograms ? build.architecture : "all";
  const bytes = writeTree(system, work, epoch);
  const control = `${work}/DEBIAN`;
  const write = (name: string, text: string, mode = 0o644) => {
    Deno.writeTextFileSync(`${control}/${name}`, text);
    Deno.chmodSync(`${control}/${name}`, mode);
  };
  Deno.mkdirSync(control);
  Deno.chmodSync(control, 0o755);
  write("control", controlText(system, { version, architecture, bytes }));
  const configuration = system.files.filter(({ isConfiguration }) => isConfiguration).map(({ path }) => `${path}\n`);
  if (configuration.length > 0) write("conffiles", configuration.join(""));
  for (const [name, text] of Object.entries(debScripts(system.name, system.steps))) write(name, text, 0o755);
  setTimes(work, epoch);
  const name = `${system.name}_${version}_${architecture}.deb`;
  // The executables are compressed already.
  const args = ["--root-owner-group", "-Zgzip", "-z1", "--build", work, `${out}/${name}`];
  await run("dpkg-deb", args, work, { SOURCE_DATE_EPOCH: String(epoch) });
  return name;
}

/** Debian's zsh reads completions of packages from a directory of its own. */
function debPath(path: string): string {
  return path.replace(/^\/usr\/share\/zsh\/site-functions\//, "/usr/share/zsh/vendor-completions/");
}

/** The file `control` of a package. */
function controlText(
  { name, summary, hasPrograms, needs, inPlaceOf }: SystemPackage,
  { version, architecture, bytes }: { readonly version: string; readonly architecture: string; readonly bytes: number },
): string {
  const depends = [...needs.map((other) => `${other} (= ${version})`), ...hasPrograms ? [LIBRARIES, "passwd"] : []];
  const others = inPlaceOf.join(", ");
  return [
    `Package: ${name}`,
    `Version: ${version}`,
    `Architecture: ${architecture}`,
    "Maintainer: the authors of Salt on Deno",
    `Installed-Size: ${Math.ceil(bytes / 1024)}`,
    ...depends.length > 0 ? [`Depends: ${depends.join(", ")}`] : [],
    ...inPlaceOf.length > 0 ? [`Conflicts: ${others}`, `Replaces: ${others}`] : [],
    "Section: admin",
    "Priority: optional",
    `Description: ${summary}`,
    ` ${DESCRIPTION}`,
    "",
  ].join("\n");
}
