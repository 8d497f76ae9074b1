/**
 * Makes the three executables from one directory: the scripts, one for each entry and thread (bundle.ts), the files of
 * packages that no script contains, and the licences.
 * @module
 */

import { bundle, isOf, scriptOf } from "./bundle.ts";
import { compiledScripts } from "./compiled.ts";
import { packedExecutable, packPayload } from "./pack.ts";
import {
  COMMAND_ENTRIES,
  CONSOLE_FILES,
  EXECUTABLES,
  LIBRARIES,
  packageFiles,
  PLACE_SOURCE,
  productionConfig,
  PYTHON_HELPER,
  SCRIPT_SOURCES,
  STARTS,
  WARM_SOURCE,
  WORKERS,
} from "./production.ts";
import type { TarFile } from "./tar.ts";
import { COMMAND_V8_FLAGS, V8_FLAGS } from "#lib/runtime/self_command.ts";
import { writeOut as say } from "#lib/commands/cli/process_io.ts";
import { lacksDenort } from "#scripts/deno_output.ts";
import { OWN_FILES } from "#lib/programs/licenses.ts";
import called from "./start_functions.json" with { type: "json" };

/** The project's directory. */
export const ROOT = decodeURIComponent(new URL("../..", import.meta.url).pathname).replace(/\/$/, "");

/**
 * Timeout of one `deno compile`, in milliseconds: the first run may download 40 MB, from a host that may not answer.
 */
const COMPILE_MS = 300_000;

/** One build for one platform. */
export interface Build {
  /** Directory of the production files. */
  readonly stage: string;
  readonly files: readonly TarFile[];
  readonly target: string;
  /** The directory of the executables. */
  readonly out: string;
}

/** What packed executables contain besides the files of a build. */
export interface PackOptions {
  /** The path of the Deno to pack, for the build's platform. */
  readonly deno: string;
  readonly version: string;
}

/** A build that is not possible; the message is for the user. */
export class BuildError extends Error {
  override name = "BuildError";
}

/**
 * Makes the scripts in the directory `stage`, for every platform.
 * @returns The files, by name.
 */
export async function writeScripts(stage: string): Promise<TarFile[]> {
  const scripts = await bundle(ROOT, stage, [...SCRIPT_SOURCES, WARM_SOURCE, PLACE_SOURCE], {
    starts: STARTS,
    called,
    libraries: LIBRARIES,
  });
  await Deno.writeTextFile(`${stage}/deno.json`, productionConfig(ROOT));
  return [...scripts, "deno.json"].map((name) => ({ name, path: `${stage}/${name}`, executable: false }));
}

/**
 * Copies the files of packages for `target`, and the licences, to the directory `stage`.
 * @returns The files, by name.
 */
export function copyPackages(stage: string, target: string): TarFile[] {
  return packageFiles(ROOT, target).map(({ name, path }) => {
    const copy = `${stage}/${name}`;
    Deno.mkdirSync(copy.replace(/\/[^/]*$/, ""), { recursive: true });
    Deno.copyFileSync(path, copy);
    return { name, path: copy, executable: false };
  });
}

/**
 * Runs `deno compile` for each executable.
 * @returns False if denort is not available.
 */
export async function compileExecutables(build: Build): Promise<boolean> {
  for (const { name, entry } of EXECUTABLES) {
    const output = `${build.stage}/${name}.compiled`;
    const flags = Object.hasOwn(COMMAND_ENTRIES, name) ? COMMAND_V8_FLAGS : V8_FLAGS;
    const late = AbortSignal.timeout(COMPILE_MS);
    const result = await new Deno.Command(Deno.execPath(), {
      // `deno task ok` checked the types: the shipped files have none.
      args: ["compile", "--quiet", "--allow-all", "--no-prompt", "--no-check", "--no-lock", `--v8-flags=${flags}`]
        .concat(
          ["--config", `${build.stage}/deno.json`, "--target", build.target, "--output", output],
          // No file imports these: threads are started, libraries are loaded by their paths, Deno looks for a source
          // map beside its script, and the addon is opened by its path.
          build.files.map(({ name }) => name)
            .filter((name) => [entry, ...WORKERS, ...LIBRARIES].some((source) => isOf(source, name)))
            .flatMap((name) => ["--include", `${build.stage}/${name}`]),
          ["node_modules", "licenses", PYTHON_HELPER, CONSOLE_FILES, ...OWN_FILES].flatMap((
            name,
          ) => ["--include", `${build.stage}/${name}`]),
          [`${build.stage}/${scriptOf(entry)}`],
        ),
      env: { NO_COLOR: "1" },
      stdin: "null",
      signal: late,
    }).output();
    const errors = new TextDecoder().decode(result.stderr).trim();
    const unreachable = late.aborted || lacksDenort(errors);
    if (!result.success && Deno.env.get("DENORT_BIN") === undefined && unreachable) {
      say(
        "deno compile cannot fetch denort, and DENORT_BIN is not set: packing self-extracting executables instead.\n",
      );
      return false;
    }
    if (!result.success) throw new BuildError(`deno compile of ${entry} failed:\n${errors}`);
    await replace(output, `${build.out}/${name}`);
  }
  return true;
}

/**
 * Writes the self-extracting executables. They differ only in the launcher: all three use one unpacked directory. They
 * contain V8's compiled code of the scripts if this machine can run the Deno that is packed.
 */
export async function packExecutables(
  { stage, files, target, out }: Build,
  { deno, version }: PackOptions,
): Promise<void> {
  const shipped = files.filter(({ name }) => !isOf(WARM_SOURCE, name));
  const code = target === Deno.build.target ? await compiledScripts(stage) : [];
  const payload = await packPayload([{ name: "deno", path: deno, executable: true }, ...shipped, ...code]);
  for (const { name, links, entry } of EXECUTABLES) {
    const file = await Deno.open(`${stage}/${name}.packed`, { write: true, create: true, truncate: true });
    await packedExecutable({ name, links, entry: scriptOf(entry), version, target }, payload).stream().pipeTo(
      file.writable,
    );
    await replace(`${stage}/${name}.packed`, `${out}/${name}`);
  }
}

/** Makes the links to the executables in the directory `out`: the other names that they answer to. */
export async function linkExecutables(out: string): Promise<void> {
  for (const { name, links } of EXECUTABLES) {
    for (const link of links) await linkTo(name, `${out}/${link}`);
  }
}

/** Moves a file in one step, also to another file system: an executable that runs keeps its old content. */
async function replace(from: string, to: string): Promise<void> {
  await Deno.copyFile(from, `${to}.new`);
  await Deno.chmod(`${to}.new`, 0o755);
  await Deno.rename(`${to}.new`, to);
}

async function linkTo(target: string, path: string): Promise<void> {
  await Deno.remove(path).catch((error) => {
    if (!(error instanceof Deno.errors.NotFound)) throw error;
  });
  await Deno.symlink(target, path);
}
