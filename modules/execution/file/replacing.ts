/**
 * The functions of the module `file` that look for a regular expression in files, and that replace what they find: with
 * other text, with a block, with a comment. The edits themselves are in `lib/host/filesystem`, as functions of texts.
 *
 * A backup is written before the file, and what is at its path is replaced, not followed: a link that another user
 * planted there leads root nowhere. Source: the functions of Salt 3008.3 `salt/modules/file.py`.
 * @module
 */

import { followForChange, inDirectoryOf } from "#lib/os/held_path.ts";
import { readForChange } from "#lib/os/new_files.ts";
import { fileHost } from "#modules/execution/_file_host.ts";
import { replaceBlock } from "#lib/host/filesystem/block_replacing.ts";
import {
  copyKeeping,
  decodeUtf8,
  detectEncoding,
  isBinaryFile,
  isText,
  overwriteFile,
  readUtf8File,
  replaceFile,
} from "#lib/host/filesystem/contents.ts";
import { expandUser, isLink, linkTarget, realPath } from "#lib/os/disk_paths.ts";
import { checkPermissions, readResult } from "#lib/host/filesystem/permission_check.ts";
import { fileStatus } from "#lib/host/filesystem/status.ts";
import { commentLines, replaceIn, type Replacing, searchIn } from "#lib/host/filesystem/text_replacing.ts";
import { CommandError, InvocationError } from "#lib/errors.ts";
import { systemReason } from "#lib/os/deno_texts.ts";
import { isFile, lexists } from "#lib/os/file_kind.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { encodeText, textDecoder } from "#lib/text/encoding.ts";
import { MULTILINE, regexFlags } from "#lib/regex/replace.ts";
import { unifiedDiff } from "#lib/text/unified_diff.ts";
import { byteText, textBytes } from "#lib/values/code_points.ts";
import { str, truthy, type Value } from "#lib/values/value.ts";

/** Gives a file that was written again what the old one had. */
async function restore(
  path: string,
  old: { user: Value; group: Value; mode: Value },
  context: JobContext,
): Promise<void> {
  await checkPermissions(readResult(path, null), { path, wanted: old, host: fileHost(context) });
}

const REPLACE = {
  path: p.str(),
  pattern: p.str(),
  repl: p.any(),
  count: p.int(0),
  flags: p.any(MULTILINE),
  bufsize: p.any(1),
  append_if_not_found: p.bool(false),
  prepend_if_not_found: p.bool(false),
  not_found_content: p.str(null),
  backup: p.any(".bak"),
  dry_run: p.bool(false),
  search_only: p.bool(false),
  show_changes: p.bool(true),
  ignore_if_missing: p.bool(false),
  preserve_inode: p.bool(true),
  backslash_literal: p.bool(false),
  encoding: p.str(null),
};

export const replace: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Replace the matches of a regular expression in a file; they may span lines with the flags of \`re\`. Returns the diff, or with
show_changes=False whether something changed; with search_only, whether something matches.

count
    How many matches to replace; 0 for all.

flags
    Flags of \`re\`: a number, a name or a list of names. Default: MULTILINE.

append_if_not_found, prepend_if_not_found, not_found_content
    What to put at the end or the start if nothing matches: \`not_found_content\`, or \`repl\`.

backup
    What is added to the name of the old file; False for none.

preserve_inode
    Write into the same file, for hard links; otherwise a new file replaces it atomically.

backslash_literal
    Take backslashes in \`repl\` literally.

encoding
    Read and write characters of this encoding; without it, bytes.

bufsize
    Ignored: the whole file is read.`,
    "file.replace /path/to/file pattern='=' repl=':'",
    "file.replace /path/to/file pattern=\"bind-address\\s*=\" repl='bind-address:'",
    "file.replace /etc/apache2/http.conf '#?LoadModule' 'LoadModule' flags='[IGNORECASE]'",
  ),
  permissions: "all",
  params: REPLACE,
  run: ({ path, ...request }, context) => replaceInFile(path, request, context),
});

type ReplaceRequest = Parameters<typeof replace.run>[0] & {
  readonly pattern: string;
  readonly repl: Value;
  readonly count: number;
  readonly flags: Value;
  readonly append_if_not_found: boolean;
  readonly prepend_if_not_found: boolean;
  readonly not_found_content: string | null;
  readonly backup: Value;
  readonly dry_run: boolean;
  readonly search_only: boolean;
  readonly show_changes: boolean;
  readonly ignore_if_missing: boolean;
  readonly preserve_inode: boolean;
  readonly backslash_literal: boolean;
  readonly encoding: string | null;
};

