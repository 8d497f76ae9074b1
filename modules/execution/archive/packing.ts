/**
 * Execution module `archive`: packing and unpacking. tar, gzip and rar are the host's programs; ZIP archives are read
 * and written here. Its functions that tell what an archive has in it are in `listing.ts`. Source: the functions of
 * Salt 3008.3 `salt/modules/archive.py`.
 * @module
 */

import { callRunAll, runTool } from "#modules/execution/_file_host.ts";
import { writeZip, type ZipEntry } from "#lib/host/archives/zip_writing.ts";
import { extractMember } from "#lib/host/archives/zip_extracting.ts";
import { readZipDirectory, type ZipMember } from "#lib/host/archives/zip_directory.ts";
import { CommandError, InvocationError, messageOf } from "#lib/errors.ts";
import { globAny, walk } from "#lib/os/disk_paths.ts";
import { joinPath, relativePath } from "#lib/os/paths.ts";
import { needOneOf, needPrograms } from "#lib/programs/run_program.ts";
import { isDirectory, isFile, lexists } from "#lib/os/file_kind.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { shlexSplit } from "#lib/text/shlex.ts";
import { splitLines, splitWhitespace } from "#lib/text/split_lines.ts";
import { str, toNumber, truthy, type Value } from "#lib/values/value.ts";

const RUN = { template: p.str(null), runas: p.str(null) };

/**
 * Runs a program, and gives the lines that it wrote. `template` names what renders its words and its directory.
 * @throws {CommandNotFoundError} If there is none.
 */
async function lines(
  words: readonly string[],
  { context, cwd = null, template, runas }: {
    readonly context: JobContext;
    readonly cwd?: string | null;
    readonly template: string | null;
    readonly runas: string | null;
  },
): Promise<string[]> {
  needPrograms(words[0]);
  await mustBeEngine(template);
  const more = new Map<Value, Value>([["cwd", cwd], ["template", template], ["runas", runas]]);
  return splitLines((await runTool(context, words, { joined: true, more })).stdout);
}

/** @throws {CommandError} If there is no such engine for templates. */
async function mustBeEngine(template: string | null): Promise<void> {
  if (!template) return;
  const { isEngine } = await import("#modules/execution/_templates.ts");
  if (!isEngine(template)) {
    throw new CommandError(`Attempted to render file paths with unavailable engine ${template}`);
  }
}

/**
 * A path, rendered if there is an engine.
 * @throws {CommandError} If there is no such engine.
 * @throws {RenderError}
 */
async function renderedPath(path: string, engine: string | null, context: JobContext): Promise<string> {
  if (!engine) return path;
  const { renderNames } = await import("#modules/execution/_templates.ts");
  const saltenv = context.opts.saltenv ?? "base";
  const [rendered] = await renderNames([path], { engine, saltenv, variables: new Map() }, context);
  return rendered;
}

/** Sources as they are given, each rendered if there is an engine. */
async function renderedSources(sources: Value, engine: string | null, context: JobContext): Promise<Value> {
  if (!engine || sources === null) return sources;
  const renderSource = (source: Value) => renderedPath(str(source), engine, context);
  return Array.isArray(sources) ? await Promise.all(sources.map(renderSource)) : await renderSource(sources);
}

/** Sources as they are given, a list or text with commas, with globs made paths. */
function expandSources(sources: Value): string[] {
  if (sources === null) return [];
  const paths = Array.isArray(sources) ? sources.map(str) : str(sources).split(",").map((one) => one.trim());
  return paths.flatMap((source) => /[*?[]/.test(source) ? globAny(source) : [source]);
}

function namesOf(excludes: Value): string[] | undefined {
  if (excludes === null) return undefined;
  return Array.isArray(excludes) ? excludes.map(str) : str(excludes).split(",").map((one) => one.trim());
}

/** A list cut to 100 names, or to so many. */
function trimPaths(files: readonly string[], trim: Value): string[] {
  if (trim === false) return [...files];
  const max = trim === true ? 100 : toNumber(trim) ?? 100;
  return files.length > max ? [...files.slice(0, max), `List trimmed after ${max} files.`] : [...files];
}

export const tar: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Run `tar` with options, an archive and sources, which may be globs; `dest` is the directory to unpack into. Returns its lines of output.",
    "archive.tar cjvf /tmp/salt.tar.bz2 /tmp/file_1,/tmp/file_2",
    "archive.tar xf foo.tar dest=/target/directory",
  ),
  permissions: "all",
  params: { options: p.str(), tarfile: p.str(), sources: p.any(null), dest: p.str(null), cwd: p.str(null), ...RUN },
  run: ({ options, tarfile, sources, dest, cwd, template, runas }, context) => {
    if (options === "") throw new InvocationError("Tar options can not be empty");
    const words = splitWhitespace(options);
    return lines(["tar", ...words, tarfile, ...dest ? ["-C", dest] : [], ...expandSources(sources)], {
      context,
      cwd,
      template,
      runas,
    });
  },
});

