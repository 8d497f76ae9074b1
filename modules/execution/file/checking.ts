/**
 * Execution module `file`: what would change of a file, and how two files differ.
 * Source: the functions of Salt 3008.3 `salt/modules/file.py`.
 * @module
 */

import { attributeLetters } from "#lib/host/filesystem/attributes.ts";
import { fileHost, sourceFiles } from "#modules/execution/_file_host.ts";
import {
  IGNORING,
  ignoringOf,
  readContents,
  removeMade,
  rendererOf,
  SELINUX,
  sumOf,
  textOr,
} from "./managed_arguments.ts";
import { signatureCheck } from "./signatures.ts";
import { schemeOf, type SourceSum } from "#lib/host/filesystem/checksums.ts";
import { diffFiles, ignoresSomething, type Ignoring } from "#lib/host/filesystem/diffs.ts";
import { type ManagedFile, metaChanges } from "#lib/host/filesystem/managing.ts";
import { checkPermissions, permissionResultMap, readResult } from "#lib/host/filesystem/permission_check.ts";
import { chooseSource, findManaged, sourcePath, type SourcePlace } from "#lib/host/filesystem/sources.ts";
import { fileStatus } from "#lib/host/filesystem/status.ts";
import { CommandError } from "#lib/errors.ts";
import { expandUser } from "#lib/os/disk_paths.ts";
import { describe } from "#lib/plugins/docs.ts";
import { fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

export const check_perms: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Set a file's owner, group, mode, attributes and SELinux context as requested. Return the changes and the former values. With the " +
      "option `test`, nothing is changed.",
    "file.check_perms /etc/sudoers '{}' root root 400 ai",
  ),
  permissions: "all",
  params: {
    name: p.str(),
    ret: p.any(),
    user: p.any(),
    group: p.any(),
    mode: p.any(),
    attrs: p.str(null),
    follow_symlinks: p.bool(false),
    ...SELINUX,
  },
  run: async ({ name, ret, follow_symlinks: follow, ...wanted }, context) => {
    const path = expandUser(name);
    const { ret: done, perms } = await checkPermissions(readResult(path, ret), {
      path,
      wanted: { ...wanted, follow },
      host: fileHost(context),
    });
    return [permissionResultMap(done), perms];
  },
});

const CHECK_MANAGED = {
  name: p.str(),
  source: p.any(),
  source_hash: p.any(),
  source_hash_name: p.any(),
  user: p.any(),
  group: p.any(),
  mode: p.any(),
  attrs: p.str(null),
  template: p.any(),
  context: p.any(),
  defaults: p.any(),
  saltenv: p.any(),
};

/** `attrs` has no default where Salt's has none. */
const ATTRS = p.any();

interface CheckArguments {
  readonly name: string;
  readonly source: Value;
  readonly source_hash: Value;
  readonly source_hash_name: Value;
  readonly user: Value;
  readonly group: Value;
  readonly mode: Value;
  readonly attrs: Value;
  readonly template: Value;
  readonly context: Value;
  readonly defaults: Value;
  readonly saltenv: Value;
  readonly contents: Value;
  readonly skip_verify: boolean;
  readonly keep_mode?: boolean;
  readonly verify_ssl?: boolean;
  readonly seuser: string | null;
  readonly serole: string | null;
  readonly setype: string | null;
  readonly serange: string | null;
  readonly follow_symlinks: boolean;
  readonly ignoring: Ignoring;
  readonly newFileDiff: boolean;
}

/** Checks the signature of the file of hashes as keyword arguments say. */
function hashFileCheck(
  kwargs: ValueMap,
  { saltenv }: { readonly saltenv: string },
  context: JobContext,
): ReturnType<typeof signatureCheck> {
  const argumentOf = (name: string) => kwargs.get(name) ?? null;
  return signatureCheck(argumentOf("source_hash_sig"), {
    saltenv,
    signed_by_any: argumentOf("signed_by_any"),
    signed_by_all: argumentOf("signed_by_all"),
    keyring: argumentOf("keyring"),
    gnupghome: argumentOf("gnupghome"),
    sig_backend: textOr(argumentOf("sig_backend"), "gpg"),
  }, context);
}