async function replaceInFile(given: string, request: ReplaceRequest, context: JobContext): Promise<Value> {
  const path = followForChange(expandUser(given), realPath);
  if (!lexists(path)) {
    if (request.ignore_if_missing) return false;
    throw new InvocationError(`File not found: ${path}`);
  }
  const { encoding, append_if_not_found: append, prepend_if_not_found: prepend } = request;
  if (encoding === null && !isText(path)) {
    throw new InvocationError(`Cannot perform string replacements on a binary file: ${path}`);
  }
  if (request.search_only && (append || prepend)) {
    throw new InvocationError("search_only cannot be used with append/prepend_if_not_found");
  }
  if (append && prepend) throw new InvocationError("Only one of append and prepend_if_not_found is permitted");
  const replacing: Replacing = {
    pattern: request.pattern,
    repl: str(request.repl),
    count: request.count,
    flags: regexFlags(request.flags),
    appendIfNotFound: append,
    prependIfNotFound: prepend,
    notFoundContent: request.not_found_content,
    backslashLiteral: request.backslash_literal,
  };
  const kind = encoding === null ? "bytes" : "text";
  const old = readAs(path, encoding);
  if (request.search_only) return searchIn(old, { ...replacing, kind });
  const { before, after, changed } = replaceIn(old, replacing, kind);
  if (changed && !request.dry_run) {
    const status = fileStatus(path);
    if (truthy(request.backup)) backUp(given, path, str(request.backup));
    const bytes = encoding === null ? textBytes(after.join("")) : encodeText(after.join(""), encoding);
    if (request.preserve_inode) overwriteFile(path, bytes);
    else replaceFile(path, bytes);
    await restore(path, status, context);
  }
  const [old_, now] = [before, after].map((lines) => encoding === null ? lines.map(shownBytes) : lines);
  const diff = unifiedDiff(old_, now).join("");
  if (request.show_changes) return diff;
  return changed && diff !== "";
}

/** The contents as characters, or as a text of bytes. */
function readAs(path: string, encoding: string | null): string {
  const bytes = readForChange(path);
  if (encoding === null) return byteText(bytes);
  const { text: decoded, exact } = textDecoder(encoding)(bytes);
  if (!exact) throw new CommandError(`Cannot read ${path}: it is not valid ${encoding}`);
  return decoded;
}

/** A text of bytes as it is shown: UTF-8, or Latin-1 if it is not that. */
function shownBytes(line: string): string {
  try {
    return decodeUtf8(textBytes(line), "");
  } catch {
    return line;
  }
}

/** Keeps the old file, and beside a link that led to it a link to that. */
function backUp(given: string, path: string, suffix: string): void {
  try {
    copyKeeping(path, path + suffix);
  } catch (error) {
    throw new CommandError(
      `Unable to move the temp file '${path}' to the backup file '${path + suffix}'. Exception: ${systemReason(error)}`,
    );
  }
  const target = linkTarget(expandUser(given));
  if (target === undefined) return;
  const link = expandUser(given) + suffix;
  inDirectoryOf(link, (directory, name) => {
    if (isLink(directory.at(name))) Deno.removeSync(directory.at(name));
    if (!lexists(directory.at(name))) Deno.symlinkSync(target + suffix, directory.at(name));
  });
}

export const search: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return whether a regular expression matches anywhere in a file. `flags` as for file.replace; `multiline` adds MULTILINE.",
    "file.search /etc/crontab 'mymaintenance.sh'",
  ),
  permissions: "all",
  params: {
    path: p.str(),
    pattern: p.str(),
    flags: p.any(MULTILINE),
    bufsize: p.any(1),
    ignore_if_missing: p.bool(false),
    multiline: p.bool(false),
  },
  run: ({ path, pattern, flags, ignore_if_missing, multiline }, context) =>
    replaceInFile(path, {
      pattern,
      repl: "",
      count: 0,
      flags: multiline ? regexFlags(flags) | MULTILINE : flags,
      append_if_not_found: false,
      prepend_if_not_found: false,
      not_found_content: null,
      backup: false,
      dry_run: true,
      search_only: true,
      show_changes: false,
      ignore_if_missing,
      preserve_inode: true,
      backslash_literal: false,
      encoding: null,
    }, context),
});

