/**
 * The functions of the module `file` that change the contents of a file by lines, at its ends, at a place, by `sed` and
 * by `patch`. Those by regular expressions are in `replacing.ts`. The edits themselves are in `lib/host/filesystem`, as
 * functions of texts. Source: the functions of Salt 3008.3 `salt/modules/file.py`.
 * @module
 */

import { followForChange } from "#lib/os/held_path.ts";
import { openThere, readForChange } from "#lib/os/new_files.ts";
import { callRunAll, runTool, takeLines } from "#modules/execution/_file_host.ts";
import { copyKeeping, keptLines, overwriteFile, readUtf8File, replaceFile } from "#lib/host/filesystem/contents.ts";
import { editLine, lineMode } from "#lib/host/filesystem/line_editing.ts";
import { expandUser, realPath } from "#lib/os/disk_paths.ts";
import { replaceByPsed as psedText, sedEscape } from "#lib/host/filesystem/text_replacing.ts";
import { CommandError } from "#lib/errors.ts";
import { which } from "#lib/programs/which.ts";
import { isDirectory, isFile, lexists } from "#lib/os/file_kind.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { shlexSplit } from "#lib/text/shlex.ts";
import { strftime } from "#lib/text/strftime.ts";
import { unifiedDiff } from "#lib/text/unified_diff.ts";
import { bytesOf } from "#lib/values/shape.ts";
import { str, truthy, type Value } from "#lib/values/value.ts";

export const line: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Edit one line of a file. Returns the diff, or with show_changes=False whether the file changed.

mode
    insert (at \`location\` start or end, or \`before\` or \`after\` a line), ensure (there, unless it is there), delete and replace (the lines that
    \`match\` names, by default \`content\`).

before, after, match
    Regular expressions, or parts of the line.

backup
    Keep the old file under its name with the time.

quiet
    Return False if there is no such file; otherwise that is an error.

indent
    Give the line the indentation of its neighbour.`,
    'file.line /etc/nsswitch.conf "networks:\\tfiles dns" after="hosts:.*?" mode=\'ensure\'',
  ),
  permissions: "all",
  params: {
    path: p.str(),
    content: p.str(null),
    match: p.str(null),
    mode: p.str(null),
    location: p.str(null),
    before: p.str(null),
    after: p.str(null),
    show_changes: p.bool(true),
    backup: p.bool(false),
    quiet: p.bool(false),
    indent: p.bool(true),
  },
  run: ({ path, show_changes, backup, quiet, mode, ...edit }, context) => {
    const real = followForChange(expandUser(path), realPath);
    if (!isFile(real)) {
      if (quiet) return false;
      throw new CommandError(`File "${real}" does not exists or is not a file.`);
    }
    const old = readUtf8File(real);
    const kind = lineMode(mode);
    if (old === "" && (kind === "delete" || kind === "replace")) {
      context.log("warning", `Cannot find text to ${kind}. File '${real}' is empty.`);
    }
    const lines = editLine(old, { ...edit, mode: kind });
    const now = lines.join("");
    if (now === old) return false;
    const test = context.opts.test === true;
    if (backup && !test) copyKeeping(real, `${real}.${strftime(new Date(), "%Y-%m-%d-%H-%M-%S")}`);
    const diff = show_changes ? unifiedDiff(keptLines(old), lines).join("") : "";
    if (!test) replaceFile(real, new TextEncoder().encode(now));
    return diff === "" ? true : diff;
  },
});

export const append: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Append lines to an existing file. If its last line has no line end, one is added first.",
    'file.append /etc/motd "With all thine offerings thou shalt offer salt."',
    "file.append /etc/motd args='cheese=spam'",
  ),
  permissions: "all",
  params: { path: p.str() },
  varArgs: "args",
  varKwargs: "kwargs",
  run: ({ path }, _context, rest) => {
    const lines = takeLines(rest);
    using file = openThere(expandUser(path), { read: true, write: true });
    const { size } = file.statSync();
    const last = new Uint8Array(1);
    if (size > 0) {
      file.seekSync(-1, Deno.SeekMode.End);
      file.readSync(last);
    }
    const start = size > 0 && last[0] !== 0x0a ? "\n" : "";
    const bytes = new TextEncoder().encode(start + lines.map((each) => `${str(each)}\n`).join(""));
    file.seekSync(0, Deno.SeekMode.End);
    for (let at = 0; at < bytes.length;) at += file.writeSync(bytes.subarray(at));
    return `Wrote ${lines.length} lines to "${expandUser(path)}"`;
  },
});

export const prepend: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Insert lines at the start of a file, which is created if it does not exist.",
    'file.prepend /etc/motd "With all thine offerings thou shalt offer salt."',
  ),
  permissions: "all",
  params: { path: p.str() },
  varArgs: "args",
  varKwargs: "kwargs",
  run: ({ path }, _context, rest) => {
    const lines = takeLines(rest), real = followForChange(expandUser(path), realPath);
    const old = isFile(real) ? readForChange(real) : new Uint8Array();
    const added = new TextEncoder().encode(lines.map((each) => `${str(each)}\n`).join(""));
    const all = new Uint8Array(added.length + old.length);
    all.set(added);
    all.set(old, added.length);
    replaceFile(real, all);
    return `Prepended ${lines.length} lines to "${expandUser(path)}"`;
  },
});

export const write: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Replace the contents of a file by these lines.",
    'file.write /etc/motd "With all thine offerings thou shalt offer salt."',
  ),
  permissions: "all",
  params: { path: p.str() },
  varArgs: "args",
  varKwargs: "kwargs",
  run: ({ path }, _context, rest) => {
    const lines = takeLines(rest);
    overwriteFile(expandUser(path), new TextEncoder().encode(lines.map((each) => `${str(each)}\n`).join("")));
    return `Wrote ${lines.length} lines to "${expandUser(path)}"`;
  },
});

