/**
 * How a managed file gets its contents: what would change, and the change itself.
 * Source: Salt 3008.3 `salt/states/file.py` managed.
 * @module
 */

import { copyForTrial, refusalOf, TrialFile } from "./trial.ts";
import { ACTUAL_CHANGES, isHostError, reasonOf, withoutChanges } from "./common.ts";
import { ignoresDifferences, ignoring, type ManagedFileRequest } from "./managed_arguments.ts";
import { selinuxOf } from "./permissions.ts";
import { InvocationError } from "#lib/errors.ts";
import { schemeOf } from "#lib/host/filesystem/checksums.ts";
import { signersOf } from "#lib/host/gnupg/file_signature.ts";
import { isFile } from "#lib/os/file_kind.ts";
import { removeIfExists } from "#lib/os/atomic_file.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { startResult, type StateResult, stateResult } from "#lib/plugins/state_module.ts";
import { sameBytes as equalBytes } from "#lib/crypto/same_bytes.ts";
import { encodeText } from "#lib/text/encoding.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { isMap, map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/**
 * The file with the source of a list that exists, and the hash for it.
 * @throws {CommandError} If none exists.
 */
export async function chosenSource(file: ManagedFileRequest, context: StateContext): Promise<ManagedFileRequest> {
  const chosen = await context.call("file.source_list", [file.source, file.sourceHash, file.saltenv]);
  const [source, sourceHash] = Array.isArray(chosen) ? chosen : [null, null];
  return { ...file, source, sourceHash };
}

/** The arguments that `file.check_managed_changes` and `file.get_managed` share. */
function sourceArguments(file: ManagedFileRequest): ValueMap {
  const { given, name, source, sourceHash, user, mode, template, variables, saltenv } = file;
  const { source_hash_name, group, attrs, defaults, skip_verify, verify_ssl } = given;
  return new Map([
    ...file.kwargs,
    ...map({ name, source, source_hash: sourceHash, source_hash_name, user, group, mode, attrs, template }),
    ...map({ context: variables, defaults, saltenv, skip_verify, verify_ssl }),
    ...map({ source_hash_sig: given.source_hash_sig, ...signersOf(given) }),
  ]);
}

/**
 * The contents that test mode compares with the file: text, as Salt, unless the file holds it in the encoding already,
 * where Salt announces a change that a run does not make.
 */
function comparableContents(
  { name, contents, given: { encoding, encoding_errors } }: ManagedFileRequest,
): string | Uint8Array | null {
  if (typeof contents !== "string" || !truthy(encoding) || !isFile(name)) return contents;
  const there = Deno.readFileSync(name);
  try {
    return equalBytes(there, encodeText(contents, encoding, encoding_errors)) ? there : contents;
  } catch (error) {
    // The run tells of it, as Salt's does.
    if (!(error instanceof InvocationError)) throw error;
    return contents;
  }
}

/** The changes in what `file.check_managed_changes` returned. */
function changesIn(checked: Value): ValueMap {
  return mapOrEmpty(Array.isArray(checked) ? checked[1] : checked);
}

/** Whether not everybody may read the file, or its contents are in the pillar: they may be secret. */
function isForFew({ mode, given }: ManagedFileRequest): boolean {
  const readers = mode === null ? "" : str(mode).at(-1) ?? "";
  return given.contents_pillar !== null || /[0-3]/.test(readers);
}

/** What would change. */
export async function planPutting(
  file: ManagedFileRequest,
  ret: StateResult,
  context: StateContext,
): Promise<StateResult> {
  const { given, name, keepMode } = file;
  const { follow_symlinks, new_file_diff } = given;
  const check = (newFileDiff: boolean) =>
    context.call(
      "file.check_managed_changes",
      [],
      new Map([
        ...sourceArguments(file),
        ...map({
          contents: comparableContents(file),
          keep_mode: keepMode,
          follow_symlinks,
          new_file_diff: newFileDiff,
        }),
        ...selinuxOf(given.selinux),
        ...ignoring(given),
      ]),
    );
  let difference: Value;
  try {
    difference = await check(new_file_diff);
    if (context.isPlan === true && changesIn(difference).has("newfile") && !isForFew(file)) {
      const diff = changesIn(await check(true)).get("diff");
      if (diff !== undefined) changesIn(difference).set("diff", diff);
    }
  } catch (error) {
    if (!isHostError(error)) throw error;
    return { ...ret, result: false, comment: `Unable to manage file: ${reasonOf(error)}` };
  }
  // A list is a result and a comment, or with something to ignore, whether the changes count, and the changes.
  const [counts, changes] = Array.isArray(difference) ? difference : [true, difference];
  if (!isMap(changes)) return { ...ret, result: truthy(counts), comment: str(changes) };
  if (changes.size === 0) return { ...ret, comment: `The file ${name} is in the correct state` };
  if (changes.has("diff") && !truthy(given.show_changes)) changes.set("diff", "<show_changes=False>");
  return {
    ...ret,
    result: null,
    comment: `The file ${name} is set to be changed${ACTUAL_CHANGES}`,
    changes,
    ...ignoresDifferences(given) && !truthy(counts) ? { skip_req: true } : {},
  };
}

