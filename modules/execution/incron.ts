/**
 * Execution module `incron`: jobs that start when a file changes.
 * Source: the functions of Salt 3008.3 `salt/modules/incron.py`; incrontab(1), incrontab(5).
 * @module
 */

import { CommandError, InvocationError } from "#lib/errors.ts";
import { replaceFile } from "#lib/host/filesystem/contents.ts";
import { readTextFileIfExists } from "#lib/os/atomic_file.ts";
import { asCommandError } from "#lib/os/command_error.ts";
import { isDirectory } from "#lib/os/file_kind.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { checkedWord, type ProgramResult, runProgram } from "#lib/programs/run_program.ts";
import { splitLines, splitWhitespace } from "#lib/text/split_lines.ts";

/** The directory of tables of the system, and Salt's table in it. */
const SYSTEM_TABLES = "/etc/incron.d/", SYSTEM_TABLE = `${SYSTEM_TABLES}salt`;

const MASKS: readonly string[] = [
  "IN_ACCESS",
  "IN_ATTRIB",
  "IN_CLOSE_WRITE",
  "IN_CLOSE_NOWRITE",
  "IN_CREATE",
  "IN_DELETE",
  "IN_DELETE_SELF",
  "IN_MODIFY",
  "IN_MOVE_SELF",
  "IN_MOVED_FROM",
  "IN_MOVED_TO",
  "IN_OPEN",
  "IN_ALL_EVENTS",
  "IN_MOVE",
  "IN_CLOSE",
  "IN_DONT_FOLLOW",
  "IN_ONESHOT",
  "IN_ONLYDIR",
  "IN_NO_LOOP",
];

/** A job: what happens to which path starts which command. */
interface IncronJob {
  readonly path: string;
  readonly mask: string;
  readonly cmd: string;
}

/** A table: its jobs, and the lines that are none. */
interface IncronTable {
  readonly pre: readonly string[];
  readonly crons: readonly IncronJob[];
}

function incrontab(
  words: readonly string[],
  user: string,
  context: JobContext,
  stdin?: string,
): Promise<ProgramResult> {
  return runProgram(["incrontab", ...words], context, {
    runas: user,
    setsRetcode: true,
    ...stdin !== undefined && { stdin },
  });
}

function readSystemTable(): string {
  try {
    return readTextFileIfExists(SYSTEM_TABLE) ?? "";
  } catch (error) {
    throw asCommandError(error, SYSTEM_TABLE);
  }
}

async function readUserTable(user: string, context: JobContext): Promise<string> {
  const { stdout } = await incrontab(["-l", checkedWord(user, "user")], user, context);
  return stdout === "" ? "" : `${stdout}\n`;
}

async function readTable(user: string, context: JobContext): Promise<IncronTable> {
  const text = user === "system" ? readSystemTable() : await readUserTable(user, context);
  const pre: string[] = [];
  const crons: IncronJob[] = [];
  for (const line of splitLines(text)) {
    const [path, mask, ...command] = splitWhitespace(line);
    if (command.length < 1 || path === "#") pre.push(line);
    else crons.push({ path, mask, cmd: command.join(" ") });
  }
  return { pre, crons };
}

/** @returns What went wrong; `undefined`: nothing. */
async function writeTable(user: string, { pre, crons }: IncronTable, context: JobContext): Promise<string | undefined> {
  const lines = [...pre, ...crons.map(({ path, mask, cmd }) => `${path} ${mask} ${cmd}`)];
  const text = lines.map((line) => `${line}\n`).join("");
  if (user !== "system") {
    const { retcode, stderr } = await incrontab(["-"], user, context, text);
    return retcode === 0 ? undefined : stderr;
  }
  if (!isDirectory(SYSTEM_TABLES)) throw new CommandError(`salt cannot be written. ${SYSTEM_TABLES} does not exist`);
  try {
    replaceFile(SYSTEM_TABLE, new TextEncoder().encode(text));
  } catch (error) {
    throw asCommandError(error, SYSTEM_TABLE);
  }
  return undefined;
}

/** The flags of a mask, or the first that is none. */
function flagsOf(mask: string): string[] | { readonly unknown: string } {
  const flags = mask.toUpperCase().split(",");
  const unknown = flags.find((flag) => !MASKS.includes(flag));
  return unknown === undefined ? flags : { unknown };
}

function sameFlags(mask: string, flags: readonly string[]): boolean {
  return mask.split(",").sort().join() === [...flags].sort().join();
}

