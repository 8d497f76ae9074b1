/**
 * State module `archive`: archives that are extracted.
 *
 * Arguments are in `arguments.ts`, the source in `source.ts`, what differs from the archive in
 * `contents.ts`, the extraction in `extraction.ts`, owners in `ownership.ts`, and kept digests in
 * `checksums.ts`.
 * Source: Salt 3008.3 `salt/states/archive.py`.
 * @module
 */

import { rstripChars } from "#lib/values/python_text.ts";
import {
  directoryOf,
  explainUnlisted,
  EXTRACTED,
  EXTRACTED_DOC,
  type ExtractedArguments,
  formatOf,
  keepsSource,
  type Method,
  methodOf,
} from "./arguments.ts";
import { keepSum, storedSum } from "./checksums.ts";
import { type ArchiveContents, bullets, compareContents, findMemberPlace, parseArchiveContents } from "./contents.ts";
import { extractArchive, linesWanted } from "./extraction.ts";
import { type ArchiveOwners, enforceOwners, findOwners, ownerTroubles } from "./ownership.ts";
import * as sources from "./source.ts";
import { orRefused, Refused } from "#modules/states/_refused.ts";
import { saltenvOf } from "#modules/states/_saltenv.ts";
import type { ArchiveFormat } from "#lib/host/archives/archive_format.ts";
import { CommandError } from "#lib/errors.ts";
import { removeAny } from "#lib/host/filesystem/trees.ts";
import { pythonOsError } from "#lib/os/deno_texts.ts";
import { isDirectory, mayExist } from "#lib/os/file_kind.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import type { ModuleFunction } from "#lib/plugins/module.ts";
import { startResult, stateFn, type StateResult } from "#lib/plugins/state_module.ts";
import { hideCredentials } from "#lib/text/url_credentials.ts";
import { map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** An archive on this host, and where it is to go. */
interface Subject {
  readonly given: ExtractedArguments;
  readonly source: sources.ArchiveSource;
  /** Its URL or path as it is shown. */
  readonly shown: string;
  /** Its path on this host. */
  readonly archive: string;
  /** With a slash at its end. */
  readonly directory: string;
  readonly format: ArchiveFormat;
  readonly method: Method;
  readonly contents: ArchiveContents;
  readonly owners: ArchiveOwners;
  /** What `source_hash` says. */
  readonly sum: ValueMap;
  readonly context: StateContext;
}

/**
 * What is in the archive.
 * @throws {Refused} If it cannot be listed, or a password is missing.
 */
async function listContents(
  archive: string,
  { given, shown, format, method, context }: Pick<Subject, "given" | "shown" | "format" | "method" | "context">,
): Promise<ArchiveContents> {
  const { use_etag } = given;
  try {
    if (format === "zip" && !truthy(given.password)) {
      const callOptions = map({ clean: false, saltenv: saltenvOf(context), use_etag });
      const encrypted = await context.call("archive.is_encrypted", [archive], callOptions).catch((error) => {
        // It is not a ZIP archive, which the attempt to list it tells.
        if (error instanceof CommandError) return false;
        throw error;
      });
      if (encrypted === true) {
        throw new Refused(
          `Archive ${shown} is password-protected, but no password was specified. Please set the 'password' argument.`,
        );
      }
    }
    const callOptions = { archive_format: format, options: given.list_options, clean: false, verbose: true, use_etag };
    return parseArchiveContents(
      await context.call("archive.list", [archive], map({ ...callOptions, strip_components: method.strip ?? null })),
    );
  } catch (error) {
    if (error instanceof CommandError) throw new Refused(error.message + explainUnlisted(given, format));
    throw error;
  }
}

/** @throws {Refused} If the archive has more at its top than one directory. */
function refuseBomb(
  { top_level_dirs: dirs, top_level_files: files }: ArchiveContents,
  format: string,
  directory: string,
) {
  if (dirs.length <= 1 && files.length === 0) return;
  throw new Refused(
    "Archive does not have a single top-level directory. To allow this archive to be extracted, set 'enforce_toplevel' to False. To avoid " +
      `a '${format}-bomb' it may also be advisable to set a top-level directory by adding it to the 'name' value (for example, setting ` +
      `'name' to ${directory}some_dir instead of ${directory}).`,
  );
}

/** Whether the archive is to be extracted, and why. */
interface Need {
  readonly needed: boolean;
  /** Because something of it is not there. */
  readonly missing: boolean;
  /** Because its digest has changed. */
  readonly changed: boolean;
}

/**
 * Compares what is there, and with `force` removes what is in the way.
 * @throws {Refused} If something is in the way.
 */
function lookAround(
  { given, archive, directory, contents, context }: Subject,
  { before, changes }: { readonly before: ReturnType<typeof storedSum>; readonly changes: ValueMap },
): Need {
  const { missing, incorrect } = compareContents(contents, directory);
  let needed = truthy(given.overwrite) || missing;
  if (incorrect.length > 0 && clearWay(given, { directory, incorrect, changes, context })) needed = true;
  const now = before === undefined ? undefined : storedSum(archive, context, before.hash_type);
  const changed = !needed && truthy(given.source_hash_update) && before !== undefined && now?.hsum !== before.hsum;
  return { needed: needed || changed, missing, changed };
}

/**
 * What is done about paths of another kind than the archive's.
 * @returns Whether something was removed.
 */
function clearWay(
  given: ExtractedArguments,
  { directory, incorrect, changes, context }: {
    readonly directory: string;
    readonly incorrect: readonly string[];
    readonly changes: ValueMap;
    readonly context: StateContext;
  },
): boolean {
  const problem = `The below paths (relative to ${directory}) exist, but are the incorrect type (file instead of ` +
    "directory, symlink instead of file, etc.).";
  const list = `\n${bullets(incorrect)}`;
  if (context.test && truthy(given.clean)) {
    throw new Refused(
      `${problem} Since the 'clean' option is enabled, the destination paths would be cleared and the archive would be extracted.${list}`,
      { result: null },
    );
  }
  if (context.test && truthy(given.clean_parent)) {
    throw new Refused(
      `${problem} Since the 'clean_parent' option is enabled, the destination parent directory would be removed first and then re-created ` +
        "and the archive would be extracted",
      { result: null },
    );
  }
  if (truthy(given.clean)) return false;
  if (!truthy(given.force)) {
    throw new Refused(
      `${problem} To proceed with extraction, set 'force' to True. Note that this will remove these paths before extracting.${list}`,
    );
  }
  const [removed, errors] = removeAll(incorrect.map((name) => findMemberPlace(name, directory)));
  if (removed.length > 0) changes.set("removed", removed);
  if (errors.length > 0) {
    throw new Refused(
      "One or more paths existed by were the incorrect type (i.e. file instead of directory or vice-versa), but could not be removed. The " +
        `following errors were observed:\n${bullets(errors)}`,
      { changes },
    );
  }
  return true;
}

/**
 * Removes paths.
 * @returns Those that were there, and what went wrong.
 */
function removeAll(paths: readonly string[]): [removed: string[], errors: string[]] {
  const removed: string[] = [];
  const errors: string[] = [];
  for (const path of paths) {
    const plain = rstripChars(path, "/");
    try {
      if (removeAny(plain)) removed.push(path);
    } catch (error) {
      errors.push(pythonOsError(error, plain));
    }
  }
  return [removed, errors];
}

/**
 * Removes what `clean` and `clean_parent` name.
 * @throws {Refused} If that fails.
 */
function cleanUp({ given, directory, contents }: Subject, changes: ValueMap): void {
  if (truthy(given.clean_parent)) {
    const [removed, errors] = removeAll([directory]);
    if (removed.length > 0 && !changes.has("removed")) {
      changes.set("removed", `Directory ${directory} was removed prior to the extraction`);
    }
    if (errors.length > 0) {
      throw new Refused(
        `Unable to remove the directory ${directory}. The following errors were observed:\n${bullets(errors)}`,
        { changes },
      );
    }
  }
  if (!truthy(given.clean)) return;
  const names = [...contents.top_level_dirs, ...contents.top_level_files];
  const [removed, errors] = removeAll(names.map((name) => findMemberPlace(name, directory)));
  if (removed.length > 0) changes.set("removed", removed);
  if (errors.length > 0) {
    throw new Refused(
      `One or more paths could not be cleaned. The following errors were observed:\n${bullets(errors)}`,
      { changes },
    );
  }
}

/** Why it is extracted, behind the sentence that says so. */
function because({ missing, changed }: Need): string {
  return changed ? ", due to source_hash update" : missing ? ", due to absence of one or more files/dirs" : "";
}

/** Extracts, and sets the owners of what is there. */
async function bringAbout(subject: Subject, need: Need, changes: ValueMap, more: ValueMap): Promise<StateResult> {
  const { given, shown, directory, contents, owners, context } = subject;
  const max = linesWanted(given.trim_output);
  const extracted = need.needed ? await extractNeeded(subject, need, { changes, max, more }) : undefined;
  const only = truthy(given.enforce_ownership_on) ? str(given.enforce_ownership_on) : null;
  const enforced = truthy(given.user) || truthy(given.group)
    ? await enforceOwners(owners, { directory, contents, only, context })
    : { changed: false, missing: [], failed: [] };
  if (enforced.changed) changes.set("updated ownership", true);
  const troubled = enforced.failed.length > 0 || enforced.missing.length > 0 && !truthy(given.if_missing);
  const troubles = ownerTroubles(enforced);
  if (extracted === undefined) {
    const would = context.test && enforced.changed;
    const comment = "All files in archive are already present" +
      (would ? ". Ownership would be updated on one or more files/directories." : "");
    return { name: given.name, changes, result: troubled ? false : would ? null : true, comment: comment + troubles };
  }
  const { files, madeDirectory } = extracted;
  if (!truthy(files)) {
    return { name: given.name, changes, result: false, comment: `No files were extracted from ${shown}${troubles}` };
  }
  if (madeDirectory) changes.set("directories_created", [directory]);
  changes.set("extracted_files", files);
  const trimmed = max > 0 ? `. Output was trimmed to ${max} number of lines` : "";
  const comment = `${shown} extracted to ${directory}${because(need)}${trimmed}${troubles}`;
  return { name: given.name, changes, result: !troubled, comment };
}

/**
 * Extracts the archive, into a directory that is made if it is missing.
 * @throws {Refused} If the archive is another than its digest says, and in test mode.
 */
async function extractNeeded(
  subject: Subject,
  need: Need,
  { changes, max, more }: { readonly changes: ValueMap; readonly max: number; readonly more: ValueMap },
): Promise<{ readonly files: Value; readonly madeDirectory: boolean }> {
  const { given, source, shown, archive, directory, format, method, sum, context } = subject;
  const hash = str(sum.get("hsum") ?? "");
  if (source.local && hash !== "" && !truthy(given.skip_verify)) {
    if (await context.call("file.check_hash", [archive, hash]) !== true) {
      throw new Refused(`${shown} does not match the desired source_hash ${hash}`);
    }
  }
  if (context.test) {
    const cleaned = truthy(given.clean) ? ", after cleaning destination path(s)" : "";
    throw new Refused(`Archive ${shown} would be extracted to ${directory}${cleaned}${because(need)}`, {
      result: null,
      changes,
    });
  }
  cleanUp(subject, changes);
  const madeDirectory = !isDirectory(directory);
  if (madeDirectory) {
    await context.state("file.directory", map({ name: directory, user: given.user, makedirs: true }));
  }
  const { options, unzipProgram } = method;
  const { password, extract_perms: extractPerms } = given;
  try {
    const how = { archive, format, directory, options, max, password, unzipProgram, extractPerms, more };
    return { files: await extractArchive(how, context), madeDirectory };
  } catch (error) {
    if (madeDirectory && format === "tar" && options === null) removeIfEmpty(directory);
    throw error;
  }
}

/** Removes a directory that was made in vain. */
function removeIfEmpty(directory: string): void {
  if ([...Deno.readDirSync(directory)].length === 0) Deno.removeSync(directory);
}

/** The copy of an archive in the cache goes, if it is not to stay. */
async function dropCopy(
  { source, context }: Pick<Subject, "source" | "context">,
  warnings: string[],
): Promise<void> {
  const callOptions = map({ name: source.match, saltenv: saltenvOf(context) });
  const result = await context.state("file.not_cached", callOptions);
  if (!truthy(result.get("result"))) warnings.push(str(result.get("comment") ?? ""));
}

async function extract(
  given: ExtractedArguments,
  context: StateContext,
  { kwargs, warnings }: { readonly kwargs: ValueMap; readonly warnings: string[] },
): Promise<StateResult> {
  if (truthy(given.skip_files_list_verify) && truthy(given.skip_verify)) {
    throw new Refused('Only one of "skip_files_list_verify" and "skip_verify" can be set to True');
  }
  const keeps = keepsSource(kwargs, warnings);
  const directory = directoryOf(given);
  if (given.if_missing !== null && mayExist(str(given.if_missing))) {
    return { ...startResult(given.name), comment: `Path ${str(given.if_missing)} exists` };
  }
  const owners = await findOwners(given.user, given.group, context);
  if (truthy(given.source_hash_update) && !truthy(given.source_hash)) {
    warnings.push("The 'source_hash_update' argument is ignored when 'source_hash' is not also specified.");
  }
  await sources.needBackend(given, context);
  const source = await sources.chooseArchiveSource(given, context);
  const shown = hideCredentials(source.match);
  const format = formatOf(given, source.name);
  const method = methodOf(given, format, warnings);
  linesWanted(given.trim_output);
  const sum = await sources.sourceSum(given, source, context);
  if (truthy(given.skip_files_list_verify) && await sources.isKnown(sum, source, context)) {
    throw new Refused(
      `Archive ${shown} existing source sum is the same as the expected one and skip_files_list_verify argument was set to True. ` +
        "Extraction is not needed",
      { result: context.test ? null : true },
    );
  }
  const archive = await sources.fetchArchive(given, source, context);
  await sources.needSignature(archive, given, context);
  const before = storedSum(archive, context);
  if (truthy(given.source_hash) && truthy(given.source_hash_update) && !truthy(given.skip_verify)) {
    await keepSum(archive, context);
  }
  const contents = await listContents(archive, { given, shown, format, method, context });
  if (truthy(given.enforce_toplevel)) refuseBomb(contents, format, directory);
  if (truthy(given.clean) && truthy(given.clean_parent)) {
    throw new Refused("Only one of 'clean' and 'clean_parent' can be set to True");
  }
  const subject: Subject = { given, source, shown, archive, directory, format, method, contents, owners, sum, context };
  const changes: ValueMap = new Map();
  const need = lookAround(subject, { before, changes });
  const more = new Map([...kwargs].filter(([key]) => key !== "keep" && key !== "keep_source"));
  const result = await bringAbout(subject, need, changes, more);
  if (!source.local && !keeps) await dropCopy({ source, context }, warnings);
  return result;
}

export const extracted: ModuleFunction<StateContext> = stateFn({
  doc: EXTRACTED_DOC,
  params: EXTRACTED,
  varKwargs: "kwargs",
  async run(given, context, rest) {
    const warnings: string[] = [];
    const kwargs: ValueMap = new Map([...rest.kwargs].filter(([key]) => !str(key).startsWith("__")));
    const start = startResult(given.name, false);
    const result = await orRefused(start, () => extract(given, context, { kwargs, warnings }));
    return warnings.length > 0 ? { ...result, warnings } : result;
  },
});