/** The file with the contents, its digest, and what is wrong. */
interface Fetched {
  readonly sfn: string;
  readonly sum: Value;
  readonly problem: string;
}

/** Puts the file in place. */
export async function put(managed: ManagedFileRequest, ret: StateResult, context: StateContext): Promise<StateResult> {
  const unable = (error: unknown): StateResult => {
    if (error instanceof Deno.errors.NotCapable) throw error;
    return withoutChanges(ret, `Unable to manage file: ${reasonOf(error)}`);
  };
  let file: ManagedFileRequest, fetched: Fetched;
  try {
    file = await chosenSource(managed, context);
    fetched = await fetchSource(file, context);
  } catch (error) {
    return unable(error);
  }
  const { given } = file;
  using trial = truthy(given.check_cmd) ? new TrialFile(given.tmp_dir, given.tmp_ext) : undefined;
  try {
    let { sfn } = fetched;
    if (trial !== undefined) {
      const tried = await tryOut(file, { trial, fetched }, context);
      if (tried.refused !== undefined) return { ...ret, ...tried.refused };
      if (tried.changed) sfn = trial.path;
    }
    if (fetched.problem !== "" && file.contents === null) {
      return { ...ret, result: false, comment: `Unable to manage file: ${fetched.problem}` };
    }
    return await writeFile(file, { path: file.name, sfn, sum: fetched.sum, ret }, context);
  } catch (error) {
    return unable(error);
  } finally {
    if (!truthy(given.keep_source)) await forgetSource(file, fetched.sfn, context);
  }
}

async function fetchSource(file: ManagedFileRequest, context: StateContext): Promise<Fetched> {
  const kwargs = new Map([...sourceArguments(file), ...map({ use_etag: file.given.use_etag })]);
  const fetched = await context.call("file.get_managed", [], kwargs);
  const [sfn, sum, problem] = Array.isArray(fetched) ? fetched : [null, null, null];
  return { sfn: str(sfn ?? ""), sum, problem: str(problem ?? "") };
}

interface Writing {
  readonly path: string;
  readonly sfn: string;
  readonly sum: Value;
  readonly ret: StateResult;
}

async function writeFile(
  file: ManagedFileRequest,
  { path, sfn, sum, ret }: Writing,
  context: StateContext,
): Promise<StateResult> {
  const { given, source, user, mode, saltenv, template, contents, keepMode } = file;
  const { group, attrs, backup, makedirs, show_changes, dir_mode, follow_symlinks, skip_verify } = given;
  const { encoding, encoding_errors, use_etag, new_file_diff } = given;
  return stateResult(
    await context.call(
      "file.manage_file",
      [],
      new Map([
        ...file.kwargs,
        ...map({ name: path, sfn, ret, source, source_sum: sum, user, group, mode, attrs, saltenv, backup }),
        ...map({ makedirs: truthy(makedirs), template, show_changes: truthy(show_changes), contents, dir_mode }),
        ...map({ follow_symlinks, skip_verify, keep_mode: keepMode, encoding, encoding_errors, use_etag }),
        ...map({ new_file_diff, signature: given.signature, ...signersOf(given) }),
        ...selinuxOf(given.selinux),
        ...ignoring(given),
      ]),
    ),
  );
}

/** Makes the file elsewhere, and runs `check_cmd` on it if it differs. */
async function tryOut(
  file: ManagedFileRequest,
  { trial, fetched }: { readonly trial: TrialFile; readonly fetched: Fetched },
  context: StateContext,
): Promise<{ readonly changed: boolean; readonly refused?: Partial<StateResult> }> {
  const { name, given } = file;
  const problem = await copyForTrial(name, trial.path, context);
  if (problem !== undefined) return { changed: false, refused: { result: false, comment: problem } };
  let done: StateResult;
  try {
    done = await writeFile(file, { ...fetched, path: trial.path, ret: startResult(name) }, context);
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) throw error;
    return { changed: false, refused: { result: false, comment: `Unable to check_cmd file: ${reasonOf(error)}` } };
  }
  if (done.changes.size === 0) return { changed: false };
  return { changed: true, refused: await refusalOf(str(given.check_cmd), trial.path, context) };
}

/** Removes the cache's copy of the source. A source that is a file of this host stays, which Salt removes. */
async function forgetSource(
  { source, saltenv }: ManagedFileRequest,
  sfn: string,
  context: StateContext,
): Promise<void> {
  const scheme = schemeOf(str(source ?? ""));
  if (["", "file"].includes(scheme)) return;
  const copy = sfn === "" && scheme === "salt" ? await context.call("cp.is_cached", [source, saltenv]) : sfn;
  if (truthy(copy)) removeIfExists(str(copy));
}
