/**
 * What an executable contains: the scripts made from the sources, and those files of npm packages that are in no
 * script: the addon of one platform, and licences.
 * @module
 */

import type { Starts } from "./bundle.ts";
import { sourceFiles } from "#scripts/source_files.ts";
import type { TarFile } from "./tar.ts";
import { licenseFiles, OWN_FILES, SHIPPED, type ShippedComponent } from "#lib/programs/licenses.ts";

/** The entries, by executable, with the other names that each can be called by. */
export const EXECUTABLES = [
  { name: "salt-master", entry: "master.ts", links: ["salt-syndic"] },
  { name: "salt-minion", entry: "minion.ts", links: ["salt-call"] },
  { name: "salt", entry: "salt.ts", links: ["salt-key", "salt-run", "salt-cp", "salt-ssh", "salt-api"] },
] as const;

/** The files that run as threads. No import names them, so a tool that follows imports needs this list. */
export const WORKERS = [
  "lib/bus/thread.ts",
  "lib/master/daemon/mworker_thread.ts",
  "lib/master/publisher/publisher_thread.ts",
  "lib/master/event_return/event_return_thread.ts",
  "lib/master/daemon/reactor_thread.ts",
  "lib/stores/store_thread.ts",
  "lib/master/cluster/cluster_thread.ts",
  "lib/minion/beacons/beacon_worker.ts",
  "lib/minion/worker/job_worker.ts",
  "lib/minion/worker/module_worker.ts",
  "modules/engines/_worker.ts",
] as const;

/** Libraries that a thread loads as a script of their own when needed. Each may load Node's compatibility layer. */
export const LIBRARIES = [
  "lib/auth/oidc_library.ts",
  "lib/host/mongodb/mongodb_library.ts",
  "lib/host/mysql/mysql_library.ts",
  "lib/stores/postgres_library.ts",
  "modules/returners/_redis_library.ts",
  "modules/returners/_smtp_library.ts",
] as const;

/** The source that answers `--version`, for all executables. */
export const VERSION_SOURCE = "lib/commands/programs/version_alone.ts";

/** The source that compiles every script once, when an executable is packed. */
export const WARM_SOURCE = "scripts/build/warm.ts";

/** The source that adapts the compiled code to the directory that a packed executable is unpacked into. */
export const PLACE_SOURCE = "scripts/build/place.ts";

/**
 * The source that packed executables start for names of commands that are not services: its script contains no code of
 * a service.
 */
export const COMMAND_ENTRIES = {
  "salt-call": "lib/commands/programs/salt_call_process.ts",
  "salt": "salt.ts",
  "salt-key": "salt.ts",
  "salt-run": "salt.ts",
  "salt-cp": "salt.ts",
  "salt-ssh": "salt.ts",
  "salt-api": "salt.ts",
} as const;

/** The name of an executable. */
export type Command = keyof typeof COMMAND_ENTRIES;

/** The sources that become scripts, for every kind of executable. */
export const SCRIPT_SOURCES: readonly string[] = [
  ...EXECUTABLES.map(({ entry }) => entry),
  ...WORKERS,
  COMMAND_ENTRIES["salt-call"],
  VERSION_SOURCE,
];

/** What both services load at their start. */
const SERVICE_START = [
  "lib/commands/daemons/service.ts",
  "lib/commands/daemons/service_options.ts",
  "lib/commands/daemons/preflight.ts",
  "lib/config/load.ts",
];

/**
 * The modules that usual starts of the entries load with `import()`: `salt TARGET test.ping`, `salt-call` of
 * `test.ping`, with a master too, and the services. Other starts read more files, which only takes more time.
 */
export const STARTS: Starts = {
  "salt.ts": [
    ["lib/commands/programs/salt_publish.ts", "lib/bus/paths.ts", "lib/commands/cli/calling_user.ts"],
    ["lib/commands/programs/salt_key.ts"],
    [
      "lib/commands/programs/salt_run.ts",
      "lib/client/runner_local.ts",
      "lib/runtime/daemon.ts",
      "lib/bus/fire.ts",
      "modules/runners/manage.ts",
    ],
  ],
  "minion.ts": [["lib/minion/agent/minion.ts", "lib/programs/versions.ts", "modules/grains/core.ts", ...SERVICE_START]],
  "lib/commands/programs/salt_call_process.ts": [
    ["lib/programs/versions.ts", "lib/libc/libc.ts", "modules/grains/core.ts", "modules/execution/test.ts"],
    ["lib/minion/local_call/session.ts", "lib/commands/daemons/preflight.ts"],
  ],
  "lib/minion/beacons/beacon_worker.ts": "one file",
  "lib/minion/worker/job_worker.ts": "one file",
  "lib/minion/worker/module_worker.ts": "one file",
  "master.ts": [["lib/master/daemon/master.ts", "lib/programs/versions.ts", ...SERVICE_START]],
  "lib/master/daemon/mworker_thread.ts": [[]],
  "lib/master/publisher/publisher_thread.ts": [[]],
};

/**
 * Packages that are installed, but in no script: tools that load zeromq in Node, dependencies of js-yaml's command,
 * packages of types only, what rolldown needs to make the scripts, and what validates documents in tests.
 */
const UNUSED_PACKAGES =
  /^(argparse|cmake-ts|strict-event-emitter-types|@rolldown\/.*|@oxc-project\/types|@types\/.*|undici-types|@emnapi\/.*|@napi-rs\/.*|@tybys\/.*|tslib|@seriousme\/.*|ajv|ajv-draft-04|ajv-formats|fast-deep-equal|fast-uri|json-schema-traverse|require-from-string|yaml)$/;