/** `archive.gzip` and `archive.gunzip`. */
function compressor(
  program: string,
  { argument, does }: { readonly argument: "sourcefile" | "gzipfile"; readonly does: string },
) {
  return fn({
    doc: describe(
      `${does} a file with \`${program}\`, which replaces it. Returns the program's output by lines.`,
      `archive.${program} /tmp/sourcefile.txt`,
    ),
    permissions: "all",
    params: { [argument]: p.str(), ...RUN, options: p.str(null) },
    run: (bound, context) => {
      const given: { readonly [name: string]: unknown } = bound;
      const option = (name: string) => typeof given[name] === "string" && given[name] !== "" ? given[name] : null;
      const words = [program, ...[option("options"), option(argument)].filter((word) => word !== null)];
      return lines(words, { context, template: option("template"), runas: option("runas") });
    },
  });
}

export const gzip: ModuleFunction<JobContext> = compressor("gzip", { argument: "sourcefile", does: "Compress" });

export const gunzip: ModuleFunction<JobContext> = compressor("gunzip", { argument: "gzipfile", does: "Decompress" });

export const cmd_zip: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Pack files with the program `zip`, and return its output by lines.",
    "archive.cmd_zip /tmp/zipfile.zip /tmp/sourcefile1,/tmp/sourcefile2",
  ),
  permissions: "all",
  params: { zip_file: p.str(), sources: p.any(), template: p.str(null), cwd: p.str(null), runas: p.str(null) },
  run: ({ zip_file, sources, template, cwd, runas }, context) =>
    lines(["zip", "-r", zip_file, ...expandSources(sources)], { context, cwd, template, runas }),
});

export const zip: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Pack files and directories into a ZIP archive, and return the names in it. Relative sources need `cwd`. With `runas`, the program `zip` is used.\n" +
      "zip64=True: the archive may have files of more than 2 GiB, or more than 65,535 files.",
    "archive.zip /tmp/zipfile.zip /tmp/sourcefile1,/tmp/sourcefile2",
  ),
  permissions: "all",
  params: {
    zip_file: p.str(),
    sources: p.any(),
    template: p.str(null),
    cwd: p.str(null),
    runas: p.str(null),
    zip64: p.bool(false),
  },
  run: async ({ zip_file: givenFile, sources: given, template, cwd, runas, zip64 }, context) => {
    if (runas) return await lines(["zip", "-r", givenFile, ...expandSources(given)], { context, cwd, template, runas });
    const zip_file = await renderedPath(givenFile, template, context);
    const sources = expandSources(await renderedSources(given, template, context));
    if (!cwd && sources.some((source) => !source.startsWith("/"))) {
      throw new InvocationError("Relative paths require the 'cwd' parameter");
    }
    if (cwd && !cwd.startsWith("/")) throw new InvocationError("cwd must be absolute");
    const entries = sources.flatMap((source) => zipEntries(cwd ? joinPath(cwd, source) : source, cwd));
    try {
      await writeZip(zip_file, entries, { zip64 });
    } catch (error) {
      if (error instanceof Deno.errors.NotCapable) throw error;
      throw new CommandError(`Exception encountered creating zipfile: ${messageOf(error)}`);
    }
    return entries.map(({ name }) => name);
  },
});

function zipEntries(source: string, cwd: string | null): ZipEntry[] {
  if (!lexists(source)) return [];
  const root = (path: string) => cwd && path.startsWith(cwd) ? cwd : "/";
  if (!isDirectory(source)) return [{ path: source, name: relativePath(source, root(source)) }];
  return [...walk(source)].flatMap(({ path, files }) => {
    const name = relativePath(path, root(path));
    const members = files.filter((file) => isFile(joinPath(path, file)));
    return [
      { path, name: `${name}/` },
      ...members.map((file) => ({ path: joinPath(path, file), name: joinPath(name, file) })),
    ];
  });
}

const UNZIP = {
  zip_file: p.str(),
  dest: p.str(),
  excludes: p.any(null),
  options: p.str(null),
  ...RUN,
  trim_output: p.any(false),
  password: p.any(null),
};

