/**
 * The libraries that a fleet's plugins in Python need: `_requirements.txt` of the state tree, installed by pip in a
 * virtual environment of this daemon, which sees the packages of the host too. Its Python runs the plugins.
 * @module
 */

import { CommandError, messageOf } from "#lib/errors.ts";
import { lstatIfExists, readTextFileIfExists, removeIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import { buildEnvironment } from "#lib/programs/command_environment.ts";
import { pythonProgram } from "./python_program.ts";

/** The options that say which Python runs plugins. */
export interface PythonChoice {
  readonly cachedir: string;
  /** A path, or a name in PATH; `null`: `python3`. */
  readonly python: string | null;
  /** Whether the file's libraries are installed. Absent: they are not. */
  readonly python_requirements?: boolean;
}

/** Maximum time of an installation, in milliseconds. */
const INSTALL_MS = 15 * 60_000;
/** Maximum number of lines of pip's that an error has. */
const SHOWN_LINES = 3;

/** No variables PYTHON*, and no packages of a user, as when plugins run. */
const ISOLATED = ["-E", "-s"];
const PIP_OPTIONS = ["--no-input", "--disable-pip-version-check", "-q"];

/** What is installed: its environment's directory, and the digest of what it was made of. */
interface Installed {
  readonly directory: string;
  readonly digest: string;
}

function placeOf(cachedir: string): string {
  return `${cachedir}/python_requirements`;
}

function installedIn(cachedir: string): Installed | undefined {
  const place = placeOf(cachedir);
  const [, digest, name] = /^([0-9a-f]{64}) ([0-9a-f-]{36})\n$/.exec(readTextFileIfExists(`${place}/current`) ?? "") ??
    [];
  if (digest === undefined || lstatIfExists(`${place}/${name}/bin/python`) === undefined) return undefined;
  return { digest, directory: `${place}/${name}` };
}

/**
 * The path of the Python that runs plugins: that of the virtual environment, if there is one.
 * @throws {CommandError} If there is none.
 */
export function pluginPython({ cachedir, python, python_requirements = false }: PythonChoice): string {
  const installed = python_requirements ? installedIn(cachedir) : undefined;
  return installed === undefined ? pythonProgram(python) : `${installed.directory}/bin/python`;
}

/**
 * Installs what a file requires in a new virtual environment, unless the one that there is was made of the same file.
 * Until then, and if it fails, plugins run as before.
 * @param file The path of the file; `undefined`: the tree has none.
 * @returns Whether another Python runs plugins from now on.
 * @throws {CommandError} If it cannot be installed.
 */
export async function installRequirements(
  file: string | undefined,
  choice: PythonChoice,
  signal: AbortSignal,
): Promise<boolean> {
  const place = placeOf(choice.cachedir);
  const before = installedIn(choice.cachedir);
  if (file === undefined) {
    const isGone = removeIfExists(`${place}/current`);
    if (isGone) keepOnly(place, before);
    return isGone;
  }
  const program = pythonProgram(choice.python);
  const version = await output([program, ...ISOLATED, "-c", "import sys; print(sys.version)"], signal);
  const digest = await digestOf(`${program}\0${version}\0${Deno.readTextFileSync(file)}`);
  if (before?.digest === digest) return false;
  const name = crypto.randomUUID();
  const directory = `${place}/${name}`;
  try {
    Deno.mkdirSync(place, { recursive: true, mode: 0o755 });
    await output([program, ...ISOLATED, "-m", "venv", "--system-site-packages", "--without-pip", directory], signal);
    const python = [`${directory}/bin/python`, ...ISOLATED, "-m"];
    // The host's pip is seen there too, and to install another one takes many seconds.
    const hasPip = await output([...python, "pip", "--version"], signal).then(() => true, () => false);
    signal.throwIfAborted();
    if (!hasPip) await output([...python, "ensurepip"], signal);
    await output([...python, "pip", "install", ...PIP_OPTIONS, "-r", file], signal);
  } catch (error) {
    if (lstatIfExists(directory) !== undefined) Deno.removeSync(directory, { recursive: true });
    throw error;
  }
  writeFileAtomic(`${place}/current`, `${digest} ${name}\n`);
  // Jobs that run have the one before.
  keepOnly(place, { directory, digest }, before);
  return true;
}

/** Removes other virtual environments. */
function keepOnly(place: string, ...kept: readonly (Installed | undefined)[]): void {
  for (const { name, isDirectory } of [...Deno.readDirSync(place)]) {
    const directory = `${place}/${name}`;
    if (isDirectory && !kept.some((one) => one?.directory === directory)) {
      Deno.removeSync(directory, { recursive: true });
    }
  }
}

async function digestOf(text: string): Promise<string> {
  return new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode(text))).toHex();
}

/** What a program prints. */
async function output([program, ...args]: readonly string[], signal: AbortSignal): Promise<string> {
  const until = AbortSignal.any([signal, AbortSignal.timeout(INSTALL_MS)]);
  try {
    const { success, stdout, stderr } = await new Deno.Command(program, {
      args,
      cwd: "/",
      env: buildEnvironment({ given: {}, login: {}, clean: false, prependPath: null, resetLocale: false }),
      clearEnv: true,
      stdin: "null",
      signal: until,
    }).output();
    const said = (bytes: Uint8Array) => new TextDecoder().decode(bytes).trim();
    if (success) return said(stdout);
    const lines = `${said(stdout)}\n${said(stderr)}`.trim().split("\n");
    throw new CommandError(lines.slice(-SHOWN_LINES).join("\n"));
  } catch (error) {
    if (error instanceof CommandError) throw error;
    throw new CommandError(until.aborted ? `it was ended: ${messageOf(until.reason)}` : messageOf(error));
  }
}