/** @throws {InvocationError} If a job would be more than one line, or another one. */
function checkJob({ path, cmd }: { readonly path: string; readonly cmd: string }): void {
  if (/\s/.test(path) || path === "" || path.startsWith("#")) {
    throw new InvocationError(`Invalid path: ${JSON.stringify(path)}`);
  }
  if (/[\r\n\0]/.test(cmd) || cmd.trim() === "") throw new InvocationError(`Invalid command: ${JSON.stringify(cmd)}`);
}

const JOB = { user: p.str(), path: p.str(), mask: p.str(), cmd: p.str() };

export const write_incron_file: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Make a file the table of a user. Return whether that was done.",
    "incron.write_incron_file root /tmp/new_incron",
  ),
  permissions: "all",
  params: { user: p.str(), path: p.str() },
  run: async ({ user, path }, context) => (await incrontab([checkedWord(path, "path")], user, context)).retcode === 0,
});

export const write_incron_file_verbose: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Make a file the table of a user. Return what became of incrontab.",
    "incron.write_incron_file_verbose root /tmp/new_incron",
  ),
  permissions: "all",
  params: { user: p.str(), path: p.str() },
  run: async ({ user, path }, context) => ({ ...await incrontab([checkedWord(path, "path")], user, context) }),
});

export const raw_system_incron: ModuleFunction<JobContext> = fn({
  doc: describe("Return Salt's table of the system, as it is.", "incron.raw_system_incron"),
  permissions: { read: [SYSTEM_TABLES] },
  params: {},
  run: readSystemTable,
});

export const raw_incron: ModuleFunction<JobContext> = fn({
  doc: describe("Return the table of a user, as it is.", "incron.raw_incron root"),
  permissions: "all",
  params: { user: p.str() },
  run: ({ user }, context) => readUserTable(user, context),
});

const LIST = {
  permissions: "all",
  params: { user: p.str() },
  run: ({ user }: { user: string }, context: JobContext) => readTable(user, context),
} as const;

export const list_tab: ModuleFunction<JobContext> = fn({
  ...LIST,
  doc: describe(
    "Return the jobs of a user, or of the user `system`, and the lines that are none.",
    "incron.list_tab root",
  ),
});

export const ls: ModuleFunction<JobContext> = fn({
  ...LIST,
  doc: describe("The same as incron.list_tab.", "incron.ls root"),
});

export const set_job: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Set a job of a user. Return present, new, updated, or what went wrong.",
    `incron.set_job root '/root' 'IN_MODIFY' 'echo "$$ $@ $# $% $&"'`,
  ),
  permissions: "all",
  params: JOB,
  async run({ user, path, mask, cmd }, context) {
    const flags = flagsOf(mask);
    if (!Array.isArray(flags)) return `Invalid mask type: ${flags.unknown}`;
    checkJob({ path, cmd });
    const { pre, crons } = await readTable(user, context);
    const same = crons.filter((job) => job.path === path && job.cmd === cmd);
    if (same.some((job) => sameFlags(job.mask, flags))) return "present";
    const replaced = same.filter((job) => job.mask.split(",").some((flag) => flags.includes(flag)));
    const kept = crons.filter((job) => !replaced.includes(job));
    const failure = await writeTable(user, { pre, crons: [...kept, { path, mask: flags.join(), cmd }] }, context);
    return failure ?? (replaced.length > 0 ? "updated" : "new");
  },
});

const REMOVING = {
  permissions: "all",
  params: JOB,
  async run(
    { user, path, mask, cmd }: { user: string; path: string; mask: string; cmd: string },
    context: JobContext,
  ): Promise<string> {
    const flags = flagsOf(mask);
    if (!Array.isArray(flags)) return `Invalid mask type: ${flags.unknown}`;
    const { pre, crons } = await readTable(user, context);
    const found = crons.find((job) => job.path === path && job.cmd === cmd && sameFlags(job.mask, flags));
    if (found === undefined) return "absent";
    return await writeTable(user, { pre, crons: crons.filter((job) => job !== found) }, context) ?? "removed";
  },
} as const;

export const rm_job: ModuleFunction<JobContext> = fn({
  ...REMOVING,
  doc: describe(
    "Remove a job of a user. Return removed, absent, or what went wrong.",
    `incron.rm_job root '/root' 'IN_MODIFY' 'echo "$$ $@ $# $% $&"'`,
  ),
});

export const rm: ModuleFunction<JobContext> = fn({
  ...REMOVING,
  doc: describe("The same as incron.rm_job.", `incron.rm root '/root' 'IN_MODIFY' 'echo "$$ $@"'`),
});
