/**
 * How the states of the module `x509` manage a file: file.managed is run in test mode first, then the contents are
 * created. Source: Salt 3008.3 `salt/states/x509_v2.py`.
 * @module
 */

import { CommandError, InvocationError } from "#lib/errors.ts";
import { installFile } from "#lib/host/filesystem/backups.ts";
import { linkTarget, realPath } from "#lib/os/disk_paths.ts";
import { isFile } from "#lib/os/file_kind.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { failState, startResult, type StateResult } from "#lib/plugins/state_module.ts";
import { isMap, map, str, truthy, typeName, type Value, type ValueMap } from "#lib/values/value.ts";

/** The documentation of those arguments. */
export const FILE_DOC = "Arguments of file.managed (user, group, mode, makedirs, backup, …) are for the file.";

/** Arguments that go to file.managed. */
const FILE_ARGUMENTS: ReadonlySet<Value> = new Set([
  ...["user", "group", "mode", "attrs", "makedirs", "dir_mode", "backup", "create", "follow_symlinks", "check_cmd"],
  ...["tmp_dir", "tmp_ext", "selinux", "file_encoding", "encoding_errors", "win_owner", "win_perms", "win_deny_perms"],
  ...["win_inheritance", "win_perms_reset"],
]);

/** The arguments of file.managed, and the others. */
export function splitArguments(kwargs: ValueMap): { readonly file: ValueMap; readonly others: ValueMap } {
  const file: ValueMap = new Map([["show_changes", false]]);
  const others: ValueMap = new Map();
  for (const [name, value] of kwargs) {
    if (!FILE_ARGUMENTS.has(name)) others.set(name, value);
    else file.set(name === "file_encoding" ? "encoding" : name, value);
  }
  return { file, others };
}

/** @throws {InvocationError} For unknown arguments. */
export function refuseOthers(others: ValueMap): void {
  const unknown = [...others.keys()].map(str);
  if (unknown.length === 0) return;
  throw new InvocationError(`Unrecognized keyword arguments: [${unknown.map((name) => `'${name}'`).join(", ")}]`);
}

export interface DocumentPlace {
  /** The path; of a link that is followed, what it leads to. */
  readonly path: string;
  /** Whether there is a file, and not a link that is not followed. */
  readonly exists: boolean;
  /** Whether a link is there that is not followed. */
  readonly unlinks: boolean;
}

/** The state of an existing document. */
export interface CheckedDocument {
  /** The needed changes, by name; an empty map: none. */
  readonly changes: ValueMap;
  /** Whether the file holds a document of this kind. */
  readonly current: boolean;
  /** Whether the new document replaces another one; default: `current`. */
  readonly recreates?: boolean;
}

/** The request of a state for a file. */
export interface DocumentRequest {
  /** `certificate`: for comments. */
  readonly what: string;
  /** Arguments of file.managed. */
  readonly file: ValueMap;
  /** Containers of PKCS#12 are refused; `pem` and `pkcs7_pem` are text; others are base64 as they are made. */
  readonly encoding: string;
  /** Compares the existing document. */
  check(place: DocumentPlace): CheckedDocument | Promise<CheckedDocument>;
  /**
   * Makes the contents.
   * @param changes What {@linkcode DocumentRequest.check} found.
   */
  make(changes: ValueMap): Promise<Value>;
}

/** The state if there is no document. */
export function absent(name: string, { unlinks }: DocumentPlace): CheckedDocument {
  return { changes: map({ created: name, ...unlinks && { replaced: name } }), current: false };
}

/** The state if the file holds something else. */
export function somethingElse(name: string): CheckedDocument {
  return { changes: map({ replaced: name }), current: false };
}

/**
 * Calls file.managed as a separate run, as Salt does.
 * @throws {CommandError} If it could not be run.
 */
export async function fileManaged(
  name: string,
  given: ValueMap,
  context: StateContext,
  test = context.test,
): Promise<ValueMap> {
  const options = new Map<Value, Value>([...given, ["test", test], ["concurrent", true]]);
  const results = await context.call("state.single", ["file.managed", name], options);
  const [result] = isMap(results) ? results.values() : [];
  if (result !== undefined && isMap(result)) return result;
  throw new CommandError(`Failed running file.managed in x509_v2 state: ${str(results)}`);
}