/** The mode of the source on its host. */
async function keptMode(
  source: string,
  { sfn, mode, place: { files, saltenv } }: { readonly sfn: string; readonly mode: Value; readonly place: SourcePlace },
): Promise<Value> {
  if (sfn !== "" && ["", "file"].includes(schemeOf(source))) return fileStatus(sfn).mode;
  if (schemeOf(source) !== "salt") return mode;
  const status = await files.statFile(source, saltenv);
  return status.mode === undefined ? mode : status.mode.toString(8).slice(-4);
}

/** The changes, or the reason why they are not known. */
async function checkManaged(
  given: CheckArguments,
  context: JobContext,
  kwargs: ValueMap,
): Promise<{ readonly changes: Map<Value, Value>; readonly counts: boolean } | { readonly problem: string }> {
  const place = { saltenv: textOr(given.saltenv, "base"), files: sourceFiles(context) };
  const { source, hash } = await chooseSource(given.source, given.source_hash, place);
  let { mode } = given;
  let sfn = "", sum: SourceSum | undefined;
  if (given.contents === null) {
    const managed = await findManaged({
      ...place,
      render: rendererOf({ ...given, source }, context, kwargs),
      verifySsl: given.verify_ssl,
      name: given.name,
      source: textOr(source),
      sourceHash: truthy(hash) ? str(hash) : null,
      sourceHashName: truthy(given.source_hash_name) ? str(given.source_hash_name) : null,
      template: truthy(given.template) ? str(given.template) : null,
      skipVerify: given.skip_verify,
      checkHashFile: hashFileCheck(kwargs, place, context),
    });
    if (managed.problem !== "") return { problem: managed.problem };
    ({ sfn, sum } = managed);
    if (given.keep_mode === true) mode = await keptMode(textOr(source), { sfn, mode, place });
  }
  const file: ManagedFile = {
    ...given,
    mode,
    attrs: truthy(given.attrs) ? attributeLetters(given.attrs) : null,
    follow: given.follow_symlinks,
    sfn,
    source: textOr(source),
    saltenv: place.saltenv,
    sum,
    contents: readContents(given.contents),
  };
  try {
    return await metaChanges(file, fileHost(context));
  } finally {
    if (truthy(given.template)) await removeMade(sfn);
  }
}

export const check_managed: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return whether a managed file is as requested (True; None if it would be changed; False if this cannot be determined), and a comment.",
    "file.check_managed /etc/httpd/conf.d/httpd.conf salt://http/httpd.conf '{hash_type: 'md5', 'hsum': <md5sum>}' root, root, '755' jinja True None None base",
  ),
  permissions: "all",
  params: {
    ...CHECK_MANAGED,
    attrs: ATTRS,
    contents: p.any(null),
    skip_verify: p.bool(false),
    ...SELINUX,
    follow_symlinks: p.bool(false),
  },
  varKwargs: "kwargs",
  run: async (given, context, { kwargs }) => {
    const check = await checkManaged({ ...given, ignoring: {}, newFileDiff: false }, context, kwargs);
    if ("problem" in check) return [false, check.problem];
    const { changes } = check;
    // Salt does not compare owners and modes in the directory for temporary files.
    const temporary = Deno.env.get("TMPDIR") ?? "/tmp";
    if (given.name.startsWith(temporary)) { for (const key of ["user", "group", "mode"]) changes.delete(key); }
    if (changes.size === 0) return [true, `The file ${given.name} is in the correct state`];
    const lines = [...changes].map(([key, value]) => `${str(key)}: ${str(value)}\n`);
    return [null, ["The following values are set to be changed:\n", ...lines].join("")];
  },
});

