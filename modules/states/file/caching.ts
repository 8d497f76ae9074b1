/**
 * State module `file`: copies of sources in the minion's cache.
 * Source: Salt 3008.3 `salt/states/file.py` cached, not_cached.
 * @module
 */

import { existsOrThrow } from "#lib/os/file_kind.ts";
import { isHostError, reasonOf } from "./common.ts";
import { CommandError } from "#lib/errors.ts";
import { schemeOf } from "#lib/host/filesystem/checksums.ts";
import { type Signers, signersOf } from "#lib/host/gnupg/file_signature.ts";
import { expandUser, realPath } from "#lib/os/disk_paths.ts";
import { pythonOsError } from "#lib/os/deno_texts.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { failState, startResult, stateFn, type StateResult } from "#lib/plugins/state_module.ts";
import { hideCredentials } from "#lib/text/url_credentials.ts";
import { isMap, map, str, truthy, type Value } from "#lib/values/value.ts";

/** Protocols of other servers than the master's. */
const REMOTE = ["http", "https", "ftp", "swift", "s3"];

/** The path of a source of this host; `undefined` for others. */
function localPath(name: string): string | undefined {
  const scheme = schemeOf(name);
  if (scheme !== "" && scheme !== "file") return undefined;
  const path = name.replace(/^file:(?:\/\/[^/]*)?/i, "").replace(/[?#].*$/s, "");
  return realPath(expandUser(path));
}

/** The digest that a source must have. */
interface Sum {
  readonly type: string;
  readonly hsum: string;
}

interface Wanted {
  readonly name: string;
  readonly saltenv: string;
  /** `undefined`: any. */
  readonly sum: Sum | undefined;
  readonly skipVerify: boolean;
  readonly useEtag: boolean;
}

async function hashOf(path: string, { sum }: Wanted, context: StateContext): Promise<string> {
  return str(await context.call("file.get_hash", [path, sum?.type ?? context.opts.hash_type]));
}

async function cachedCopy({ name, saltenv }: Wanted, context: StateContext): Promise<string> {
  const copy = await context.call("cp.is_cached", [name], map({ saltenv }));
  return truthy(copy) ? str(copy) : "";
}

async function planCopy(wanted: Wanted, context: StateContext): Promise<StateResult> {
  const { name, sum } = wanted;
  const copy = await cachedCopy(wanted, context);
  const planResult = (comment: string): StateResult => ({ ...startResult(name, null), comment });
  if (copy === "") return planResult(`File will be cached: ${name}`);
  if (sum === undefined) return planResult(`No hash found. File will be cached: ${name}`);
  const hash = await context.call("file.get_hash", [copy, context.opts.hash_type]);
  return hash === sum.hsum
    ? planResult(`File already cached: ${name}`)
    : planResult(`Hashes don't match.\nFile will be cached: ${name}`);
}

/** A source of this host needs no copy. */
async function checkLocal(path: string, wanted: Wanted, context: StateContext): Promise<StateResult> {
  const { name, sum, skipVerify } = wanted;
  if (!existsOrThrow(path)) return failState(name, `File ${path} is not present on the minion`);
  const ret = startResult(name);
  if (skipVerify || sum === undefined) return { ...ret, comment: `File ${path} is present on the minion` };
  const hash = await hashOf(path, wanted, context);
  return hash === sum.hsum
    ? { ...ret, comment: `File ${path} is present on the minion and has hash ${hash}` }
    : failState(
      name,
      `File ${path} is present on the minion, but the hash (${hash}) does not match the specified hash (${sum.hsum})`,
    );
}

async function fetchCopy(wanted: Wanted, context: StateContext): Promise<StateResult> {
  const { name, saltenv, sum, skipVerify } = wanted;
  const old = await cachedCopy(wanted, context);
  const before = old === "" ? null : await hashOf(old, wanted, context);
  let copy: Value;
  try {
    const options = map({ saltenv, source_hash: sum?.hsum ?? null, use_etag: wanted.useEtag });
    copy = await context.call("cp.cache_file", [name], options);
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) throw error;
    return failState(name, hideCredentials(reasonOf(error)));
  }
  if (!truthy(copy)) {
    return failState(name, `Failed to cache ${hideCredentials(name)}, check minion log for more information`);
  }
  const path = str(copy);
  const hash = await hashOf(path, wanted, context);
  const ret = startResult(name);
  if (before !== hash) ret.changes.set("hash", map({ old: before, new: hash }));
  if (skipVerify || sum === undefined) return { ...ret, comment: `File is cached to ${path}` };
  if (hash === sum.hsum) return { ...ret, comment: `File is already cached to ${path} with hash ${hash}` };
  return {
    ...ret,
    result: false,
    comment: `File is cached to ${path}, but the hash (${hash}) does not match the specified hash (${sum.hsum})`,
  };
}

/**
 * What `source_hash` says; `undefined` if it is not given.
 * @throws {CommandError} If it cannot be read.
 */
async function sumOf(
  name: string,
  given: Signers & {
    readonly source_hash: Value;
    readonly source_hash_name: Value;
    readonly source_hash_sig: Value;
    readonly saltenv: string;
  },
  context: StateContext,
): Promise<Sum | undefined> {
  const { source_hash, source_hash_name, source_hash_sig, saltenv } = given;
  if (!truthy(source_hash)) return undefined;
  const kwargs = map({ source: name, source_hash, source_hash_name, saltenv, source_hash_sig, ...signersOf(given) });
  const sum = await context.call("file.get_source_sum", [], kwargs);
  if (!isMap(sum)) {
    throw new CommandError(
      `Failed to get source hash from ${
        str(source_hash)
      }. This may be a bug. If this error persists, please report it and set ` +
        "skip_verify to True to work around it.",
    );
  }
  return { type: str(sum.get("hash_type") ?? ""), hsum: str(sum.get("hsum") ?? "") };
}

export const cached: ModuleFunction<StateContext> = stateFn({
  doc: `Make sure that a file is in the minion's cache.

name
    Its URL, or the path of a file on this host, which is only checked.

source_hash, source_hash_name, skip_verify, use_etag
    As for file.managed.

saltenv : base
    The environment of a \`salt://\` URL.

source_hash_sig, signed_by_any, signed_by_all, keyring, gnupghome, sig_backend
    The signature of the file of digests, as for file.managed.`,
  params: {
    name: p.str(),
    source_hash: p.any(""),
    source_hash_name: p.any(null),
    skip_verify: p.bool(false),
    saltenv: p.str("base"),
    use_etag: p.bool(false),
    source_hash_sig: p.any(null),
    signed_by_any: p.any(null),
    signed_by_all: p.any(null),
    keyring: p.any(null),
    gnupghome: p.any(null),
    sig_backend: p.str("gpg"),
  },
  run: async ({ name, skip_verify: skipVerify, saltenv, use_etag: useEtag, ...given }, context) => {
    if (!skipVerify && !truthy(given.source_hash) && !useEtag && REMOTE.includes(schemeOf(name))) {
      return failState(
        name,
        `Unable to verify upstream hash of source file ${
          hideCredentials(name)
        }, please set source_hash or set skip_verify or use_etag to True`,
      );
    }
    let sum: Sum | undefined;
    try {
      sum = await sumOf(name, { ...given, saltenv }, context);
    } catch (error) {
      if (!isHostError(error)) throw error;
      return failState(name, reasonOf(error));
    }
    const wanted: Wanted = { name, saltenv, sum, skipVerify, useEtag };
    if (context.test) return await planCopy(wanted, context);
    const local = localPath(name);
    return local === undefined ? await fetchCopy(wanted, context) : await checkLocal(local, wanted, context);
  },
});

export const not_cached: ModuleFunction<StateContext> = stateFn({
  doc: `Make sure that a file is not in the minion's cache.

name
    Its URL.

saltenv : base
    The environment of a \`salt://\` URL.`,
  params: { name: p.str(), saltenv: p.str("base") },
  run: async ({ name, saltenv }, context) => {
    const ret = startResult(name);
    const local = localPath(name);
    if (local !== undefined) return { ...ret, comment: `File ${local} is a local path, no action taken` };
    const copy = str(await context.call("cp.is_cached", [name], map({ saltenv })));
    if (copy === "") return { ...ret, comment: `${name} is not cached` };
    // Salt removes the copy in test mode too.
    if (context.test) {
      return { ...ret, result: null, comment: `${copy} would be deleted`, changes: map({ deleted: true }) };
    }
    try {
      Deno.removeSync(copy);
    } catch (error) {
      if (error instanceof Deno.errors.NotCapable) throw error;
      return failState(name, `Failed to delete ${copy}: ${pythonOsError(error, copy)}`);
    }
    return { ...ret, comment: `${copy} was deleted`, changes: map({ deleted: true }) };
  },
});
