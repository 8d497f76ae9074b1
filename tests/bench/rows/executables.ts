/**
 * The executables of `deno task build`: what users of ours run, as they run Python Salt's programs with their compiled `.pyc` files. Rows
 * of whole commands measure them; built when first asked for, once in a run.
 * @module
 */

import { removeAtEnd } from "../fleets/fleet.ts";
import { run } from "../harness/processes.ts";
import { benchScript, type Program, type Side } from "../harness/sides.ts";

let built: Promise<string> | undefined;

/** The directory with the executables, which goes when the run ends. @throws {Error} If they cannot be built. */
export function executables(): Promise<string> {
  return built ??= build();
}

async function build(): Promise<string> {
  const directory = Deno.makeTempDirSync({ prefix: "bench_" });
  removeAtEnd(directory);
  const script = benchScript("../../scripts/build/build.ts");
  await run([Deno.execPath(), "run", "--allow-all", "--quiet", script, "--out", directory]);
  return directory;
}

let unpacked: Promise<string> | undefined;

/** Where self-extracting executables are unpacked: the first start does it, which no row but `exe-cold` counts. */
export function unpackedExecutables(): Promise<string> {
  return unpacked ??= unpack();
}

async function unpack(): Promise<string> {
  const directory = await executables();
  const into = `${directory}/unpacked`;
  Deno.mkdirSync(into, { mode: 0o700 });
  for (const program of ["salt", "salt-call", "salt-master"]) {
    await run(["env", `SALT_UNPACK_DIR=${into}`, `${directory}/${program}`, "--version"]);
  }
  await startStates(directory, into);
  return into;
}

/** How often a file is loaded until Deno has kept its compiled code. */
const LOADS = 3;

/** Runs states some times: their files are compiled when they are first used, where those of starts are compiled on unpacking. */
async function startStates(directory: string, into: string): Promise<void> {
  const root = `${directory}/states`;
  Deno.mkdirSync(`${root}/etc`, { recursive: true });
  Deno.writeTextFileSync(`${root}/etc/minion`, JSON.stringify({ id: "bench-1", root_dir: root }));
  const call = ["env", `SALT_UNPACK_DIR=${into}`, `${directory}/salt-call`, "-c", `${root}/etc`, "--local"];
  const state = [`name=${root}/file`, "contents=text"];
  for (let i = 0; i < LOADS; i++) await run([...call, "state.single", "file.managed", ...state]);
}

/** A side as it is installed: ours by the executables, Python's as it is. */
export async function installed(side: Side): Promise<Side> {
  if (side.python !== undefined) return side;
  const [directory, into] = [await executables(), await unpackedExecutables()];
  return {
    ...side,
    command: (program: Program) => ["env", `SALT_UNPACK_DIR=${into}`, `${directory}/${program}`],
  };
}