/** The browser's driver, its dependencies, and the rules of accessibility, which only tests use. */
const BROWSER_PACKAGES: readonly string[] = (
  "puppeteer-core axe-core @puppeteer/browsers ansi-regex ansi-styles chromium-bidi cliui devtools-protocol emoji-regex escalade get-caller-file get-east-asian-width mitt modern-tar " +
  "string-width strip-ansi typed-query-selector webdriver-bidi-protocol wrap-ansi ws y18n yargs yargs-parser zod"
).split(" ");

/** The provider of log-ins that only tests start, and its dependencies. */
const PROVIDER_PACKAGES: readonly string[] = (
  "accepts content-disposition content-type cookies debug deep-equal delegates depd destroy ee-first encodeurl escape-html fresh http-assert http-errors inherits jose keygrip koa koa-compose " +
  "media-typer mime-db mime-types ms negotiator oidc-provider on-finished parseurl setprototypeof statuses toidentifier tsscmp type-is vary"
).split(" ");

/** A platform as Deno names it, `x86_64-unknown-linux-gnu`, by its names in Node and in zeromq. */
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

/** The platforms that can be built for. Windows has neither the sockets nor the system calls that the programs need. */
export const TARGETS: readonly string[] = Object.keys(PLATFORMS);

/**
 * The package files and the licences that are shipped for `target`, by name, of the project at `root`.
 * @throws {Error} For an installed package that is not known as shipped or unused, so that somebody reviews it, and for
 * a package without a licence text.
 */
export function packageFiles(root: string, target: string): TarFile[] {
  const own = [...OWN_FILES, ...SHIPPED.flatMap(({ file }) => file ?? []), ...pythonFiles(root), ...consoleFiles(root)]
    .map((name) => ({ name, path: `${root}/${name}`, executable: false }));
  return [...own, ...installedPackages(root).flatMap((installed) => filesOf(root, installed, PLATFORMS[target]))]
    .sort((a, b) => a.name < b.name ? -1 : 1);
}

/** The directory of the console's files, which lib/console/console_files.ts reads. */
export const CONSOLE_FILES = "lib/console/browser";

function consoleFiles(root: string): string[] {
  return [".js", ".css", ".html"].flatMap((ending) => sourceFiles(root, ending, { below: [CONSOLE_FILES] }));
}

/** The directory of the Python side of the bridge, which lib/python_bridge/zygote/helper_files.ts reads. */
export const PYTHON_HELPER = "lib/python_bridge/helper";

function pythonFiles(root: string): string[] {
  return sourceFiles(root, ".py", { below: [PYTHON_HELPER] });
}

/** The shipped `deno.json`: options of Deno, and no resolution of packages. */
export function productionConfig(root: string): string {
  const { unstable }: Record<string, unknown> = JSON.parse(Deno.readTextFileSync(`${root}/deno.json`));
  return JSON.stringify({ nodeModulesDir: "manual", unstable }, null, 2) + "\n";
}

interface InstalledPackage {
  readonly component: ShippedComponent;
  readonly path: string;
}

/** The packages in Deno's node_modules: `.deno/<package>@<version>/node_modules/<package>`. */
function installedPackages(root: string): InstalledPackage[] {
  const store = `${root}/node_modules/.deno`;
  const locked: Record<string, unknown> = JSON.parse(Deno.readTextFileSync(`${root}/deno.lock`)).npm;
  return Object.keys(locked).sort().flatMap((id) => {
    // `mysql2@3.24.6_@types+node`: the names of peers follow the version.
    const [folder, name] = /^(@?[^@]+)@[^_]+/.exec(id) ?? [id, id];
    if ([...BROWSER_PACKAGES, ...PROVIDER_PACKAGES].includes(name) || UNUSED_PACKAGES.test(name)) return [];
    const component = SHIPPED.find((shipped) => shipped.isPackage && shipped.name === name);
    if (component === undefined) {
      throw new Error(`Cannot pack the package "${name}": lib/programs/licenses.ts does not know it`);
    }
    return [{ component, path: `${store}/${folder.replace("/", "+")}/node_modules/${name}` }];
  });
}

function filesOf(root: string, { component, path }: InstalledPackage, platform: Platform): TarFile[] {
  const { name } = component;
  // A text from licenses/ is among the project's own files.
  const licenses = licenseFiles(component, new URL(`file://${encodeURI(root)}/`))
    .filter((file) => file.startsWith("node_modules/")).map((file) => file.slice(file.lastIndexOf("/") + 1));
  const files = ["package.json", ...licenses];
  if (name === "zeromq") files.push(addon(path, platform));
  return files.map((file) => ({ name: `node_modules/${name}/${file}`, path: `${path}/${file}`, executable: false }));
}

/** The addon that `lib/sockets/libzmq.ts` tries first: the newest one for the platform. */
function addon(path: string, { os, arch, libc }: Platform): string {
  const manifest: Record<string, string> = JSON.parse(Deno.readTextFileSync(`${path}/build/manifest.json`));
  const [newest] = Object.entries(manifest)
    .map(([build, file]) => ({ file, ...JSON.parse(build) as Platform & { abi: number } }))
    .filter((build) => build.os === os && build.arch === arch && build.libc === libc)
    .sort((a, b) => b.abi - a.abi);
  if (newest === undefined) throw new Error(`zeromq brings no addon for ${os} ${arch} ${libc}`);
  return `build/${newest.file}`;
}