export const sed: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Replace text in a file with `sed`. `before` and `after` may have no newline; slashes and quotes in them are escaped; with escape_all, " +
      "all special characters of expressions too. `limit` chooses lines, negate_match the others. False if there is no such file. file.replace is better.",
    "file.sed /etc/httpd/httpd.conf 'LogLevel warn' 'LogLevel info'",
  ),
  permissions: "all",
  params: {
    path: p.str(),
    before: p.any(),
    after: p.any(),
    limit: p.str(""),
    backup: p.any(".bak"),
    options: p.str("-r -e"),
    flags: p.str("g"),
    escape_all: p.bool(false),
    negate_match: p.bool(false),
  },
  run: (given, context) => {
    const path = expandUser(given.path);
    if (!lexists(path)) return false;
    const escape = (value: Value) => sedEscape(str(value), given.escape_all);
    const limit = escape(given.limit);
    const command = `${limit === "" ? "" : `/${limit}/ `}${given.negate_match ? "!" : ""}s/${escape(given.before)}/` +
      `${escape(given.after)}/${given.flags}`;
    const inPlace = truthy(given.backup) ? `-i${str(given.backup)}` : "-i";
    return callRunAll(context, ["sed", inPlace, ...shlexSplit(given.options), command, path]);
  },
});

export const sed_contains: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return whether `sed` finds a text in a file. file.search is better.",
    "file.sed_contains /etc/crontab 'mymaintenance.sh'",
  ),
  permissions: "all",
  params: { path: p.str(), text: p.any(), limit: p.any(""), flags: p.str("g") },
  run: async ({ path: given, text: wanted, limit, flags }, context) => {
    const path = expandUser(given);
    if (!lexists(path)) return false;
    const lines = sedEscape(str(limit), false);
    const command = `${lines === "" ? "" : `/${lines}/ `}s/${sedEscape(str(wanted), false)}/$/p${flags}`;
    const { stdout } = await runTool(context, ["sed", "-n", "-r", "-e", command, path], { joined: true });
    return stdout !== "";
  },
});

export const psed: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Replace text in a file by Python's expressions. `flags` are letters of `re`'s flags and g for all matches; with `limit`, only the text " +
      "after its matches is kept and edited; `multi` edits line by line. `backup` is added to the name of the old file. file.replace is better.",
    "file.psed /etc/httpd/httpd.conf 'LogLevel warn' 'LogLevel info'",
  ),
  permissions: "all",
  params: {
    path: p.str(),
    before: p.any(),
    after: p.any(),
    limit: p.str(""),
    backup: p.str(".bak"),
    flags: p.str("gMS"),
    escape_all: p.bool(false),
    multi: p.bool(false),
  },
  run: ({ path: given, before, after, limit, backup, flags, escape_all, multi }) => {
    const path = followForChange(expandUser(given), realPath);
    const edit = {
      before: sedEscape(str(before), escape_all),
      after: str(after),
      limit: sedEscape(limit, escape_all),
      flags,
    };
    const old = readUtf8File(path);
    const now = multi ? keptLines(old).map((each) => psedText(each, edit)).join("") : psedText(old, edit);
    copyKeeping(path, path + backup);
    overwriteFile(path, new TextEncoder().encode(now));
    return null;
  },
});

export const patch: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Apply a patch to a file or a directory with the program `patch`. Returns `retcode`, `stdout` and `stderr`. With dry_run, nothing is changed.",
    "file.patch /opt/file.txt /tmp/file.txt.patch",
    "file.patch /opt /tmp/many.patch options=-p1",
  ),
  permissions: "all",
  params: { originalfile: p.str(), patchfile: p.str(), options: p.any(""), dry_run: p.bool(false) },
  run: ({ originalfile, patchfile, options, dry_run }, context) => {
    const program = which("patch");
    if (program === undefined) {
      throw new CommandError("patch executable not found. Is the distribution's patch package installed?");
    }
    const given = Array.isArray(options) ? options.map(str) : shlexSplit(str(options));
    const words = [program, ...given, ...dry_run ? ["--dry-run"] : []];
    if (!words.includes("-N") && !words.includes("--forward")) words.push("--forward");
    if (!words.some((word) => word === "-r" || word.startsWith("-r ") || word.startsWith("--reject-file"))) {
      words.push("--reject-file=-");
    }
    words.push("-i", patchfile);
    if (isDirectory(originalfile)) {
      words.push("-d", originalfile);
      if (!words.some((word) => word.startsWith("-p") || word.startsWith("--strip="))) words.push("--strip=0");
    } else {
      words.push(originalfile);
    }
    return callRunAll(context, words);
  },
});

export const seek_write: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Write data into a file at `offset`, and return the number of bytes.",
    "file.seek_write /path/to/file 'some data' 4096",
  ),
  permissions: "all",
  params: { path: p.str(), data: p.any(), offset: p.int() },
  run: ({ path, data, offset }) => {
    using file = openThere(expandUser(path), { write: true });
    file.seekSync(offset, Deno.SeekMode.Start);
    const bytes = bytesOf(data);
    const count = file.writeSync(bytes);
    file.syncSync();
    return count;
  },
});

export const truncate: ModuleFunction<JobContext> = fn({
  doc: describe("Set the length of a file: it is cut, or filled with zeros.", "file.truncate /path/to/file 512"),
  permissions: "all",
  params: { path: p.str(), length: p.int() },
  run: ({ path, length }) => {
    using file = openThere(expandUser(path), { read: true, write: true });
    file.truncateSync(length);
    return null;
  },
});