export const check_managed_changes: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return what would change in a managed file, or False and a comment.",
    "file.check_managed_changes /etc/httpd/conf.d/httpd.conf salt://http/httpd.conf '{hash_type: 'md5', 'hsum': <md5sum>}' root, root, '755' jinja True None None base",
  ),
  permissions: "all",
  params: {
    ...CHECK_MANAGED,
    attrs: ATTRS,
    contents: p.any(null),
    skip_verify: p.bool(false),
    keep_mode: p.bool(false),
    ...SELINUX,
    verify_ssl: p.bool(true),
    follow_symlinks: p.bool(false),
    ...IGNORING,
    new_file_diff: p.bool(false),
  },
  varKwargs: "kwargs",
  run: async (given, context, { kwargs }) => {
    const ignoring = ignoringOf(given);
    const check = await checkManaged({ ...given, ignoring, newFileDiff: given.new_file_diff }, context, kwargs);
    if ("problem" in check) return [false, check.problem];
    return ignoresSomething(ignoring) ? [check.counts, check.changes] : check.changes;
  },
});

export const check_file_meta: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the differences of a file from a source or contents, and from an owner, group, mode, attributes and context.",
    "file.check_file_meta /etc/httpd/conf.d/httpd.conf None salt://http/httpd.conf '{hash_type: 'md5', 'hsum': <md5sum>}' root root '755' None base",
  ),
  permissions: "all",
  params: {
    name: p.str(),
    sfn: p.any(),
    source: p.any(),
    source_sum: p.any(),
    user: p.any(),
    group: p.any(),
    mode: p.any(),
    attrs: p.any(),
    saltenv: p.any(),
    contents: p.any(null),
    ...SELINUX,
    verify_ssl: p.bool(true),
    follow_symlinks: p.bool(false),
    ...IGNORING,
    new_file_diff: p.bool(false),
  },
  run: async (given, context) => {
    const ignoring = ignoringOf(given);
    const { changes, counts } = await metaChanges({
      ...given,
      sfn: textOr(given.sfn),
      source: textOr(given.source),
      saltenv: textOr(given.saltenv, "base"),
      sum: sumOf(given.source_sum),
      attrs: truthy(given.attrs) ? attributeLetters(given.attrs) : null,
      follow: given.follow_symlinks,
      contents: readContents(given.contents),
      ignoring,
      newFileDiff: given.new_file_diff,
    }, fileHost(context));
    return ignoresSomething(ignoring) ? [counts, changes] : changes;
  },
});

export const get_diff: ModuleFunction<JobContext> = fn({
  doc: describe(
    "Return the unified diff of two files, of this host or of URLs; empty text if they are equal. With options that ignore differences: whether other differences remain, and the diff.",
    "file.get_diff /home/fred/.vimrc /home/fred/.vimrc.bak",
  ),
  permissions: "all",
  params: {
    file1: p.str(),
    file2: p.str(),
    saltenv: p.str("base"),
    show_filenames: p.bool(true),
    show_changes: p.bool(true),
    template: p.bool(false),
    source_hash_file1: p.any(null),
    source_hash_file2: p.any(null),
    ...IGNORING,
  },
  run: async (given, context) => {
    const problems: string[] = [], paths: string[] = [];
    const place = { saltenv: given.saltenv, files: sourceFiles(context) };
    for (
      const [file, hash] of [[given.file1, given.source_hash_file1], [given.file2, given.source_hash_file2]] as const
    ) {
      try {
        const path = await sourcePath(file, { ...place, sourceHash: truthy(hash) ? str(hash) : undefined });
        if (path === undefined) problems.push(`File ${file} not found`);
        else paths.push(path);
      } catch (error) {
        if (!(error instanceof CommandError)) throw error;
        problems.push(error.message);
      }
    }
    if (problems.length > 0) throw new CommandError(`Failed to cache one or more files: ${problems.join("; ")}`);
    const ignoring = ignoringOf(given);
    const obfuscated = given.template && truthy(await context.call("config.option", ["obfuscate_templates"]));
    const diff = diffFiles(paths[0], paths[1], {
      names: given.show_filenames,
      ...obfuscated
        ? { hidden: "<Obfuscated Template>" as const }
        : given.show_changes
        ? {}
        : { hidden: "<show_changes=False>" as const },
      ignoring,
    });
    return ignoresSomething(ignoring) ? [diff.counts, diff.text] : diff.text;
  },
});
