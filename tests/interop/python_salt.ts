/**
 * Python Salt from PyPI, a virtual environment for each version: made once, outside of the tree.
 *
 * `SALT_INTEROP_VENVS` names the directory that holds them, one for each version; by default they are in the user's
 * cache directory.
 * @module
 */

import { statIfExists } from "#lib/os/atomic_file.ts";
import { run } from "#tests/support/processes.ts";

/** The versions that the tests use: the last of each release line that can be installed from PyPI. */
export const PYTHON_SALTS = ["3006.28", "3007.15", "3008.3"] as const;

/** An installed Salt, or the reason why there is none. */
export type Installed = { readonly bin: string } | { readonly missing: string };

/** Time limit of an installation, in milliseconds. It builds one or two wheels, which takes long on a slow host. */
export const INSTALL_MS = 15 * 60_000;

/** Number of tries: an index that does not answer, or sends half a file, may work the next time. */
const INSTALL_TRIES = 2;

/** Messages of pip if no index can be reached, or if the index has no such package. */
export const OUT_OF_REACH =
  /No matching distribution found|NewConnectionError|ConnectTimeout|ReadTimeout|ConnectionError|ProxyError|SSLError|name resolution/;

/**
 * The programs of `version`, installed if they are not there.
 * @throws {Error} If the installation fails for another reason than that python3 or PyPI is out of reach.
 */
export async function pythonSalt(version: string): Promise<Installed> {
  const directory = `${venvsDirectory()}/${version}`;
  if (await isInstalled(directory, version)) return { bin: `${directory}/bin` };
  Deno.mkdirSync(venvsDirectory(), { recursive: true });
  using lock = Deno.openSync(`${venvsDirectory()}/${version}.lock`, { create: true, write: true });
  await lock.lock(true);
  // Another test file may have installed it meanwhile.
  if (!await isInstalled(directory, version)) {
    const missing = await install(directory, version);
    if (missing !== undefined) return { missing };
  }
  return { bin: `${directory}/bin` };
}

/** The directory of the virtual environments, and of other files that tests install once. */
export function venvsDirectory(): string {
  const cache = Deno.env.get("XDG_CACHE_HOME") || `${Deno.env.get("HOME") ?? ""}/.cache`;
  return Deno.env.get("SALT_INTEROP_VENVS") || `${cache}/salt-interop`;
}

/** The file in an environment that says when its Salt was seen to run: each test file asks for three Salts. */
const PROVED = "salt_runs";
/** How long that is believed, in milliseconds: the host may get another Python meanwhile. */
const PROVED_MS = 3_600_000;

async function isInstalled(directory: string, version: string): Promise<boolean> {
  const proved = `${directory}/${PROVED}`;
  if (Date.now() - (statIfExists(proved)?.mtime?.getTime() ?? 0) < PROVED_MS) return true;
  try {
    const { code, out } = await run([`${directory}/bin/salt-call`, "--version"]);
    if (code !== 0 || !out.includes(version)) return false;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return false;
    throw error;
  }
  writeProof(proved);
  return true;
}

/** Others may have made the environments, and let nobody write there. */
function writeProof(path: string): void {
  try {
    Deno.writeTextFileSync(path, "");
  } catch (error) {
    const isReadOnly = error instanceof Error && "code" in error && error.code === "EROFS";
    if (!isReadOnly && !(error instanceof Deno.errors.PermissionDenied)) throw error;
  }
}

/** @returns Why it cannot be installed here; `undefined` if it can. */
async function install(directory: string, version: string): Promise<string | undefined> {
  const python = await usablePython();
  if (python === undefined) return "there is no python3 with venv here";
  Deno.stderr.writeSync(new TextEncoder().encode(`Installing Python Salt ${version} into ${directory}, once\n`));
  let err = "";
  for (let attempt = 1; attempt <= INSTALL_TRIES; attempt++) {
    await mustRun([python, "-m", "venv", "--clear", directory]);
    const pip = await run(
      [`${directory}/bin/pip`, "install", "--disable-pip-version-check", "--quiet", `salt==${version}`],
      INSTALL_MS,
    );
    if (pip.code === 0 && await isInstalled(directory, version)) return undefined;
    Deno.removeSync(directory, { recursive: true });
    err = pip.err;
  }
  if (OUT_OF_REACH.test(err)) return "PyPI is out of reach";
  throw new Error(`pip cannot install salt==${version}:\n${err.split("\n").slice(-30).join("\n")}`);
}

/** A Python that can make virtual environments; `undefined` if there is none. */
export async function usablePython(): Promise<string | undefined> {
  try {
    const { code } = await run(["python3", "-c", "import ensurepip, venv"]);
    return code === 0 ? "python3" : undefined;
  } catch (error) {
    if (error instanceof Deno.errors.NotFound) return undefined;
    throw error;
  }
}

/**
 * Runs a command of an installation.
 * @throws {Error} If it fails.
 */
export async function mustRun(words: readonly string[]): Promise<void> {
  const { code, err } = await run(words, INSTALL_MS);
  if (code !== 0) throw new Error(`${words.join(" ")} ended with ${code}:\n${err}`);
}
