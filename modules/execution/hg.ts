/**
 * Execution module `hg`: repositories of Mercurial.
 * Source: the functions of Salt 3006.28 `salt/modules/hg.py`, which Salt 3008 has no longer.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import type { Virtual } from "#lib/plugins/virtual.ts";
import { checkedWord, type ProgramOptions, type ProgramResult, runProgram } from "#lib/programs/run_program.ts";
import { quoteShellWord } from "#lib/text/shell_words.ts";
import { splitLines, splitWhitespace } from "#lib/text/split_lines.ts";
import { listUnder } from "#lib/values/shape.ts";
import { str, type Value, type ValueMap } from "#lib/values/value.ts";

export const virtual: Virtual = {
  serves: [{ programs: ["hg"], otherwise: "The hg execution module cannot be loaded: hg unavailable." }],
};

function hg(words: readonly string[], context: JobContext, options: ProgramOptions): Promise<ProgramResult> {
  return runProgram(["hg", ...words], context, { setsRetcode: true, ...options });
}

/** The output of a command that went well. */
async function changed(words: readonly string[], context: JobContext, options: ProgramOptions): Promise<string> {
  const { retcode, stdout, stderr } = await hg(words, context, options);
  if (retcode !== 0) throw new CommandError(`Hg command failed: ${stderr}`);
  return stdout;
}

/** How hg connects with a key. It gives the text to a shell. */
function sshWords(identity: string | null): string[] {
  return identity ? ["--ssh", `ssh -i ${quoteShellWord(identity)}`] : [];
}

/** The words of further options. */
function furtherWords(opts: Value): string[] {
  return typeof opts === "string" ? splitWhitespace(opts) : [];
}

async function revisionOf(
  cwd: string,
  rev: string,
  { short, user, context }: { readonly short: boolean; readonly user: string | null; readonly context: JobContext },
): Promise<string> {
  const words = ["id", "-i", ...short ? [] : ["--debug"], "-r", rev];
  const { retcode, stdout } = await hg(words, context, { cwd, runas: user });
  return retcode === 0 ? stdout : "";
}

export const revision: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the hash of a revision, long or with short=True abbreviated; empty if there is none.",
    "hg.revision /path/to/repo mybranch",
  ),
  permissions: "all",
  params: { cwd: p.str(), rev: p.str("tip"), short: p.bool(false), user: p.str(null) },
  run: ({ cwd, rev, short, user }, context) => revisionOf(cwd, rev, { short, user, context }),
});

export const describe_: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return a revision as its latest tag, the distance from it, and its short hash.",
    "hg.describe /path/to/repo",
  ),
  permissions: "all",
  params: { cwd: p.str(), rev: p.str("tip"), user: p.str(null) },
  async run({ cwd, rev, user }, context) {
    const template = "{latesttag}-{latesttagdistance}-{node|short}";
    const { stdout } = await hg(["log", "-r", rev, "--template", template], context, { cwd, runas: user });
    return stdout || await revisionOf(cwd, rev, { short: true, user: null, context });
  },
});

export const archive: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Write an archive of a revision. fmt: tar, tbz2, tgz, zip, uzip or files. prefix: the directory of the names in it.",
    "hg.archive /path/to/repo output=/tmp/archive.tgz fmt=tgz",
  ),
  permissions: "all",
  params: {
    cwd: p.str(),
    output: p.str(),
    rev: p.str("tip"),
    fmt: p.str(null),
    prefix: p.str(null),
    user: p.str(null),
  },
  async run({ cwd, output, rev, fmt, prefix, user }, context) {
    const words = ["archive", checkedWord(output, "path"), "--rev", rev];
    const more = [...fmt ? ["--type", fmt] : [], ...prefix ? ["--prefix", prefix] : []];
    return (await hg([...words, ...more], context, { cwd, runas: user, joined: true })).stdout;
  },
});

export const pull: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Pull from the repository's default source, or from another. opts are further options; identity is a key for ssh.",
    "hg.pull /path/to/repo opts=-u",
  ),
  permissions: "all",
  params: {
    cwd: p.str(),
    opts: p.any(null),
    user: p.str(null),
    identity: p.str(null),
    repository: p.str(null),
  },
  run: ({ cwd, opts, user, identity, repository }, context) => {
    const source = repository === null ? [] : [checkedWord(repository, "repository")];
    return changed(["pull", ...sshWords(identity), ...furtherWords(opts), ...source], context, { cwd, runas: user });
  },
});

export const update: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Update to a revision; with force=True what was changed here is lost.",
    "hg.update /path/to/repo somebranch",
  ),
  permissions: "all",
  params: { cwd: p.str(), rev: p.str(), force: p.bool(false), user: p.str(null) },
  run: ({ cwd, rev, force, user }, context) =>
    changed(["update", checkedWord(rev, "revision"), ...force ? ["-C"] : []], context, { cwd, runas: user }),
});

export const clone: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Clone a repository to a directory. opts are further options; identity is a key for ssh.",
    "hg.clone /path/to/repo https://bitbucket.org/birkenfeld/sphinx",
  ),
  permissions: "all",
  params: { cwd: p.str(), repository: p.str(), opts: p.any(null), user: p.str(null), identity: p.str(null) },
  run({ cwd, repository, opts, user, identity }, context) {
    const places = [checkedWord(repository, "repository"), checkedWord(cwd, "path")];
    return changed(["clone", ...places, ...furtherWords(opts), ...sshWords(identity)], context, { runas: user });
  },
});

const KINDS: Readonly<Record<string, string>> = {
  "M": "modified",
  "A": "added",
  "R": "removed",
  "C": "clean",
  "!": "missing",
  "?": "not tracked",
  "I": "ignored",
  " ": "origin of the previous file",
};

export const status: ModuleFunction<JobContext> = fn({
  doc: describe("Return the changed files of a repository, or of several, by kind.", "hg.status /path/to/repo"),
  permissions: "all",
  params: { cwd: p.any(), opts: p.any(null), user: p.str(null) },
  async run({ cwd, opts, user }, context) {
    const statusOf = async (directory: string): Promise<ValueMap> => {
      const words = ["status", ...furtherWords(opts)];
      const { stdout } = await hg(words, context, { cwd: directory, runas: user });
      const files: ValueMap = new Map();
      for (const line of splitLines(stdout)) {
        const kind = KINDS[line.charAt(0)];
        if (kind !== undefined) listUnder(files, kind).push(line.slice(2));
      }
      return files;
    };
    if (!Array.isArray(cwd)) return await statusOf(str(cwd));
    const all: ValueMap = new Map();
    for (const directory of cwd) all.set(directory, await statusOf(str(directory)));
    return all;
  },
});
