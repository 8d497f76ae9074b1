/**
 * Where the archive of `archive.extracted` comes from: it is chosen, fetched, and its digest and signature are checked.
 * Source: Salt 3008.3 `salt/states/archive.py` extracted, _check_sig.
 * @module
 */

import { rstripChars } from "#lib/values/python_text.ts";
import { storedSum } from "./checksums.ts";
import { Refused } from "#modules/states/_refused.ts";
import { saltenvOf } from "#modules/states/_saltenv.ts";
import { CommandError, messageOf } from "#lib/errors.ts";
import { schemeOf } from "#lib/host/filesystem/checksums.ts";
import { expandUser, realPath } from "#lib/os/disk_paths.ts";
import { joinPath } from "#lib/os/paths.ts";
import { checkSignature, missingBackend, type Signers, signersOf } from "#lib/host/gnupg/file_signature.ts";
import { isFile } from "#lib/os/file_kind.ts";
import type { StateContext } from "#lib/plugins/job_context.ts";
import { stateResult } from "#lib/plugins/state_module.ts";
import { hideCredentials } from "#lib/text/url_credentials.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { map, str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** The arguments that say which archive is meant. */
export interface SourceArguments extends Signers {
  readonly source: Value;
  readonly source_hash: Value;
  readonly source_hash_name: Value;
  readonly source_hash_sig: Value;
  readonly skip_verify: Value;
  readonly use_etag: Value;
  readonly signature: Value;
}

/** A chosen archive. */
export interface ArchiveSource {
  /** Its URL, or its path on this host. */
  readonly match: string;
  /** Whether it is a file of this host. */
  readonly local: boolean;
  /** The end of its URL, which tells the format. */
  readonly name: string;
}

/** What `run` returns; a failed execution function ends the state. */
async function orRefuse<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof CommandError) throw new Refused(error.message);
    throw error;
  }
}

/**
 * Chooses the source of a list.
 * @throws {Refused} If there is none, or it is a file of this host that is not there.
 */
export async function chooseArchiveSource(
  { source, source_hash }: SourceArguments,
  context: StateContext,
): Promise<ArchiveSource> {
  const chosen = await orRefuse(() => context.call("file.source_list", [source, source_hash, saltenvOf(context)]));
  const match = Array.isArray(chosen) ? chosen[0] : null;
  if (!truthy(match)) throw new Refused(`Invalid source "${str(source)}"`);
  const url = str(match);
  const local = ["", "file"].includes(schemeOf(url));
  const name = rstripChars(url.replace(/^[A-Za-z][\w+.-]*:\/\//, "").replace(/[?#].*$/s, ""), "/");
  if (!local) return { match: url, local, name };
  const path = realPath(expandUser(url.replace(/^file:\/\//i, "")));
  if (!isFile(path)) throw new Refused(`Source file '${hideCredentials(path)}' does not exist`);
  return { match: path, local, name };
}

/** The digest that `source_hash` tells; an empty map without one. */
export async function sourceSum(
  given: SourceArguments,
  { match }: ArchiveSource,
  context: StateContext,
): Promise<ValueMap> {
  if (!truthy(given.source_hash)) return new Map();
  const { source_hash, source_hash_name, source_hash_sig } = given;
  const saltenv = saltenvOf(context);
  const kwargs = { source: match, source_hash, source_hash_name, saltenv, source_hash_sig, ...signersOf(given) };
  return mapOrEmpty(await orRefuse(() => context.call("file.get_source_sum", [], map(kwargs))));
}

/** Whether what is kept of an earlier extraction has the digest that is wanted (`skip_files_list_verify`). */
export async function isKnown(sum: ValueMap, { match, local }: ArchiveSource, context: StateContext): Promise<boolean> {
  const saltenv = saltenvOf(context);
  const cached = local ? match : str(await context.call("cp.is_cached", [match], map({ saltenv })));
  const url = URL.parse(match);
  // Where a copy of another URL would be, if there was one.
  const place = joinPath(
    context.opts.cachedir,
    "extrn_files",
    saltenv,
    url?.host ?? "",
    (url?.pathname ?? "").slice(1),
  );
  const stored = storedSum(cached === "" ? place : cached, context);
  return sum.size > 0 && stored !== undefined && stored.hsum === sum.get("hsum");
}

/**
 * The archive on this host: a copy is fetched, unless it is this host's own.
 * @throws {Refused} If it cannot be had.
 */
export async function fetchArchive(
  given: SourceArguments,
  { match, local }: ArchiveSource,
  context: StateContext,
): Promise<string> {
  if (local) return match;
  if (context.test) {
    throw new Refused(
      `Archive ${
        hideCredentials(match)
      } would be cached (if necessary) and checked to discover if extraction is needed`,
      { result: null },
    );
  }
  const saltenv = saltenvOf(context);
  const { source_hash, source_hash_name, skip_verify, use_etag, source_hash_sig } = given;
  let cached: ValueMap;
  try {
    cached = await context.state(
      "file.cached",
      map({
        name: match,
        source_hash: source_hash ?? "",
        source_hash_name,
        skip_verify,
        saltenv,
        use_etag,
        source_hash_sig,
        ...signersOf(given),
      }),
    );
  } catch (error) {
    context.signal.throwIfAborted();
    throw new Refused(`Failed to cache ${hideCredentials(match)}: ${messageOf(error)}`);
  }
  if (!truthy(cached.get("result"))) {
    const { comment, ...more } = stateResult(cached);
    throw new Refused(comment, more);
  }
  return str(await context.call("cp.is_cached", [match], map({ saltenv })));
}

/** @throws {Refused} If no module here checks signatures. */
export async function needBackend(given: SourceArguments, context: StateContext): Promise<void> {
  if (!truthy(given.signature) && !truthy(given.source_hash_sig)) return;
  const missing = await missingBackend(given, context);
  if (missing !== undefined) throw new Refused(missing);
}

/**
 * Checks the signature of the file at `path`, if there is one.
 * @throws {Refused} If it does not hold.
 */
export async function needSignature(path: string, given: SourceArguments, context: StateContext): Promise<void> {
  const { signature } = given;
  if (!truthy(signature)) return;
  try {
    await checkSignature({ path, signature, saltenv: saltenvOf(context) }, signersOf(given), context);
  } catch (error) {
    if (!(error instanceof CommandError)) throw error;
    throw new Refused(`Failed verifying the source file's signature: ${error.message}`);
  }
}
