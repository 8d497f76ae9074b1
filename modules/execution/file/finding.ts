/**
 * The functions of the module `file` that find files, and that tell whether a file contains a text. The logic is in
 * `lib/host/filesystem`. Source: the functions of Salt 3008.3 `salt/modules/file.py`.
 * @module
 */

import { callRunAll, runTool } from "#modules/execution/_file_host.ts";
import { CommandError, InvocationError } from "#lib/errors.ts";
import { readUtf8File, textWindows, universalLines } from "#lib/host/filesystem/contents.ts";
import { readSearch, runSearch, type Search, sortResults } from "#lib/host/filesystem/finding.ts";
import { expandUser, globAny } from "#lib/os/disk_paths.ts";
import { systemError } from "#lib/os/deno_texts.ts";
import { lexists } from "#lib/os/file_kind.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { compileGlob } from "#lib/text/glob.ts";
import { hasMatch } from "#lib/regex/replace.ts";
import { pythonRegex } from "#lib/regex/regex.ts";
import { shlexSplit } from "#lib/text/shlex.ts";
import { withoutLeading } from "#lib/host/filesystem/text_replacing.ts";
import { str, type Value } from "#lib/values/value.ts";
import { strip } from "#lib/values/python_text.ts";

export const find: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Return the files below a path, which may have wildcards, that all criteria match.

Criteria:
    name, iname (globs of names), regex, iregex, type (letters of abcdpfls), owner, group (names and numbers),
    size ([+-]NUMBER[bkmgt]), mtime ([+-][NUMw][NUMd][NUMh][NUMm][NUMs]), grep (an expression in the contents)

Actions, of which print=path is the default:
    delete (letters of types; also as a bare word: files), exec (a command, {} is the path), print (group md5 mode mtime name path size type user)

Depths:
    maxdepth, mindepth`,
    "file.find / type=f name=\\*.bak size=+10m",
    "file.find /var mtime=+30d size=+10m print=path,size,mtime",
    "file.find /var/log name=\\*.[0-9] mtime=+30d size=+10m delete",
  ),
  permissions: "all",
  params: { path: p.str() },
  varArgs: "args",
  varKwargs: "kwargs",
  run: async ({ path }, context, { args, kwargs }) => {
    const options = new Map(kwargs);
    if (args.includes("delete")) options.set("delete", "f");
    else if (args.includes("print")) options.set("print", "path");
    let search: Search;
    try {
      search = readSearch(options, {
        run: async (words, line) => {
          const { stdout, stderr } = await runTool(context, words, {
            ignoreRetcode: true,
            more: new Map([["rstrip", false]]),
          });
          if (stderr !== "") context.log("error", `Error running command: ${line}\n\n${stderr}`);
          return stdout;
        },
        failed: (line, reason) => context.log("error", `Exception while executing command "${line}":\n\n${reason}`),
      });
    } catch (error) {
      if (error instanceof CommandError) return `error: ${error.message}`;
      throw error;
    }
    const results: Value[] = [];
    for (const top of globAny(expandUser(path))) {
      for await (const result of runSearch(search, top)) {
        context.signal.throwIfAborted();
        results.push(result);
      }
    }
    return sortResults(results);
  },
});

export const grep: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Search files, which may be named by a glob, with `grep`; further words are its options. Returns `retcode`, `stdout` and `stderr`.",
    "file.grep /etc/passwd nobody",
    "file.grep /etc/sysconfig/network-scripts/ifcfg-eth0 ipaddr -- -i",
  ),
  permissions: "all",
  params: { path: p.str(), pattern: p.str() },
  varArgs: "opts",
  run: ({ path, pattern }, context, { args }) => {
    const options = args.flatMap((option) => {
      const words = shlexSplit(str(option));
      if (words.length > 1) {
        throw new InvocationError(
          "Passing multiple command line arguments in a single string is not supported, please pass the following " +
            `arguments separately: ${str(option)}`,
        );
      }
      return words;
    });
    const paths = globAny(expandUser(path));
    return callRunAll(context, ["grep", ...options, pattern, ...paths.length > 0 ? paths : [expandUser(path)]]);
  },
});

/** Whether a file that is there and can be read fulfils a test. */
function inFile(path: string, test: (path: string) => boolean): boolean {
  if (!lexists(expandUser(path))) return false;
  try {
    return test(expandUser(path));
  } catch (error) {
    // As in Salt, an error of the system is a no.
    if (error instanceof Error && systemError(error) !== undefined) return false;
    throw error;
  }
}

export const contains: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether a file contains a text.", "file.contains /etc/crontab 'mymaintenance.sh'"),
  permissions: "all",
  params: { path: p.str(), text: p.any() },
  run: ({ path, text: given }) => {
    const wanted = strip(str(given));
    return inFile(path, (file) => textWindows(file).some((window) => window.includes(wanted)));
  },
});

export const contains_regex: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return whether a line of a file matches a regular expression anywhere. Before that, the characters of `lchar` are removed from the start of each line.",
    "file.contains_regex /etc/crontab",
  ),
  permissions: "all",
  params: { path: p.str(), regex: p.str(), lchar: p.str("") },
  run: ({ path, regex, lchar }) => {
    const compiled = pythonRegex(regex, { search: true });
    return inFile(
      path,
      (file) => universalLines(readUtf8File(file)).some((line) => hasMatch(compiled, withoutLeading(line, lchar))),
    );
  },
});

export const contains_glob: ModuleFunction<JobContext> = fn({
  doc: describe("Return whether the contents of a file match a glob.", "file.contains_glob /etc/foobar '*cheese*'"),
  permissions: "all",
  params: { path: p.str(), glob_expr: p.str() },
  run: ({ path, glob_expr }) => {
    const matches = compileGlob(glob_expr);
    return inFile(path, (file) => textWindows(file).some(matches));
  },
});
