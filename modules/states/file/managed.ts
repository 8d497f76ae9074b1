/**
 * State module `file`, first part: `file.managed`. The other functions are in `_file_*.ts`.
 *
 * What a managed file is to be is found here, and the execution module `file` does the work: `file.get_managed` fetches
 * and renders the source, `file.check_managed_changes` compares, `file.manage_file` writes. Source: Salt 3008.3
 * `salt/states/file.py` managed.
 * @module
 */

import { isAbsolute } from "#lib/os/paths.ts";
import { accumulators } from "./accumulators.ts";
import { isHostError, notAbsolute, ownerOf, reasonOf, unknownOwners } from "./common.ts";
import { saltenvOf } from "#modules/states/_saltenv.ts";
import { contentsCount, resolveContents } from "./contents.ts";
import { isKeep, type ManagedArguments, type ManagedFileRequest, PARAMS, wrongArguments } from "./managed_arguments.ts";
import { permissionResult, selinuxOf } from "./permissions.ts";
import { chosenSource, planPutting, put } from "./putting.ts";
import { schemeOf } from "#lib/host/filesystem/checksums.ts";
import { normalizeMode } from "#lib/host/filesystem/ownership.ts";
import { missingBackend, signersOf } from "#lib/host/gnupg/file_signature.ts";
import { expandUser } from "#lib/os/disk_paths.ts";
import { existsOrThrow, isFile, kindOf, type PathKind } from "#lib/os/file_kind.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import type { ModuleFunction } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn, type StateResult } from "#lib/plugins/state_module.ts";
import { isMap, map, str, truthy, type Value } from "#lib/values/value.ts";

export const managed: ModuleFunction<StateContext> = stateFn({
  doc: `Make sure that a file has the right contents, owner and mode.

name
    The absolute path of the file.

source
    Where the contents come from: \`salt://\`, \`http://\`, \`https://\`, \`file://\`, an absolute path of the host, or a list of them, of
    which the first that exists is used; an entry of a list may be \`source: hash\`. Without source and contents the file is
    made empty, and only its owner and mode are managed.

source_hash
    The digest of a source that is not on the file server: hexadecimal digits, \`sha256=digits\`, or the path or URL of a file of
    digests. Not needed with \`skip_verify\`.

source_hash_name
    The name of the source in the file of digests.

keep_source : True
    Whether the cached copy of the source is kept.

user, group
    Owner and group, by name or number.

mode
    The mode, as octal digits, or \`keep\` for the source's. \`'0644'\` with quotes, or 644.

attrs
    Attributes for \`chattr\`.

template
    The template engine that the source or the contents go through: \`jinja\`.

makedirs, dir_mode
    Whether to create the parent directories, and their mode. Default: the file's mode plus execute permission.

context, defaults
    Variables of the template: \`context\` wins.

replace : True
    Whether contents that differ are replaced. If not, only owner and mode are managed.

backup
    \`minion\` keeps the old file below the cache's \`file_backup\`.

show_changes : True
    Whether the changes show the diff.

create : True
    Whether the file is made if it is not there.

contents, contents_pillar, contents_grains
    The contents, or their key in pillar or grains: a text, or a list of lines. \`contents_delimiter\` separates nested keys.

contents_newline : True
    Whether the contents end with a newline.

tmp_dir, tmp_ext
    The directory and the name's suffix of the file that \`check_cmd\` gets.

encoding, encoding_errors
    The encoding of \`contents\`, and the handling of characters that it lacks, as in Python's \`str.encode\`.

allow_empty : True
    Whether contents may be empty.

follow_symlinks : True
    Whether a link at the path is followed.

check_cmd
    A command that gets the path of the new file as its last argument before it is put in place. If it fails, the file is not changed.

skip_verify : False
    Whether a source needs no digest.

selinux
    A dict with \`seuser\`, \`serole\`, \`setype\`, \`serange\`.

verify_ssl, use_etag
    For https sources: whether certificates are verified, and whether the server is asked if the file has changed.

ignore_ordering, ignore_whitespace, ignore_comment_characters
    Differences that are no change for states that watch this one; the file is changed nevertheless.

new_file_diff : False
    Whether the changes also show the diff of a new file.

signature, source_hash_sig, signed_by_any, signed_by_all, keyring, gnupghome, sig_backend
    Signatures of the source and of the file of digests: a URL, a list of URLs, or True for a signature in the file itself. The
    function \`verify\` of the module \`sig_backend\` checks them.

win_owner, win_perms, win_deny_perms, win_inheritance, win_perms_reset
    For Windows; ignored.`,
  params: PARAMS,
  varKwargs: "kwargs",
  keywords: ["env", "file_mode", "owner"],
  run: async (given, context, { kwargs }) => {
    const name = expandUser(given.name);
    const ret = startResult(name);
    const wrong = wrongArguments(name, given);
    if (wrong !== undefined) return failState(name, wrong);
    if (kwargs.has("file_mode")) {
      ret.warnings = [
        "The 'file_mode' argument will be ignored.  Please use 'mode' instead to set file permissions.",
      ];
    }
    if (truthy(given.signature) || truthy(given.source_hash_sig)) {
      const missing = await missingBackend(given, context);
      if (missing !== undefined) return { ...ret, result: false, comment: missing };
    }
    const resolved = await resolveContents(given, context);
    if ("problem" in resolved) return { ...ret, result: resolved.result, comment: resolved.problem };
    const user = ownerOf(given.user, kwargs, context);
    if (!truthy(given.create) && !isFile(name)) {
      return { ...ret, comment: `File ${name} is not present and is not set for creation` };
    }
    const there = kindOf(name);
    const problem = await unknownOwners(user, given.group, context) || wrongPlace(name, there) || wrongVariables(given);
    if (problem !== "") return { ...ret, result: false, comment: problem };
    const file: ManagedFileRequest = {
      given,
      kwargs: new Map([...kwargs].filter(([key]) => key !== "env")),
      name,
      source: given.source,
      sourceHash: given.source_hash,
      user,
      mode: isKeep(given.mode) ? null : normalizeMode(given.mode),
      keepMode: isKeep(given.mode),
      contents: resolved.contents,
      template: given.template,
      variables: given.context ?? new Map(),
      saltenv: saltenvOf(context),
    };
    return await bringAbout(file, { ret, isNew: there === "nothing" }, context);
  },
});

