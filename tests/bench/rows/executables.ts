/**
 * The executables of `deno task build`, which users run. Rows of whole commands measure them, as they measure Python
 * Salt's programs with compiled `.pyc` files. They are built once in a run, when they are first needed.
 * @module
 */

import { removeAtEnd } from "#tests/bench/fleets/fleet.ts";
import { run } from "#tests/bench/harness/processes.ts";
import { benchScript, type Program, type Side } from "#tests/bench/harness/sides.ts";

let built: Promise<string> | undefined;

/**
 * The directory with the executables, which is removed at the end of the run.
 * @throws {Error} If they cannot be built.
 */
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

/**
 * The directory that self-extracting executables are unpacked to at their first start. Only the row `exe-cold` measures
 * that start.
 */
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

/** Number of runs until Deno has stored the compiled code of a file. */
const LOADS = 3;

/**
 * Runs states several times: the compiled code of their files is stored at first use; files of usual starts are
 * compiled when an executable is unpacked.
 */
async function startStates(directory: string, into: string): Promise<void> {
  const root = `${directory}/states`;
  Deno.mkdirSync(`${root}/etc`, { recursive: true });
  Deno.writeTextFileSync(`${root}/etc/minion`, JSON.stringify({ id: "bench-1", root_dir: root }));
  const call = ["env", `SALT_UNPACK_DIR=${into}`, `${directory}/salt-call`, "-c", `${root}/etc`, "--local"];
  const state = [`name=${root}/file`, "contents=text"];
  for (let i = 0; i < LOADS; i++) await run([...call, "state.single", "file.managed", ...state]);
}

/** An installed side: our executables, or Python Salt unchanged. */
export async function installed(side: Side): Promise<Side> {
  if (side.python !== undefined) return side;
  const [directory, into] = [await executables(), await unpackedExecutables()];
  return {
    ...side,
    command: (program: Program) => ["env", `SALT_UNPACK_DIR=${into}`, `${directory}/${program}`],
  };
}