export const blockreplace: ModuleFunction<JobContext> = fn({
  doc: describe(
    `Replace the text between two lines with markers. Returns the diff, or with show_changes=False whether something changed.

content
    What is to be between the markers.

append_if_not_found, prepend_if_not_found, insert_before_match, insert_after_match
    Where the block goes if there is none: the end, the start, or the first line that a regular expression matches.

append_newline
    Put the end marker on a line of its own; None: if the content does not end with a line end.

backup
    What is added to the name of the old file; False for none.`,
    "file.blockreplace /etc/hosts '#-- start managed zone foobar : DO NOT EDIT --' " +
      "'#-- end managed zone foobar --' $'10.0.1.1 foo.foobar\\n10.0.1.2 bar.foobar' True",
  ),
  permissions: "all",
  params: {
    path: p.str(),
    marker_start: p.str("#-- start managed zone --"),
    marker_end: p.str("#-- end managed zone --"),
    content: p.str(""),
    append_if_not_found: p.bool(false),
    prepend_if_not_found: p.bool(false),
    backup: p.any(".bak"),
    dry_run: p.bool(false),
    show_changes: p.bool(true),
    append_newline: p.any(false),
    insert_before_match: p.any(null),
    insert_after_match: p.any(null),
  },
  run: async (given, context) => {
    const { insert_before_match: beforeMatch, insert_after_match: afterMatch, content } = given;
    const places = [given.append_if_not_found, given.prepend_if_not_found, truthy(beforeMatch), truthy(afterMatch)];
    if (places.filter(Boolean).length > 1) {
      throw new InvocationError(
        "Only one of append_if_not_found, prepend_if_not_found, insert_before_match, and insert_after_match is permitted",
      );
    }
    const path = followForChange(expandUser(given.path), realPath);
    if (!lexists(path)) throw new InvocationError(`File not found: ${expandUser(given.path)}`);
    const encoding = detectEncoding(path);
    if (isBinaryFile(path) && encoding === undefined) {
      throw new InvocationError(`Cannot perform string replacements on a binary file: ${expandUser(given.path)}`);
    }
    const match = truthy(beforeMatch) ? beforeMatch : afterMatch;
    if (truthy(match) && typeof match !== "string") {
      throw new CommandError(`RegEx expected in insert_${truthy(beforeMatch) ? "before" : "after"}_match parameter.`);
    }
    const old = readAs(path, encoding ?? "utf-8");
    const { before, after } = replaceBlock(old, {
      markerStart: given.marker_start,
      markerEnd: given.marker_end,
      content,
      appendNewline: given.append_newline === null ? !content.endsWith("\n") : truthy(given.append_newline),
      absent: typeof match === "string" && match !== ""
        ? { put: truthy(beforeMatch) ? "before match" : "after match", regex: match }
        : { put: given.prepend_if_not_found ? "at start" : given.append_if_not_found ? "at end" : "nowhere" },
    });
    const diff = unifiedDiff(before, after).join("");
    if (diff !== "" && !given.dry_run) {
      const status = fileStatus(path);
      if (given.backup !== false) copyKeeping(path, path + str(given.backup), { owner: true });
      replaceFile(path, encodeText(after.join(""), encoding ?? "utf-8"));
      await restore(path, status, context);
    }
    return given.show_changes ? diff : diff !== "";
  },
});

const COMMENT = { path: p.str(), regex: p.str(), char: p.str("#"), backup: p.any(".bak") };

async function commentInFile(
  { path: given, regex, char, backup, cmnt }: {
    readonly path: string;
    readonly regex: string;
    readonly char: string;
    readonly backup: Value;
    readonly cmnt: boolean;
  },
  context: JobContext,
): Promise<Value> {
  const path = followForChange(expandUser(given), realPath);
  if (!isFile(path)) throw new InvocationError(`File not found: ${path}`);
  if (!isText(path)) throw new InvocationError(`Cannot perform string replacements on a binary file: ${path}`);
  const commented = commentLines(readUtf8File(path), { regex, char, comment: cmnt });
  if (commented === undefined) return false;
  const status = fileStatus(path);
  if (truthy(backup)) copyKeeping(path, path + str(backup), { owner: true });
  replaceFile(path, new TextEncoder().encode(commented.text));
  await restore(path, status, context);
  return unifiedDiff(commented.before, commented.after).join("");
}

export const comment_line: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Insert `char` before the lines whose start matches a regular expression; with cmnt=False, remove it from such comments. Returns the " +
      "diff of the lines that changed, or False. `backup` is added to the name of the old file; False keeps none.",
    "file.comment_line /etc/modules pcspkr",
    "file.comment_line /etc/modules pcspkr '#' cmnt=False",
  ),
  permissions: "all",
  params: { path: p.str(), regex: p.str(), char: p.str("#"), cmnt: p.bool(true), backup: p.any(".bak") },
  run: (given, context) => commentInFile(given, context),
});

export const comment: ModuleFunction<JobContext> = fn({
  doc: describe("Comment lines out, as file.comment_line does.", "file.comment /etc/modules pcspkr"),
  permissions: "all",
  params: COMMENT,
  run: (given, context) => commentInFile({ ...given, cmnt: true }, context),
});

export const uncomment: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Uncomment lines, as file.comment_line cmnt=False does.",
    "file.uncomment /etc/hosts.deny 'ALL: PARANOID'",
  ),
  permissions: "all",
  params: COMMENT,
  run: (given, context) => commentInFile({ ...given, cmnt: false }, context),
});