/** What is wrong with the path; empty text if nothing is. */
function wrongPlace(name: string, there: PathKind): string {
  if (!isAbsolute(name)) return notAbsolute(name);
  return there === "directory" ? `Specified target ${name} is a directory` : "";
}

/** What is wrong with the template's variables; empty text if nothing is. */
function wrongVariables({ context, defaults }: ManagedArguments): string {
  if (context !== null && !isMap(context)) return "Context must be formed as a dict";
  return truthy(defaults) && !isMap(defaults) ? "Defaults must be formed as a dict" : "";
}

async function bringAbout(
  file: ManagedFileRequest,
  { ret, isNew }: { readonly ret: StateResult; readonly isNew: boolean },
  context: StateContext,
): Promise<StateResult> {
  const { given, name } = file;
  const hasContents = truthy(given.source) || contentsCount(given) > 0;
  const manages = hasContents && truthy(given.replace);
  const chosen = manages && !isNew ? await withKnownHash(file, context) : { file, same: !manages };
  if (chosen.same && existsOrThrow(name)) return await keepContents(chosen.file, ret, context);
  const gathered = accumulators(context).texts.get(name);
  const variables = gathered === undefined
    ? file.variables
    : new Map<Value, Value>([...isMap(file.variables) ? file.variables : [], ["accumulator", gathered]]);
  const ready = { ...chosen.file, variables };
  return context.test ? await planPutting(ready, ret, context) : await put(ready, ret, context);
}

/**
 * Looks whether the file has the digest that its source on another server must have: then nothing is fetched.
 * @returns The file, with the source of a list that was chosen.
 */
async function withKnownHash(
  file: ManagedFileRequest,
  context: StateContext,
): Promise<{ readonly file: ManagedFileRequest; readonly same: boolean }> {
  const { given, name, saltenv } = file;
  if (
    file.contents !== null || truthy(file.template) || !truthy(file.source) || given.skip_verify
  ) return { file, same: false };
  try {
    const chosen = await chosenSource(file, context);
    const source = str(chosen.source);
    if (!truthy(chosen.sourceHash) || ["salt", "file"].includes(schemeOf(source)) || isAbsolute(source)) {
      return { file: chosen, same: false };
    }
    const sum = await context.call(
      "file.get_source_sum",
      [name, source, chosen.sourceHash, given.source_hash_name, saltenv],
      map({ verify_ssl: given.verify_ssl, source_hash_sig: given.source_hash_sig, ...signersOf(given) }),
    );
    const [type, wanted] = isMap(sum) ? [sum.get("hash_type") ?? "", sum.get("hsum")] : ["", undefined];
    return { file: chosen, same: await context.call("file.get_hash", [name, type]) === wanted };
  } catch (error) {
    if (!isHostError(error)) throw error;
    const reason = reasonOf(error);
    context.log("error", `Failed checking existing file's hash against specified source_hash: ${reason}`);
    return { file, same: false };
  }
}

/** The contents stay; owner and mode are managed. */
async function keepContents(file: ManagedFileRequest, ret: StateResult, context: StateContext): Promise<StateResult> {
  const { given, name, user, mode } = file;
  const { group, attrs, follow_symlinks: follow, selinux } = given;
  const wanted = { user, group, mode, attrs, follow, selinux: selinuxOf(selinux) };
  const { ret: done, before } = await permissionResult(ret, { path: name, wanted }, context);
  if (context.test) {
    const now = before.get("lmode");
    const changes = mode !== null && now !== undefined && mode !== now;
    done.comment = changes
      ? `File ${name} will be updated with permissions ${mode} from its current state of ${str(now)}`
      : `File ${name} not updated`;
  } else if (done.changes.size === 0 && done.result === true) {
    done.comment = `File ${name} exists with proper permissions. No changes made.`;
  }
  return done;
}