interface UnzipArguments {
  readonly zip_file: string;
  readonly dest: string;
  readonly excludes: Value;
  readonly options: string | null;
  readonly template: string | null;
  readonly runas: string | null;
  readonly trim_output: Value;
  readonly password: Value;
}

async function runUnzip(given: UnzipArguments, context: JobContext): Promise<string[]> {
  needPrograms("unzip");
  await mustBeEngine(given.template);
  const excludes = namesOf(given.excludes);
  const words = [
    "unzip",
    ...truthy(given.password) ? ["-P", str(given.password)] : [],
    ...given.options ? shlexSplit(given.options) : [],
    given.zip_file,
    "-d",
    given.dest,
    ...excludes === undefined ? [] : ["-x", ...excludes],
  ];
  const level = truthy(given.password) ? "quiet" : "debug";
  const { template, runas } = given;
  const more = new Map<Value, Value>([["template", template], ["runas", runas], ["output_loglevel", level]]);
  const result = await callRunAll(context, words, { joined: true, more });
  const stdout = str(result.get("stdout") ?? "");
  if (result.get("retcode") !== 0) throw new CommandError(stdout);
  return trimPaths(splitLines(stdout), given.trim_output);
}

export const cmd_unzip: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Unpack a ZIP archive with the program `unzip`, and return its output by lines.",
    "archive.cmd_unzip /tmp/zipfile.zip /home/strongbad/ excludes=file_1,file_2",
  ),
  permissions: "all",
  params: UNZIP,
  run: (given, context) => runUnzip(given, context),
});

export const unzip: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Unpack a ZIP archive, and return the names in it. Nothing is written outside of `dest` or through a link. With `runas`, the program `unzip` is used. " +
      "`extract_perms` sets the modes that the archive keeps; `options` is ignored.",
    "archive.unzip /tmp/zipfile.zip /home/strongbad/ excludes=file_1,file_2",
  ),
  permissions: "all",
  params: { ...UNZIP, extract_perms: p.bool(true) },
  run: async (given, context) => {
    if (given.runas) return await runUnzip(given, context);
    const { template } = given;
    const archive = await renderedPath(given.zip_file, template, context);
    const dest = await renderedPath(given.dest, template, context);
    const excludes = namesOf(given.excludes) ?? [];
    const password = truthy(given.password) ? new TextEncoder().encode(str(given.password)) : undefined;
    try {
      const members = membersOf(archive).filter(({ name }) => !excludes.includes(name));
      for (const member of members) {
        context.signal.throwIfAborted();
        await extractMember(member, {
          archive,
          dest,
          password,
          modes: given.extract_perms,
        });
      }
      return trimPaths(members.map(({ name }) => name), given.trim_output);
    } catch (error) {
      if (error instanceof Deno.errors.NotCapable || context.signal.aborted) throw error;
      throw new CommandError(`Exception encountered unpacking zipfile: ${messageOf(error)}`);
    }
  },
});

/** @throws {CommandError} If there is no ZIP archive. */
function membersOf(path: string): ZipMember[] {
  const members = readZipDirectory(path);
  if (members === undefined) throw new CommandError("File is not a zip file");
  return members;
}

export const rar: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Pack files with the program `rar`, and return its output by lines.",
    "archive.rar /tmp/rarfile.rar /tmp/sourcefile1,/tmp/sourcefile2",
  ),
  permissions: "all",
  params: { rarfile: p.str(), sources: p.any(), template: p.str(null), cwd: p.str(null), runas: p.str(null) },
  run: ({ rarfile, sources, template, cwd, runas }, context) =>
    lines(["rar", "a", "-idp", rarfile, ...expandSources(sources)], { context, cwd, template, runas }),
});

export const unrar: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Unpack a RAR archive with `unrar` or `rar`, and return the program's output by lines.",
    "archive.unrar /tmp/rarfile.rar /home/strongbad/ excludes=file_1,file_2",
  ),
  permissions: "all",
  params: { rarfile: p.str(), dest: p.str(), excludes: p.any(null), ...RUN, trim_output: p.any(false) },
  run: async ({ rarfile, dest, excludes, template, runas, trim_output }, context) => {
    const program = needOneOf("unrar", "rar");
    const without = (namesOf(excludes) ?? []).flatMap((each) => ["-x", each]);
    return trimPaths(
      await lines([program, "x", "-idp", rarfile, ...without, dest], { context, template, runas }),
      trim_output,
    );
  },
});
