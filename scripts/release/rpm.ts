/**
 * Makes packages for Fedora, Red Hat and their relatives with `rpmbuild`. The same files make the same bytes: the spec
 * file takes time and host of the build from here.
 * Source: rpm's documentation, "Spec file format" and "Reproducibility".
 * @module
 */

import type { PackageBuild } from "./deb.ts";
import { rpmScripts } from "./package_scripts.ts";
import { writeTree } from "./package_tree.ts";
import { run } from "./platforms.ts";
import { DESCRIPTION, type PackageFile, type SystemPackage } from "./system_packages.ts";

/**
 * Makes the file of a package.
 * @returns Its name.
 * @throws {ReleaseError} If rpmbuild is missing or fails.
 */
export async function makeRpm(system: SystemPackage, build: PackageBuild): Promise<string> {
  const { version, epoch, work, out } = build;
  const architecture = system.hasPrograms ? build.architecture : "noarch";
  const tree = `${work}/tree`;
  Deno.mkdirSync(tree);
  Deno.chmodSync(tree, 0o755);
  writeTree(system, tree, epoch);
  const spec = `${work}/${system.name}.spec`;
  Deno.writeTextFileSync(spec, specText(system, { version, tree }));
  const define = (name: string, value: string) => ["--define", `${name} ${value}`];
  const args = [
    ...["-bb", "--quiet", "--target", `${architecture}-linux`],
    ...define("_topdir", `${work}/rpmbuild`),
    ...define("_rpmdir", `${work}/rpms`),
    ...define("_rpmfilename", "%%{NAME}-%%{VERSION}-%%{RELEASE}.%%{ARCH}.rpm"),
    // What would differ between two builds.
    ...define("_buildhost", "localhost"),
    ...define("use_source_date_epoch_as_buildtime", "1"),
    ...define("clamp_mtime_to_source_date_epoch", "1"),
    // The executables are compressed already.
    ...define("_binary_payload", "w1.gzdio"),
    // The executables are no files to strip or to read dependencies from.
    ...define("__os_install_post", "%{nil}"),
    ...define("debug_package", "%{nil}"),
    ...define("_build_id_links", "none"),
  ];
  await run("rpmbuild", [...args, spec], work, { SOURCE_DATE_EPOCH: String(epoch), HOME: work });
  const [name] = [...Deno.readDirSync(`${work}/rpms`)].map(({ name }) => name);
  await Deno.copyFile(`${work}/rpms/${name}`, `${out}/${name}`);
  return name;
}

/** The spec file of a package whose files are in the directory `tree`. */
function specText(
  { name, summary, hasPrograms, needs, inPlaceOf, files, directories, steps }: SystemPackage,
  { version, tree }: { readonly version: string; readonly tree: string },
): string {
  const requires = [
    ...needs.map((other) => `${other} = ${version}-1`),
    ...hasPrograms ? ["glibc >= 2.28", "libstdc++", "libgcc", "gzip", "tar", "coreutils", "shadow-utils"] : [],
  ];
  return [
    `Name: ${name}`,
    `Version: ${version}`,
    "Release: 1",
    `Summary: ${summary}`,
    "License: Apache-2.0",
    "AutoReqProv: no",
    ...requires.map((other) => `Requires: ${other}`),
    ...inPlaceOf.map((other) => `Conflicts: ${other}`),
    "",
    "%description",
    DESCRIPTION,
    "",
    "%install",
    "mkdir -p %{buildroot}",
    `cp -a ${tree}/. %{buildroot}/`,
    "",
    ...Object.entries(rpmScripts(steps)).flatMap(([section, text]) => [`%${section}`, text.replaceAll("%", "%%")]),
    "%files",
    ...directories.map((path) => `%dir %attr(755, root, root) ${path}`),
    ...files.map(fileLine),
    "",
  ].join("\n");
}

function fileLine(file: PackageFile): string {
  const { path, mode = 0o644, isConfiguration } = file;
  if ("link" in file) return path;
  return `${isConfiguration ? "%config(noreplace) " : ""}%attr(${mode.toString(8)}, root, root) ${path}`;
}