/** Adds the result of file.managed to that of a state. */
export function addInner(ret: StateResult, inner: ValueMap, context: StateContext): void {
  const low = { name: ret.name, state: "file", __id__: context.low.get("__id__") ?? ret.name, fun: "managed" };
  inner.set("low", map(low));
  ret.sub_state_run = [...ret.sub_state_run ?? [], inner];
}

/**
 * Makes a result fail as file.managed failed.
 * @returns Whether it failed.
 */
export function hasFailed(ret: StateResult, inner: ValueMap, current: boolean): boolean {
  if (inner.get("result") !== false) return false;
  ret.result = false;
  ret.comment = `Could not ${current ? "update" : "create"} file, see file.managed output`;
  ret.changes = new Map();
  return true;
}

/** Writes bytes to an existing file, after the requested backup. */
export async function writeBytes(
  path: string,
  bytes: Uint8Array,
  file: ValueMap,
  context: StateContext,
): Promise<void> {
  const backup = str(await context.call("config.backup_mode", [file.get("backup") ?? ""]) ?? "");
  installFile(bytes, path, { cachedir: context.opts.cachedir, backup });
}

function placeOf(name: string, follows: boolean): DocumentPlace {
  const linked = linkTarget(name) !== undefined;
  const path = linked && follows ? realPath(name) : name;
  const unlinks = linked && !follows;
  return { path, exists: !unlinks && isFile(path), unlinks };
}

/** Makes sure that a file holds the requested document. */
export async function manage(name: string, wanted: DocumentRequest, context: StateContext): Promise<StateResult> {
  const ret = startResult(name);
  try {
    if (wanted.encoding === "pkcs12") throw new CommandError("Containers of PKCS#12 are not written here");
    return await managing(ret, name, wanted, context);
  } catch (error) {
    if (!(error instanceof CommandError || error instanceof InvocationError)) throw error;
    return { ...failState(name, error.message), ...ret.sub_state_run && { sub_state_run: ret.sub_state_run } };
  }
}

async function managing(
  ret: StateResult,
  name: string,
  { what, file, encoding, check, make }: DocumentRequest,
  context: StateContext,
): Promise<StateResult> {
  ret.comment = `The ${what} is in the correct state`;
  const trial = await fileManaged(name, new Map([...file, ["replace", false]]), context, true);
  if (trial.get("result") === false) {
    ret.result = false;
    ret.comment = "Problem while testing file.managed changes, see its output";
    addInner(ret, trial, context);
    return ret;
  }
  if (str(trial.get("comment") ?? "").includes("is not present and is not set for creation")) {
    addInner(ret, trial, context);
    return ret;
  }
  const place = placeOf(name, truthy(file.get("follow_symlinks") ?? true));
  if (place.unlinks && !context.test) Deno.removeSync(name);
  const { changes, current, recreates = current } = await check(place);
  const inner = trial.get("changes");
  if (changes.size === 0 && trial.get("result") === true && (!isMap(inner) || inner.size === 0)) {
    addInner(ret, trial, context);
    return ret;
  }
  ret.changes = changes;
  const verb = recreates ? "recreated" : "created";
  if (context.test) {
    if (changes.size > 0) {
      ret.result = null;
      ret.comment = `The ${what} would have been ${verb}`;
    }
    addInner(ret, trial, context);
    return ret;
  }
  const content = changes.size > 0 ? textOf(await make(changes)) : undefined;
  if (content !== undefined) ret.comment = `The ${what} has been ${verb}`;
  const isText = encoding === "pem" || encoding === "pkcs7_pem";
  const contents: ValueMap = isText && content !== undefined
    ? map({ contents: content, replace: true })
    : map({ replace: false });
  const done = await fileManaged(name, new Map([...file, ...contents]), context);
  addInner(ret, done, context);
  if (hasFailed(ret, done, current)) return ret;
  if (content !== undefined && !isText) await writeBytes(place.path, Uint8Array.fromBase64(content), file, context);
  return ret;
}

function textOf(made: Value): string {
  if (typeof made === "string") return made;
  throw new TypeError(`What is made is a text, not a ${typeName(made)}`);
}
