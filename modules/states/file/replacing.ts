/**
 * State module `file`: edits of lines and blocks, for which the execution module `file` has a function each.
 * Source: Salt 3008.3 `salt/states/file.py` line, replace, blockreplace, comment, uncomment.
 * @module
 */

import { linesWithEnds } from "#lib/text/split_lines.ts";
import { accumulators } from "./accumulators.ts";
import { isFoundIn } from "./common.ts";
import { editResult, missingFile, refusedFile, shownDiff } from "./edited.ts";
import { sourcesOf, TEMPLATE_DOC, TEMPLATE_PARAMS, templateTexts } from "./sources.ts";
import { CommandError, InvocationError } from "#lib/errors.ts";
import { keptLines, readUtf8File } from "#lib/host/filesystem/contents.ts";
import { systemReason } from "#lib/os/deno_texts.ts";
import { expandUser } from "#lib/os/disk_paths.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn, type StateResult } from "#lib/plugins/state_module.ts";
import { unifiedDiff } from "#lib/text/unified_diff.ts";
import { listOrEmpty } from "#lib/values/shape.ts";
import { map, str, type Value } from "#lib/values/value.ts";

export const line: ModuleFunction<StateContext> = stateFn({
  doc: `Edit one line of a file.

name
    The path of the file.

content
    The line.

match
    The line that is replaced or deleted: a part of it, or a regular expression. Default: \`content\`.

mode
    ensure (the line exists, at the place given by \`before\` and \`after\`), replace, delete or insert.

location
    Where a line is inserted: start or end.

before, after
    The lines around it: parts of them, or regular expressions.

show_changes : True
    Whether the changes show the diff.

backup : False
    Whether the old file is kept under its name with the time.

quiet : False
    Whether a missing file is no error.

indent : True
    Whether the line gets the indentation of its neighbour.

create : False
    Whether a missing file is made, empty.

user, group, file_mode
    The owner, group and mode of the file.`,
  params: {
    name: p.str(),
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
    create: p.bool(false),
    user: p.any(null),
    group: p.any(null),
    file_mode: p.any(null),
  },
  run: async ({ name: given, mode: givenMode, create, user, group, file_mode, ...edit }, context) => {
    const name = expandUser(given);
    if (name === "") return failState(name, "Must provide name to file.line");
    await context.state("file.managed", map({ name, create, user, group, mode: file_mode, replace: false }));
    const problem = missingFile(name);
    if (problem !== undefined) return failState(name, problem);
    if (givenMode === null) return failState(name, "Mode was not defined. How to process the file?");
    const mode = givenMode.toLowerCase();
    if (mode !== "delete" && edit.content === null) {
      return failState(name, "Content can only be empty if mode is ['delete']");
    }
    const { content, ...more } = edit;
    const changed = await context.call("file.line", [name, content], map({ ...more, mode }));
    return editResult(name, changed, "Changes would be made", context);
  },
});

export const replace: ModuleFunction<StateContext> = stateFn({
  doc: `Replace the matches of a regular expression in a file.

name
    The path of the file.

pattern, repl
    The regular expression, and the replacement of its matches.

count : 0
    How many matches are replaced; 0: all.

flags : 8
    Flags of \`re\`: a number, a name or a list of names. Default: MULTILINE.

bufsize
    Accepted without effect.

append_if_not_found, prepend_if_not_found, not_found_content
    What is put at the end or the beginning if nothing matches: \`not_found_content\`, or \`repl\`.

backup : .bak
    What is added to the name of the old file; False: it is not kept.

show_changes : True
    Whether the changes show the diff.

ignore_if_missing : False
    Whether a missing file is no error.

backslash_literal : False
    Whether backslashes in \`repl\` are literal.

encoding
    The encoding of the file. Default: it is edited as bytes.`,
  params: {
    name: p.str(),
    pattern: p.str(),
    repl: p.any(),
    count: p.int(0),
    flags: p.any(8),
    bufsize: p.any(1),
    append_if_not_found: p.bool(false),
    prepend_if_not_found: p.bool(false),
    not_found_content: p.str(null),
    backup: p.any(".bak"),
    show_changes: p.bool(true),
    ignore_if_missing: p.bool(false),
    backslash_literal: p.bool(false),
    encoding: p.str(null),
  },
  run: async ({ name: given, pattern, repl, ...more }, context) => {
    const name = expandUser(given);
    const refused = refusedFile(name, "file.replace");
    if (refused !== undefined) {
      const missing = str(toText(refused)).includes("file not found");
      return more.ignore_if_missing && missing
        ? { ...startResult(name), comment: "No changes needed to be made" }
        : refused;
    }
    const changed = await context.call("file.replace", [name, pattern, repl], map({ ...more, dry_run: context.test }));
    return editResult(name, changed, "Changes would have been made", context);
  },
});

function toText({ comment }: StateResult): string {
  return typeof comment === "string" ? comment : comment.join("\n");
}

