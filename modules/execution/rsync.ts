/**
 * Execution module `rsync`: copies files and directories with the program rsync.
 * Source: the functions of Salt 3008.3 `salt/modules/rsync.py`.
 * @module
 */

import { CommandError, InvocationError } from "#lib/errors.ts";
import { safePath } from "#lib/files/backends/safe_path.ts";
import { splitSaltUrl } from "#lib/files/backends/salt_url.ts";
import { baseName } from "#lib/os/paths.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { checkedWord, type ProgramResult, runProgram } from "#lib/programs/run_program.ts";
import { splitLines, splitWhitespace } from "#lib/text/split_lines.ts";
import { asList, listOrEmpty } from "#lib/values/shape.ts";
import { str, truthy, type Value } from "#lib/values/value.ts";

export const virtual: Virtual = {
  serves: [{
    programs: ["rsync"],
    otherwise: "The rsync execution module cannot be loaded: the rsync binary is not in the path.",
  }],
};

/** What a copy is told besides its two places; what is not set comes from the options `rsync.…`. */
type Settings = Readonly<
  Record<
    "delete" | "force" | "update" | "passwordfile" | "exclude" | "excludefrom" | "dryrun" | "rsh",
    Value
  >
>;

function optionWords(given: Settings): string[] {
  const flag = (isOn: Value, word: string): string[] => truthy(isOn) ? [word] : [];
  const { passwordfile, exclude, excludefrom, rsh } = given;
  return [
    "-avz",
    ...flag(given.delete, "--delete"),
    ...flag(given.force, "--force"),
    ...flag(given.update, "--update"),
    ...flag(rsh, `--rsh=${str(rsh)}`),
    ...truthy(passwordfile) ? ["--password-file", str(passwordfile)] : [],
    ...truthy(excludefrom)
      ? ["--exclude-from", str(excludefrom)]
      : truthy(exclude)
      ? asList(exclude).flatMap((pattern) => ["--exclude", str(pattern)])
      : [],
    ...flag(given.dryrun, "--dry-run"),
  ];
}

/** A copy of files of the master in a directory of its own, which is removed afterwards. */
async function fromMaster<T>(
  source: string,
  saltenv: string,
  context: JobContext,
  use: (path: string) => Promise<T>,
): Promise<T> {
  const directory = Deno.makeTempDirSync({ prefix: "salt_rsync_" });
  try {
    const kwargs = new Map<Value, Value>([["saltenv", saltenv]]);
    const directories = listOrEmpty(await context.call("cp.list_master_dirs", [], kwargs)).map(str);
    if (directories.includes(source.slice("salt://".length))) {
      const copied = await context.call("cp.get_dir", [source, directory, saltenv]);
      if (!truthy(copied)) throw new CommandError(`${source} does not exist`);
      return await use(`${directory}/`);
    }
    // In a directory rsync gives the file the name that it has here.
    const name = baseName(safePath(splitSaltUrl(source).path) ?? "");
    if (name === "") throw new CommandError(`${source} does not exist`);
    const path = `${directory}/${name}`;
    const copied = await context.call("cp.get_file", [source, path, saltenv]);
    if (!truthy(copied)) throw new CommandError(`${source} does not exist`);
    return await use(path);
  } finally {
    Deno.removeSync(directory, { recursive: true });
  }
}

export const rsync: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Copy files from `src` to `dst`, and return what rsync says. `src` may be of the master: `salt://…`. What is not given comes from\n" +
      "the options `rsync.src` and so on. `additional_opts` is a list of further options.",
    "rsync.rsync /path/to/src /path/to/dest delete=True update=True passwordfile=/etc/pass.crt exclude=exclude/dir",
    "rsync.rsync /path/to/src delete=True excludefrom=/xx.ini",
    `rsync.rsync /path/to/src delete=True exclude='[exclude1/dir,exclude2/dir]' additional_opts='["--partial", "--bwlimit=5000"]'`,
  ),
  permissions: "all",
  params: {
    src: p.any(),
    dst: p.any(),
    delete: p.any(false),
    force: p.any(false),
    update: p.any(false),
    passwordfile: p.any(null),
    exclude: p.any(null),
    excludefrom: p.any(null),
    dryrun: p.any(false),
    rsh: p.any(null),
    additional_opts: p.any(null),
    saltenv: p.str("base"),
  },
  async run({ src, dst, additional_opts, saltenv, ...given }, context) {
    const setting = async (name: string, value: Value) =>
      truthy(value) ? value : await context.call("config.option", [`rsync.${name}`]);
    const [source, target] = [str(await setting("src", src)), str(await setting("dst", dst))];
    const entries = Object.entries(given).map(async ([name, value]) => [name, await setting(name, value)] as const);
    const words = optionWords(Object.fromEntries(await Promise.all(entries)) as Settings);
    if (source === "" || target === "") throw new InvocationError("src and dst cannot be empty");
    const copy = async (from: string): Promise<ProgramResult> => {
      const places = [checkedWord(from, "source"), checkedWord(target, "target")];
      const all = ["rsync", ...words, ...listOrEmpty(additional_opts).map(str), ...places];
      return await runProgram(all, context, { setsRetcode: true });
    };
    return source.startsWith("salt://") ? await fromMaster(source, saltenv, context, copy) : await copy(source);
  },
});

export const version: ModuleFunction<JobContext> = fn({
  doc: describe("Return the version of rsync.", "rsync.version"),
  permissions: "all",
  params: {},
  async run(_bound, context) {
    const { stdout } = await runProgram(["rsync", "--version"], context, { setsRetcode: true });
    const found = splitWhitespace(splitLines(stdout)[0] ?? "")[2];
    if (found === undefined) throw new CommandError("Unable to determine rsync version");
    return found;
  },
});

export const config: ModuleFunction<JobContext> = fn({
  doc: describe("Return the contents of the configuration file of the rsync daemon.", "rsync.config"),
  permissions: "all",
  params: { conf_path: p.str("/etc/rsyncd.conf") },
  run({ conf_path }) {
    try {
      return Deno.readTextFileSync(conf_path);
    } catch (error) {
      if (error instanceof Deno.errors.NotFound) throw new CommandError(`${conf_path} does not exist`);
      if (error instanceof Deno.errors.PermissionDenied) {
        throw new CommandError(`Unable to read ${conf_path}, access denied`);
      }
      if (error instanceof Deno.errors.IsADirectory) {
        throw new CommandError(`Unable to read ${conf_path}, path is a directory`);
      }
      throw error;
    }
  },
});
