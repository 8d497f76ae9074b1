/**
 * The minion as the functions of the module `file` need it, from the context of their job.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { isMap, map, str, toNumber, type Value, type ValueMap } from "#lib/values/value.ts";
import type { FileHost, ToolOptions, ToolResult } from "#lib/host/filesystem/file_host.ts";
import type { FileClient } from "#lib/files/client/file_client.ts";
import type { SourceFiles } from "#lib/host/filesystem/source_files.ts";
import type { JobContext } from "#lib/plugins/job_context.ts";
import type { Rest } from "#lib/plugins/module.ts";
import { asList, mapOrEmpty } from "#lib/values/shape.ts";

/**
 * Runs a program by `cmd.run_all`, as Salt's modules do: its return code becomes the job's, unless the caller excludes
 * that.
 */
export async function runTool(
  context: JobContext,
  words: readonly string[],
  options: ToolOptions & { readonly more?: ValueMap } = {},
): Promise<ToolResult> {
  const result = await callRunAll(context, words, options);
  const text = (key: string) => str(result.get(key) ?? "");
  return { retcode: toNumber(result.get("retcode")) ?? 0, stdout: text("stdout"), stderr: text("stderr") };
}

/** What a program writes to its standard output and its standard error, by {@linkcode runTool}. */
export async function runForText(context: JobContext, words: readonly string[]): Promise<string> {
  return (await runTool(context, words, { joined: true })).stdout;
}

/** The map that a function returns; an empty one if it returns something else. */
export async function callForMap(
  context: JobContext,
  name: string,
  args: Value[],
  kwargs: ValueMap = new Map(),
): Promise<ValueMap> {
  return mapOrEmpty(await context.call(name, args, kwargs));
}

/** The map that `cmd.run_all` gives: `pid`, `retcode`, `stdout`, `stderr`. */
export async function callRunAll(
  context: JobContext,
  words: readonly string[],
  { ignoreRetcode = false, joined = false, more = new Map() }: ToolOptions & { readonly more?: ValueMap } = {},
): Promise<ValueMap> {
  const kwargs: ValueMap = new Map<Value, Value>([
    ["python_shell", false],
    ["ignore_retcode", ignoreRetcode],
    ["redirect_stderr", joined],
    ...more,
  ]);
  return await callForMap(context, "cmd.run_all", [[...words]], kwargs);
}

/** The minion's functions for `lib/host/filesystem`. */
export function fileHost(context: JobContext): FileHost {
  return {
    test: context.opts.test === true,
    cachedir: context.opts.cachedir,
    hashType: context.opts.hash_type,
    files: sourceFiles(context),
    option: (name) => context.call("config.option", [name]),
    run: (words, options) => runTool(context, words, options),
    addFileContext: (path, { user = null, type = null, range = null }) =>
      addFileContext(path, map({ sel_type: type, sel_user: user, sel_level: range }), context),
  };
}

async function addFileContext(path: string, kwargs: ValueMap, context: JobContext): Promise<void> {
  const added = await context.call("selinux.fcontext_add_policy", [path], kwargs);
  if (isMap(added) && added.get("retcode") === 0) return;
  throw new CommandError(`Problem setting fcontext: ${str(added)}`);
}

/** The files of other places, by the job's file client, which is loaded when one is needed. */
export function sourceFiles(context: JobContext): SourceFiles {
  let opened: Promise<FileClient> | undefined;
  const client = () => opened ??= openClient(context);
  return {
    cacheFile: async (url, saltenv, options) => (await client()).cacheFile(url, saltenv, options),
    cachedFile: async (url, saltenv) => (await client()).cachedFile(url, saltenv),
    hashFile: async (url, saltenv) => (await client()).hashFile(url, saltenv),
    statFile: async (url, saltenv) => (await client()).statFile(url, saltenv),
    exists: async (url, saltenv) => (await client()).exists(url, saltenv),
  };
}

/** The module that opens file clients, once it is loaded: to import it again takes its time, too. */
let opening: typeof import("#lib/files/client/open.ts") | undefined;

async function openClient(context: JobContext): Promise<FileClient> {
  opening ??= await import("#lib/files/client/open.ts");
  return opening.fileClientOf(context);
}

/** The lines for `file.append` and similar functions: positional, or in the keyword `args`. */
export function takeLines({ args, kwargs }: Rest): Value[] {
  const given = kwargs.get("args");
  if (given === undefined) return args;
  return asList(given);
}