export const blockreplace: ModuleFunction<StateContext> = stateFn({
  doc: `Replace the text between two lines of a file.

name
    The path of the file.

marker_start, marker_end
    The lines, or parts of them.

content
    The text between them. Texts of file.accumulated for this file follow it, then rendered sources.

${TEMPLATE_DOC}

append_if_not_found, prepend_if_not_found, insert_before_match, insert_after_match
    Where the block goes if there is none: the end, the beginning, or the first line that a regular expression matches.

backup : .bak
    What is added to the name of the old file; False: it is not kept.

show_changes : True
    Whether the changes show the diff.

append_newline
    Whether the end marker is put on a line of its own. Default: if the content does not end with a line end.`,
  params: {
    name: p.str(),
    marker_start: p.str("#-- start managed zone --"),
    marker_end: p.str("#-- end managed zone --"),
    ...TEMPLATE_PARAMS,
    content: p.str(""),
    append_if_not_found: p.bool(false),
    prepend_if_not_found: p.bool(false),
    backup: p.any(".bak"),
    show_changes: p.bool(true),
    append_newline: p.any(null),
    insert_before_match: p.any(null),
    insert_after_match: p.any(null),
  },
  run: async (
    {
      name: given,
      source,
      source_hash,
      template,
      sources,
      source_hashes,
      defaults,
      context: variables,
      content,
      marker_start,
      marker_end,
      ...more
    },
    context,
  ) => {
    const name = expandUser(given);
    if (name === "") return failState(name, "Must provide name to file.blockreplace");
    const templates = { source, source_hash, template, sources, source_hashes, defaults, context: variables };
    const chosen = sourcesOf(templates);
    const problem = "problem" in chosen ? chosen.problem : missingFile(name);
    if (problem !== undefined || "problem" in chosen) return failState(name, problem ?? "");
    const rendered = await templateTexts(chosen.sources, templates, context);
    if (!Array.isArray(rendered)) return rendered;
    const gathered = [...content === "" ? [] : [content], ...gatheredTexts(name, context)].join("\n");
    const kwargs = map({ ...more, content: gathered + rendered.join(""), dry_run: context.test });
    try {
      const changed = await context.call("file.blockreplace", [name, marker_start, marker_end], kwargs);
      return editResult(name, changed, "Changes would be made", context);
    } catch (error) {
      if (!(error instanceof CommandError) && !(error instanceof InvocationError)) throw error;
      const reason = `Encountered error managing block: ${systemReason(error)}. See the log for details.`;
      return failState(name, reason);
    }
  },
});

/** The texts that file.accumulated has gathered for a file: those for this state, or all if none is. */
function gatheredTexts(name: string, context: StateContext): string[] {
  const { texts, dependents } = accumulators(context);
  const id = context.low.get("__id__") ?? null;
  const all = [...texts.get(name) ?? []];
  const mine = all.filter(([key]) => dependents.get(name)?.get(str(key))?.includes(id));
  return (mine.length === 0 ? all : mine).flatMap(([, lines]) => listOrEmpty(lines).map(str));
}

/** How lines are commented out, or made lines again. */
interface Commenting {
  readonly name: string;
  readonly regex: string;
  readonly char: string;
  readonly cmnt: boolean;
  readonly backup: Value;
  /** What matches a line as it is to be. */
  readonly done: string;
  readonly word: "Commented" | "Uncommented";
}

async function setComment(
  { name, regex, char, cmnt, backup, done, word }: Commenting,
  context: StateContext,
): Promise<StateResult> {
  if (context.test) {
    return { name, result: null, comment: `File ${name} is set to be updated`, changes: map({ [name]: "updated" }) };
  }
  const linesOf = cmnt ? keptLines : linesWithEnds;
  const old = linesOf(readUtf8File(name));
  await context.call("file.comment_line", [name, regex, char, cmnt, backup]);
  const diff = unifiedDiff(old, linesOf(readUtf8File(name))).join("");
  const result = await isFoundIn(name, done, context);
  return {
    name,
    result,
    comment: result ? `${word} lines successfully` : `Expected ${word.toLowerCase()} lines not found`,
    changes: diff === "" ? new Map() : map({ diff: shownDiff(name, diff) }),
  };
}

export const comment: ModuleFunction<StateContext> = stateFn({
  doc: `Comment lines out.

name
    The path of the file.

regex
    Matches the lines from their start.

char : #
    The comment character to insert.

backup : .bak
    What is added to the name of the old file; False: it is not kept.

ignore_missing : False
    Whether it is no error that no line matches.`,
  params: { name: p.str(), regex: p.str(), char: p.str("#"), backup: p.any(".bak"), ignore_missing: p.bool(false) },
  run: async ({ name: given, regex, char, backup, ignore_missing }, context) => {
    const name = expandUser(given);
    const refused = refusedFile(name, "file.comment");
    if (refused !== undefined) return refused;
    const inner = regex.replace(/^(\(\?[iLmsux]\))?\^?(.*?)\$?$/, "$2");
    const done = char + inner;
    if (await isFoundIn(name, `^(?!\\s*${char})\\s*${inner}`, context)) {
      return await setComment({ name, regex, char, cmnt: true, backup, done, word: "Commented" }, context);
    }
    if (await isFoundIn(name, done, context)) return { ...startResult(name), comment: "Pattern already commented" };
    if (!ignore_missing) return failState(name, `${inner}: Pattern not found`);
    return { ...startResult(name), comment: "Pattern not found and ignore_missing set to True" };
  },
});

export const uncomment: ModuleFunction<StateContext> = stateFn({
  doc: `Uncomment lines.

name
    The path of the file.

regex
    Matches the lines after the comment character.

char : #
    The comment character to remove.

backup : .bak
    What is added to the name of the old file; False: it is not kept.`,
  params: { name: p.str(), regex: p.str(), char: p.str("#"), backup: p.any(".bak") },
  run: async ({ name: given, regex, char, backup }, context) => {
    const name = expandUser(given);
    const refused = refusedFile(name, "file.uncomment");
    if (refused !== undefined) return refused;
    const inner = regex.replace(/^\^+/, "");
    const done = `^[ \t]*${inner}`;
    if (await isFoundIn(name, `${char}[ \t]*${inner}`, context)) {
      return await setComment({ name, regex, char, cmnt: false, backup, done, word: "Uncommented" }, context);
    }
    if (await isFoundIn(name, done, context)) return { ...startResult(name), comment: "Pattern already uncommented" };
    return failState(name, `${regex}: Pattern not found`);
  },
});
