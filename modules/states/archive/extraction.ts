/**
 * Extracts an archive for `archive.extracted`, and reports the extracted files. Source: Salt 3008.3
 * `salt/states/archive.py` extracted.
 * @module
 */

import { Refused } from "#modules/states/_refused.ts";
import { NoTarError, readTar } from "#lib/host/archives/tar_members.ts";
import { CommandError, CommandNotFoundError } from "#lib/errors.ts";
import { tarStream } from "#lib/host/filesystem/tar_stream.ts";
import { holdDirectory } from "#lib/os/held_path.ts";
import { which } from "#lib/programs/which.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { shlexSplit } from "#lib/text/shlex.ts";
import { splitLines } from "#lib/text/split_lines.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { map, str, toNumber, type Value, type ValueMap } from "#lib/values/value.ts";

/** What is extracted, and how. */
export interface Extraction {
  /** The archive's path on this host. */
  readonly archive: string;
  readonly format: "tar" | "rar" | "zip";
  /** The directory, which is there. */
  readonly directory: string;
  readonly options: string | null;
  /** How many lines are reported; 0: all. */
  readonly max: number;
  readonly password: Value;
  /** Whether the program `unzip` is used. */
  readonly unzipProgram: boolean;
  readonly extractPerms: Value;
  /** More arguments for the function that extracts. */
  readonly more: ValueMap;
}

/**
 * Extracts it.
 * @returns What the program or the archive says of its members.
 * @throws {Refused} If that fails.
 */
export async function extractArchive(given: Extraction, context: StateContext): Promise<Value> {
  const { archive, format, directory, options, max, password, more } = given;
  const trim = { trim_output: max === 0 ? false : max };
  try {
    if (format === "tar") return options === null ? await extractTar(given, context) : await runTar(given, context);
    if (format === "rar") return await context.call("archive.unrar", [archive, directory], mergeArguments(trim, more));
    return given.unzipProgram
      ? await context.call(
        "archive.cmd_unzip",
        [archive, directory],
        mergeArguments({ ...trim, options, password }, more),
      )
      : await context.call(
        "archive.unzip",
        [archive, directory],
        mergeArguments({ ...trim, options, password, extract_perms: given.extractPerms }, more),
      );
  } catch (error) {
    if (error instanceof CommandError || error instanceof CommandNotFoundError) throw new Refused(error.message);
    throw error;
  }
}

function mergeArguments(own: Readonly<Record<string, unknown>>, more: ValueMap): ValueMap {
  return new Map([...map(own), ...more]);
}

const NO_TAR = "tar command not available, it might not be installed on minion";

/**
 * Extracts a tar archive with owners and modes, whatever compressed it.
 * @returns The names of its members.
 */
async function extractTar({ archive, directory, max }: Extraction, context: StateContext): Promise<Value> {
  const names: string[] = [];
  try {
    const stream = await tarStream(archive, { signal: context.signal, child: context.child });
    for await (const { name } of readTar(stream)) names.push(name);
  } catch (error) {
    context.signal.throwIfAborted();
    if (!(error instanceof NoTarError || error instanceof TypeError)) throw error;
    throw new Refused(
      "Failed to read from tar archive using Python's native tar file support. If archive is compressed using something other than " +
        "gzip or bzip2, the 'options' argument may be required to pass the correct options to the tar command in order to extract " +
        "the archive.",
    );
  }
  if (which("tar") === undefined) throw new Refused(NO_TAR);
  const ran = await runAll(["tar", "-x", "-p", "-f", archive], directory, context);
  if (ran.get("retcode") !== 0) {
    throw new Refused(`Failed to extract ${archive}: ${str(ran.get("stderr") ?? "")}`);
  }
  return max === 0 ? names : names.slice(0, max);
}

/**
 * Extracts by `tar` with the options of the state.
 * @returns The lines that it writes.
 */
async function runTar({ archive, directory, options, max }: Extraction, context: StateContext): Promise<Value> {
  if (which("tar") === undefined) throw new Refused(NO_TAR);
  const words = shlexSplit(options ?? "").filter((word) => !["v", "-v", "--verbose"].includes(word));
  // The first word may be letters without a hyphen, as tar takes them.
  const [first = ""] = words;
  const letters = first === "" || first.startsWith("-") ? "" : first.replaceAll(/[xf]/g, "");
  const rest = letters === "" && (first === "" || first.startsWith("-")) ? words : words.slice(1);
  const ran = await runAll(["tar", `xv${letters}`, ...rest, "-f", archive], directory, context);
  if (ran.get("retcode") !== 0) throw new Refused("", { changes: ran });
  const version = str(await context.call("cmd.run", [["tar", "--version"]], map({ python_shell: false })));
  const lines = splitLines(str(ran.get(version.includes("bsdtar") ? "stderr" : "stdout") ?? ""));
  const head = max === 0 ? lines : lines.slice(0, max);
  return head.length > 0 ? head : "no tar output so far";
}

/** Runs a program in a directory that is held: its user may exchange it, and root would extract where the user says. */
async function runAll(words: string[], directory: string, context: StateContext): Promise<ValueMap> {
  using held = holdDirectory(directory);
  return mapOrEmpty(
    await context.call("cmd.run_all", [words], map({ cwd: held.pathForPrograms, python_shell: false })),
  );
}

/**
 * How many lines `trim_output` asks for.
 * @throws {Refused} If it is not a number.
 */
export function linesWanted(trim: Value): number {
  if (trim === true) return 100;
  if (trim === null || trim === false) return 0;
  const count = typeof trim === "string" && /^\s*[+-]?\d+\s*$/.test(trim) ? Number(trim) : toNumber(trim);
  if (count !== undefined && Number.isInteger(count)) return count;
  throw new Refused("Invalid value for trim_output, must be True/False or an integer");
}
