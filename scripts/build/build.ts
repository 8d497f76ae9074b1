/**
 * `deno task build`: makes the three executables, and shared files (share.ts), in `dist/`. It uses `deno compile`; if
 * denort cannot be fetched, it makes self-extracting files that contain Deno itself.
 *
 * Both start from the same directory: the scripts, one for each entry and thread (bundle.ts), and the files of packages
 * that no script contains.
 * @module
 */

import { bundle, BundleError, isOf, scriptOf } from "./bundle.ts";
import {
  COMMAND_ENTRIES,
  EXECUTABLES,
  packageFiles,
  PLACE_SOURCE,
  productionConfig,
  SCRIPT_SOURCES,
  STARTS,
  TARGETS,
  WARM_SOURCE,
  WORKERS,
} from "./production.ts";
import { compiledScripts } from "./compiled.ts";
import { packedExecutable, packPayload } from "./pack.ts";
import { sharedFiles, writeShared } from "./share.ts";
import type { TarFile } from "./tar.ts";
import { COMMAND_V8_FLAGS, V8_FLAGS } from "#lib/runtime/self_command.ts";
import { VERSION } from "#lib/version.ts";
import { writeOut as say } from "#lib/commands/cli/process_io.ts";
import { parseOptions } from "#scripts/options.ts";
import { runScript } from "#scripts/run_script.ts";
import { lacksDenort } from "#scripts/deno_output.ts";
import called from "./start_functions.json" with { type: "json" };

const USAGE = `Usage: deno task build [options]

  --target TRIPLE   The platform to build for: ${TARGETS.join(", ")}.
                    Default: this one.
  --out DIR         Where to. Default: dist.
  --pack            Pack self-extracting executables without trying deno compile.

DENORT_BIN names a denort to compile with, where none can be fetched.
`;

const ROOT = decodeURIComponent(new URL("../..", import.meta.url).pathname).replace(/\/$/, "");

/**
 * Timeout of one `deno compile`, in milliseconds: the first run may download 40 MB, from a host that may not answer.
 */
const COMPILE_MS = 300_000;

interface Build {
  /** Directory of the production files. */
  readonly stage: string;
  readonly files: readonly TarFile[];
  readonly target: string;
  readonly out: string;
}

/** A build that is not possible; the message is for the user. */
class BuildError extends Error {
  override name = "BuildError";
}

async function main(argv: string[]): Promise<number> {
  const { values: options } = parseOptions({
    args: argv,
    options: {
      target: { type: "string", default: Deno.build.target },
      out: { type: "string", default: "dist" },
      pack: { type: "boolean", default: false },
      help: { type: "boolean", short: "h", default: false },
    },
  });
  if (options.help) return say(USAGE), 0;
  if (!TARGETS.includes(options.target)) {
    throw new BuildError(`cannot build for ${options.target}; there are ${TARGETS.join(", ")}`);
  }
  const out = await Deno.realPath(await made(options.out));
  const stage = await Deno.makeTempDir({ prefix: "salt_build_" });
  try {
    const build = { stage, files: await fillStage(stage, options.target), target: options.target, out };
    if (options.pack || !await compiled(build)) await pack(build);
    for (const { name, links } of EXECUTABLES) {
      for (const link of links) await linkTo(name, `${out}/${link}`);
    }
  } finally {
    await Deno.remove(stage, { recursive: true });
  }
  writeShared(await sharedFiles(ROOT), `${out}/share`);
  for (const { name, links } of EXECUTABLES) {
    const { size } = await Deno.stat(`${out}/${name}`);
    const also = links.length > 0 ? `, also ${links.join(" and ")}` : "";
    say(`${options.out}/${name}  ${(size / 1e6).toFixed(1)} MB${also}\n`);
  }
  say(`${options.out}/share  manual pages, shell completion, documentation: cp -r ${options.out}/share /usr/local/\n`);
  return 0;
}

async function made(directory: string): Promise<string> {
  await Deno.mkdir(directory, { recursive: true });
  return directory;
}

/**
 * Writes the scripts to the directory `stage`, and copies the other shipped files there.
 * @returns The files in `stage`, by name.
 */
async function fillStage(stage: string, target: string): Promise<TarFile[]> {
  const scripts = await bundle(ROOT, stage, [...SCRIPT_SOURCES, WARM_SOURCE, PLACE_SOURCE], { starts: STARTS, called });
  const packages = packageFiles(ROOT, target);
  for (const { name, path } of packages) {
    Deno.mkdirSync(`${stage}/${name}`.replace(/\/[^/]*$/, ""), { recursive: true });
    Deno.copyFileSync(path, `${stage}/${name}`);
  }
  await Deno.writeTextFile(`${stage}/deno.json`, productionConfig(ROOT));
  return [...packages.map(({ name }) => name), ...scripts, "deno.json"]
    .map((name) => ({ name, path: `${stage}/${name}`, executable: false }));
}

/** Runs `deno compile` for each executable. @returns False if denort is not available. */
async function compiled(build: Build): Promise<boolean> {
  for (const { name, entry } of EXECUTABLES) {
    const output = `${build.stage}/${name}.compiled`;
    const flags = Object.hasOwn(COMMAND_ENTRIES, name) ? COMMAND_V8_FLAGS : V8_FLAGS;
    const late = AbortSignal.timeout(COMPILE_MS);
    const result = await new Deno.Command(Deno.execPath(), {
      // `deno task ok` checked the types: the shipped files have none.
      args: ["compile", "--quiet", "--allow-all", "--no-prompt", "--no-check", "--no-lock", `--v8-flags=${flags}`]
        .concat(
          ["--config", `${build.stage}/deno.json`, "--target", build.target, "--output", output],
          // No file imports these: threads are started, Deno looks for a source map beside its script, and the addon is
          // opened by its path.
          build.files.map(({ name }) => name)
            .filter((name) => [entry, ...WORKERS].some((source) => isOf(source, name)))
            .flatMap((name) => ["--include", `${build.stage}/${name}`]),
          ["--include", `${build.stage}/node_modules/zeromq`, `${build.stage}/${scriptOf(entry)}`],
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

/** Writes the self-extracting executables. They differ only in the launcher: all three use one unpacked directory. */
async function pack({ stage, files, target, out }: Build): Promise<void> {
  if (target !== Deno.build.target) {
    throw new BuildError(
      `cannot pack for ${target} on ${Deno.build.target}: what is packed is this machine's own Deno. ` +
        "Build there, or give deno compile a denort.",
    );
  }
  const deno = { name: "deno", path: Deno.execPath(), executable: true };
  const shipped = files.filter(({ name }) => !isOf(WARM_SOURCE, name));
  const payload = await packPayload([deno, ...denoLicence(), ...shipped, ...await compiledScripts(stage)]);
  for (const { name, links, entry } of EXECUTABLES) {
    const file = await Deno.open(`${stage}/${name}.packed`, { write: true, createNew: true });
    await packedExecutable({ name, links, entry: scriptOf(entry), version: VERSION, target }, payload).stream().pipeTo(
      file.writable,
    );
    await replace(`${stage}/${name}.packed`, `${out}/${name}`);
  }
}

/** Deno's licence must be shipped with Deno. The npm package has the licence beside the executable. */
function denoLicence(): TarFile[] {
  const path = Deno.execPath().replace(/[^/]*$/, "LICENSE");
  try {
    return Deno.statSync(path).isFile ? [{ name: "LICENSE.deno", path, executable: false }] : [];
  } catch {
    return [];
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

if (import.meta.main) await runScript(main, { name: "build", failures: [BuildError, BundleError] });
