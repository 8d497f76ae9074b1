/**
 * What an executable holds: the sources that run, and of the npm packages the files that are loaded on one platform.
 * @module
 */

import type { TarFile } from "./tar.ts";

/** The entries, by executable, with the other names that each answers to. */
export const EXECUTABLES = [
  { name: "salt-master", entry: "master.ts", links: [] },
  { name: "salt-minion", entry: "minion.ts", links: ["salt-call"] },
  { name: "salt", entry: "salt.ts", links: ["salt-key", "salt-run", "salt-cp"] },
] as const;

/** The threads. No import names these files, so whoever follows imports must be told. */
export const WORKERS = [
  "lib/bus/thread.ts",
  "lib/master/mworker_thread.ts",
  "lib/master/publisher_thread.ts",
  "lib/worker/job_worker.ts",
  "lib/worker/module_worker.ts",
] as const;

/** Where the sources are: `lib`, and the plugins; with all folders in them. */
const SOURCE_DIRECTORIES = ["lib", "modules"] as const;

/**
 * Of each package what is loaded, besides its package.json and its licence. A package that is not listed here stops the
 * build, so that a new dependency is looked at.
 */
const PACKAGES: Readonly<Record<string, RegExp>> = {
  "@noble/hashes": /^[\w-]+\.js$/,
  "deno-std": /\.js$/,
  "js-yaml": /^dist\/js-yaml\.mjs$/,
  "zeromq": /^build\/manifest\.json$/,
};

/** Packages that are installed and not loaded: what zeromq is compiled and loaded with in Node, and js-yaml's command needs. */
const UNUSED_PACKAGES: readonly string[] = ["argparse", "cmake-ts", "node-addon-api"];

/** A platform as Deno names it, `x86_64-unknown-linux-gnu`, in the words of Node and of zeromq. */
interface Platform {
  readonly os: string;
  readonly arch: string;
  readonly libc: string;
}

const PLATFORMS: Readonly<Record<string, Platform>> = {
  "x86_64-unknown-linux-gnu": { os: "linux", arch: "x64", libc: "glibc" },
  "aarch64-unknown-linux-gnu": { os: "linux", arch: "arm64", libc: "glibc" },
  "x86_64-apple-darwin": { os: "darwin", arch: "x64", libc: "libc" },
  "aarch64-apple-darwin": { os: "darwin", arch: "arm64", libc: "libc" },
};

/** The platforms that can be built for. Windows has neither the sockets nor the calls that the programs need. */
export const TARGETS: readonly string[] = Object.keys(PLATFORMS);

/**
 * The files of the project at `root` that run on `target`, by name. `deno.json` is not among them: see
 * {@linkcode productionConfig}.
 */
export function productionFiles(root: string, target: string): TarFile[] {
  const files: TarFile[] = EXECUTABLES.map(({ entry }) => source(root, entry));
  for (const directory of SOURCE_DIRECTORIES) {
    for (const name of listFiles(`${root}/${directory}`)) {
      if (name.endsWith(".ts")) files.push(source(root, `${directory}/${name}`));
    }
  }
  for (const installed of installedPackages(root)) files.push(...packageFiles(installed, PLATFORMS[target]));
  return files.sort((a, b) => a.name < b.name ? -1 : 1);
}

/**
 * `deno.json` as it is shipped: the version of the project and of its dependencies and Deno's options are read from it, and
 * it says that node_modules is complete as it lies there, so that nobody looks for a registry.
 */
export function productionConfig(root: string): string {
  const { imports, unstable }: Record<string, unknown> = JSON.parse(Deno.readTextFileSync(`${root}/deno.json`));
  return JSON.stringify({ nodeModulesDir: "manual", unstable, imports }, null, 2) + "\n";
}

function source(root: string, name: string): TarFile {
  return { name, path: `${root}/${name}`, executable: false };
}

interface InstalledPackage {
  readonly name: string;
  readonly path: string;
}

/** What lies in Deno's node_modules: `.deno/<package>@<version>/node_modules/<package>`. */
function installedPackages(root: string): InstalledPackage[] {
  const store = `${root}/node_modules/.deno`;
  const locked: Record<string, unknown> = JSON.parse(Deno.readTextFileSync(`${root}/deno.lock`)).npm;
  return Object.keys(locked).sort().flatMap((id) => {
    const name = id.slice(0, id.lastIndexOf("@"));
    if (UNUSED_PACKAGES.includes(name)) return [];
    if (!Object.hasOwn(PACKAGES, name)) {
      throw new Error(
        `Cannot pack the package "${name}": scripts/production.ts does not say which of its files are loaded`,
      );
    }
    return [{ name, path: `${store}/${id.replace("/", "+")}/node_modules/${name}` }];
  });
}

function packageFiles({ name, path }: InstalledPackage, platform: Platform): TarFile[] {
  const files = listFiles(path).filter((file) =>
    file === "package.json" || /^licen[cs]e[^/]*$/i.test(file) || PACKAGES[name].test(file)
  );
  if (name === "zeromq") files.push(addon(path, platform));
  return files.map((file) => ({ name: `node_modules/${name}/${file}`, path: `${path}/${file}`, executable: false }));
}

/** The addon that `lib/sockets/libzmq.ts` tries first: the newest for the platform. */
function addon(path: string, { os, arch, libc }: Platform): string {
  const manifest: Record<string, string> = JSON.parse(Deno.readTextFileSync(`${path}/build/manifest.json`));
  const [newest] = Object.entries(manifest)
    .map(([build, file]) => ({ file, ...JSON.parse(build) as Platform & { abi: number } }))
    .filter((build) => build.os === os && build.arch === arch && build.libc === libc)
    .sort((a, b) => b.abi - a.abi);
  if (newest === undefined) throw new Error(`zeromq brings no addon for ${os} ${arch} ${libc}`);
  return `build/${newest.file}`;
}

/** The files below `directory`, relative to it, sorted. */
function listFiles(directory: string, prefix = ""): string[] {
  return [...Deno.readDirSync(`${directory}/${prefix}`)].sort((a, b) => a.name < b.name ? -1 : 1).flatMap((entry) => {
    const name = `${prefix}${entry.name}`;
    if (entry.isDirectory) return entry.name === "node_modules" ? [] : listFiles(directory, `${name}/`);
    return entry.isFile ? [name] : [];
  });
}
