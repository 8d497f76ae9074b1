/**
 * Makes the artefacts of a release: executables, a list of what they contain (SBOM), and packages, for each platform;
 * files for all platforms, and checksums. The same sources make the same bytes.
 * @module
 */

import { copyPackages, packExecutables, ROOT } from "#scripts/build/executables.ts";
import { EXECUTABLES } from "#scripts/build/production.ts";
import { sharedFiles, writeShared } from "#scripts/build/share.ts";
import { type TarFile, tarStream } from "#scripts/build/tar.ts";
import { makeDeb } from "./deb.ts";
import { denoFor, type Platform, run, sumOf } from "./platforms.ts";
import { ReleaseError } from "./release_error.ts";
import { makeRpm } from "./rpm.ts";
import { sbomText } from "./sbom.ts";
import { type PackageParts, type SystemPackage, systemPackages } from "./system_packages.ts";

/** One release. */
export interface Release {
  readonly version: string;
  /** The time of everything in it, in seconds: that of its commit. */
  readonly epoch: number;
  readonly platforms: readonly Platform[];
  /** The directory with the scripts, and their files. */
  readonly stage: string;
  readonly scripts: readonly TarFile[];
  /** An empty directory for the artefacts. */
  readonly out: string;
}

/** The makers of package files, by the program that each needs. */
const MAKERS = { "dpkg-deb": makeDeb, "rpmbuild": makeRpm } as const;

/**
 * Makes all artefacts.
 * @returns What was left out, with the reason, one line each.
 * @throws {ReleaseError} If a step fails.
 */
export async function makeArtefacts(release: Release): Promise<string[]> {
  const { version, epoch, out } = release;
  const skipped: string[] = [];
  const makers = new Map<string, typeof makeDeb>();
  for (const [program, maker] of Object.entries(MAKERS)) {
    if (await isInstalled(program)) makers.set(program, maker);
    else skipped.push(`no packages by ${program}: it is not installed`);
  }
  const work = await Deno.makeTempDir({ prefix: "salt_release_" });
  try {
    const shared = await sharedFiles(ROOT);
    await writeArchive(
      `${work}/share`,
      `${out}/salt-deno-${version}-share.tar.gz`,
      () => writeShared(shared, `${work}/share`),
    );
    const noarch = new Set<string>();
    for (const platform of release.platforms) {
      const programs = await makePrograms(release, platform, work);
      if (platform.packages === undefined) continue;
      const [notice, license] = ["NOTICE", "LICENSE"].map((name) => Deno.readTextFileSync(`${ROOT}/${name}`));
      const parts: PackageParts = { programs, shared, notice, license };
      for (const [program, maker] of makers) {
        const architecture = program === "rpmbuild" ? platform.packages.rpm : platform.packages.deb;
        for (const system of systemPackages(parts)) {
          if (noarch.has(`${program} ${system.name}`)) continue;
          if (!system.hasPrograms) noarch.add(`${program} ${system.name}`);
          await makePackage(maker, system, { version, architecture, epoch, out });
        }
      }
    }
  } finally {
    await Deno.remove(work, { recursive: true });
  }
  await writeSums(out);
  return skipped;
}

/**
 * Makes the executables of a platform, and the list of what they contain.
 * @returns The directory with their plain names.
 */
async function makePrograms(release: Release, platform: Platform, work: string): Promise<string> {
  const { version, epoch, stage, scripts, out } = release;
  const programs = `${work}/${platform.name}`;
  Deno.mkdirSync(programs);
  const deno = await denoFor(platform, `${work}/deno`);
  const files = [...copyPackages(stage, platform.target), ...scripts];
  await packExecutables({ stage, files, target: platform.target, out: programs }, { deno, version });
  const sums = new Map<string, { readonly SHA1: string; readonly SHA256: string }>();
  for (const { name } of EXECUTABLES) {
    const artefact = `${name}-${version}-${platform.name}`;
    await Deno.copyFile(`${programs}/${name}`, `${out}/${artefact}`);
    const path = `${out}/${artefact}`;
    sums.set(artefact, { SHA1: await sumOf(path, "SHA-1"), SHA256: await sumOf(path) });
  }
  const lock = Deno.readTextFileSync(`${ROOT}/deno.lock`);
  const text = sbomText({
    version,
    platform: platform.name,
    epoch,
    lock,
    deno: await Deno.readFile(deno),
    executables: sums,
  });
  await Deno.writeTextFile(`${out}/salt-deno-${version}-${platform.name}.spdx.json`, text);
  return programs;
}

/** Makes one package in a directory of its own, which packages of the same size would fill together. */
async function makePackage(
  maker: typeof makeDeb,
  system: SystemPackage,
  build: { readonly version: string; readonly architecture: string; readonly epoch: number; readonly out: string },
): Promise<void> {
  const work = await Deno.makeTempDir({ prefix: "salt_package_" });
  try {
    Deno.chmodSync(work, 0o755);
    await maker(system, { ...build, work });
  } finally {
    await Deno.remove(work, { recursive: true });
  }
}

/** Makes an archive of the files that `write` writes to `directory`. */
async function writeArchive(directory: string, path: string, write: () => void): Promise<void> {
  write();
  const files = filesBelow(directory).map((name) => ({ name, path: `${directory}/${name}`, executable: false }));
  const archive = tarStream(files).pipeThrough(new CompressionStream("gzip"));
  await Deno.writeFile(path, archive);
}

/** The files below a directory, links as well, sorted. */
function filesBelow(directory: string, prefix = ""): string[] {
  return [...Deno.readDirSync(`${directory}/${prefix}`)].flatMap(({ name, isDirectory }) =>
    isDirectory ? filesBelow(directory, `${prefix}${name}/`) : [`${prefix}${name}`]
  ).sort();
}

/** Writes SHA256SUMS, as `sha256sum -c` reads it. */
async function writeSums(out: string): Promise<void> {
  const lines: string[] = [];
  for (const name of filesBelow(out)) lines.push(`${await sumOf(`${out}/${name}`)}  ${name}\n`);
  await Deno.writeTextFile(`${out}/SHA256SUMS`, lines.join(""));
}

async function isInstalled(program: string): Promise<boolean> {
  try {
    await run(program, ["--version"], "/");
    return true;
  } catch (error) {
    if (error instanceof ReleaseError && error.message === `${program} is not installed`) return false;
    throw error;
  }
}
