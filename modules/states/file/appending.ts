/**
 * State module `file`: lines at the end or the beginning of a file.
 * Source: Salt 3008.3 `salt/states/file.py` append, prepend.
 * @module
 */

import { argumentText, isFoundIn, textList } from "./common.ts";
import { missingFile, shownDiff } from "./edited.ts";
import { sourcesOf, TEMPLATE_DOC, TEMPLATE_PARAMS, type TemplateArguments, templateTexts } from "./sources.ts";
import { InvocationError } from "#lib/errors.ts";
import { keptLines, readUtf8File } from "#lib/host/filesystem/contents.ts";
import { dirName } from "#lib/os/paths.ts";
import { whitespaceRegex } from "#lib/host/filesystem/whitespace_regex.ts";
import { expandUser } from "#lib/os/disk_paths.ts";
import { isDirectory, isFile } from "#lib/os/file_kind.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn, type StateResult, stateResult } from "#lib/plugins/state_module.ts";
import { splitLines } from "#lib/text/split_lines.ts";
import { unifiedDiff } from "#lib/text/unified_diff.ts";
import { map, truthy, type Value } from "#lib/values/value.ts";

const DOC = `name
    The path of the file. A missing file is created.

text
    A text, or a list of them. Texts that the file already contains are not added again.

makedirs : False
    Whether missing directories are made.

${TEMPLATE_DOC}

show_changes : True
    Whether the changes show the diff.`;

interface Given extends TemplateArguments {
  readonly text: Value;
  readonly makedirs: boolean;
}

/** The texts to put in, once the file is there; or the result of a state that ends before. */
async function textsFor(
  name: string,
  { text, makedirs, ...templates }: Given,
  context: StateContext,
): Promise<string[] | StateResult> {
  const chosen = sourcesOf(templates);
  if ("problem" in chosen) return failState(name, chosen.problem);
  if (makedirs && !context.test && await madeAbove(name, context) === "a file") {
    const above = dirName(name);
    return failState(
      name,
      `The following files will be changed:\n${above}: directory - new\n`,
      map({ [above]: { directory: "new" } }),
    );
  }
  const problem = missingFile(name);
  if (problem !== undefined) {
    const touched = stateResult(await context.state("file.touch", map({ name, makedirs })));
    if (context.test) return touched;
    if (missingFile(name) !== undefined) return failState(name, problem);
  }
  if (chosen.sources.length > 0) return await templateTexts(chosen.sources, templates, context);
  return textList(text, argumentText(context));
}

/**
 * Makes the directory of a file.
 * @returns What is there now in its place.
 */
async function madeAbove(name: string, context: StateContext): Promise<"a directory" | "a file"> {
  const above = dirName(name);
  if (!isDirectory(above)) await context.call("file.makedirs", [name]);
  return isFile(above) ? "a file" : "a directory";
}

/**
 * The lines of the texts that the file lacks.
 * @throws {InvocationError} For a binary file.
 */
async function missingLines(
  name: string,
  { texts, regexOf }: { readonly texts: readonly string[]; readonly regexOf: (text: string) => string },
  context: StateContext,
): Promise<string[]> {
  const missing: string[] = [];
  for (const text of texts) if (!await isFoundIn(name, regexOf(text), context)) missing.push(...splitLines(text));
  return missing;
}

export const append: ModuleFunction<StateContext> = stateFn({
  doc: `Append lines to a file, unless it contains them.

${DOC}

ignore_whitespace : True
    Whether a text with other white space counts as the same. Otherwise the text is used as a regular expression.`,
  params: {
    name: p.str(),
    text: p.any(null),
    makedirs: p.bool(false),
    ...TEMPLATE_PARAMS,
    ignore_whitespace: p.bool(true),
    show_changes: p.bool(true),
  },
  run: async ({ name: given, ignore_whitespace, show_changes, ...more }, context) => {
    if (given === "") return failState(given, "Must provide name to file.append");
    const name = expandUser(given);
    const texts = await textsFor(name, more, context);
    if (!Array.isArray(texts)) return texts;
    const old = splitLines(readUtf8File(name));
    let added: string[];
    try {
      const regexOf = ignore_whitespace ? whitespaceRegex : (text: string) => text;
      added = await missingLines(name, { texts, regexOf }, context);
    } catch (error) {
      if (!(error instanceof InvocationError)) throw error;
      return failState(name, "No text found to append. Nothing appended");
    }
    if (added.length === 0) return { ...startResult(name), comment: `File ${name} is in correct state` };
    if (!context.test) await context.call("file.append", [name], map({ args: added }));
    const now = context.test ? [...old, ...added] : splitLines(readUtf8File(name));
    const diff = unifiedDiff(old, now).join("\n");
    return {
      name,
      result: context.test ? null : true,
      comment: context.test ? `File ${name} is set to be updated` : `Appended ${added.length} lines`,
      changes: diff === "" ? new Map() : map({ diff: shownDiff(name, diff, show_changes) }),
    };
  },
});

export const prepend: ModuleFunction<StateContext> = stateFn({
  doc: `Insert lines at the beginning of a file, unless it contains them.

${DOC}

header
    Whether the lines must be the first ones of the file, not somewhere in it.`,
  params: {
    name: p.str(),
    text: p.any(null),
    makedirs: p.bool(false),
    ...TEMPLATE_PARAMS,
    header: p.any(null),
    show_changes: p.bool(true),
  },
  run: async ({ name: given, header, show_changes, ...more }, context) => {
    const name = expandUser(given);
    if (name === "") return failState(name, "Must provide name to file.prepend");
    const texts = await textsFor(name, more, context);
    if (!Array.isArray(texts)) return texts;
    const before = readUtf8File(name);
    const added = truthy(header)
      ? texts.flatMap((text) => splitLines(text))
      : await missingLines(name, { texts, regexOf: whitespaceRegex }, context);
    // Test mode does not look whether the header is there.
    const there = !context.test && truthy(header) && isHeader(added, before);
    if (added.length === 0 || there) return { ...startResult(name), comment: `File ${name} is in correct state` };
    if (!context.test) await context.call("file.prepend", [name, ...added]);
    const old = keptLines(before);
    const now = context.test ? [...added.map((line) => `${line}\n`), ...old] : keptLines(readUtf8File(name));
    return {
      name,
      result: context.test ? null : true,
      comment: context.test ? `File ${name} is set to be updated` : `Prepended ${added.length} lines`,
      changes: map({ diff: shownDiff(name, unifiedDiff(old, now).join(""), show_changes) }),
    };
  },
});

/** Whether a text begins with these lines. */
function isHeader(lines: readonly string[], text: string): boolean {
  const first = splitLines(text).slice(0, lines.length);
  return first.length === lines.length && first.every((line, i) => line === lines[i]);
}
