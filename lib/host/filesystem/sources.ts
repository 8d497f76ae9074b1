/**
 * Where the contents of a managed file come from.
 * Source: Salt 3008.3, `salt/modules/file.py` source_list, get_managed; `salt/modules/cp.py` cache_file.
 * @module
 */

import { withoutEndSlashes } from "#lib/values/python_text.ts";
import { hideCredentials } from "#lib/text/url_credentials.ts";
import { CommandError, InvocationError } from "#lib/errors.ts";
import { hashFile, type HashNames, isFileScheme, readSourceHash, schemeOf, type SourceSum } from "./checksums.ts";
import { lexists } from "#lib/os/file_kind.ts";
import { isMap, type Value } from "#lib/values/value.ts";
import type { FetchOptions, SourceFiles } from "./source_files.ts";

/** Where to look for a source. */
export interface SourcePlace extends FetchOptions {
  /** The environment of the file server. */
  readonly saltenv: string;
  readonly files: SourceFiles;
}

/**
 * The path on this host of a source: an absolute path, `file://`, or a URL of which a copy is fetched.
 * @returns `undefined` if the file server has no such file. For a path on this host, it is not checked whether the file
 * exists.
 * @throws {CommandError} For a relative path, and for what cannot be fetched.
 */
export async function sourcePath(
  source: string,
  { saltenv, files, ...options }: SourcePlace,
): Promise<string | undefined> {
  const scheme = schemeOf(source);
  if (scheme !== "" && scheme !== "file") return await files.cacheFile(source, saltenv, options);
  const path = withoutEndSlashes(source.replace(/^file:\/\//i, ""));
  if (!path.startsWith("/")) throw new CommandError(`Path '${path}' is not absolute`);
  return path;
}

/** The chosen source, with its hash. */
export interface ChosenSource {
  readonly source: Value;
  readonly hash: Value;
}

/**
 * `file.source_list`: the first source of a list that exists. A source that is not a list is returned unchanged,
 * whether it exists or not.
 * @throws {CommandError} If none exists.
 */
export async function chooseSource(source: Value, hash: Value, place: SourcePlace): Promise<ChosenSource> {
  if (!Array.isArray(source)) return { source, hash };
  for (const single of source) {
    const [name, own] = isMap(single) ? single.size === 1 ? [...single][0] : [null, null] : [single, null];
    if (typeof name === "string" && await exists(name, place)) {
      return { source: name, hash: own === null || own === "" ? hash : own };
    }
  }
  throw new CommandError("none of the specified sources were found");
}

async function exists(source: string, { files, saltenv }: SourcePlace): Promise<boolean> {
  const scheme = schemeOf(source);
  if (scheme === "file") return lexists(source.replace(/^file:\/\//i, ""));
  if (["salt", "http", "https"].includes(scheme)) return await files.exists(source, saltenv);
  return source.startsWith("/") && lexists(source);
}

/** The result of `file.get_managed`: the file with the contents and its digest, or the problem. */
export interface ManagedSource {
  readonly sfn: string;
  readonly sum: SourceSum | undefined;
  /** Empty if nothing is wrong. */
  readonly problem: string;
}

/** The arguments of `file.get_managed` that are used. */
export interface ManagedRequest extends HashNames, Omit<SourcePlace, "sourceHash"> {
  /** The file that is managed. */
  readonly name: string;
  readonly source: string;
  readonly sourceHash: string | null;
  readonly template: string | null;
  readonly skipVerify: boolean;
  /**
   * Renders a template.
   * @returns The path of the result.
   * @throws {CommandError} With Salt's text.
   */
  render?(path: string, engine: string): Promise<string>;
  /**
   * Checks the signature of a file of hashes.
   * @throws {CommandError} If it does not hold.
   */
  checkHashFile?(path: string): Promise<void>;
}

/**
 * Finds the contents of a managed file.
 * @throws {InvocationError} If the source is the file itself, as a template.
 */
export async function findManaged(request: ManagedRequest): Promise<ManagedSource> {
  const { source } = request;
  if (source === "") return { sfn: "", sum: undefined, problem: "" };
  const scheme = isFileScheme(schemeOf(source)) ? schemeOf(source) : "";
  try {
    const source = await verifiable(request, scheme);
    return request.template || !["", "file", "salt"].includes(scheme)
      ? await fetchSource(request, source)
      : { ...source, problem: "" };
  } catch (error) {
    if (error instanceof Unmanageable) return { sfn: error.sfn, sum: undefined, problem: error.message };
    throw error;
  }
}

/** What is wrong with a source. */
class Unmanageable extends Error {
  constructor(message: string, readonly sfn: string = "") {
    super(message);
  }
}

type Found = Omit<ManagedSource, "problem">;

/** The file, if it is one of this host, and the digest that it must have. */
async function verifiable(request: ManagedRequest, scheme: string): Promise<Found> {
  const { source, sourceHash, saltenv, files } = request;
  if (scheme === "salt") {
    const hash = await files.hashFile(source, saltenv);
    if (hash === undefined) throw new Unmanageable(`Source file ${source} not found in saltenv '${saltenv}'`);
    return { sfn: "", sum: { hash_type: hash.hashType, hsum: hash.hsum } };
  }
  const sfn = scheme === "file" ? withoutEndSlashes(source.replace(/^file:\/\//i, "")) : scheme === "" ? source : "";
  if (sfn !== "" && !lexists(sfn)) throw new Unmanageable(`Local file source ${sfn} does not exist`);
  if (sfn !== "" && !sourceHash) return { sfn, sum: { hsum: hashFile(sfn, "sha256"), hash_type: "sha256" } };
  if (request.skipVerify) return { sfn, sum: undefined };
  if (sourceHash) return { sfn, sum: await askedSum(sourceHash, request) };
  if (request.useEtag) return { sfn, sum: undefined };
  throw new Unmanageable(
    `Unable to verify upstream hash of source file ${
      hidePassword(source)
    }, please set source_hash or set skip_verify to True`,
  );
}

async function askedSum(sourceHash: string, request: ManagedRequest): Promise<SourceSum> {
  try {
    return await readSourceHash(
      sourceHash,
      { ...request, fileName: request.name },
      hashFileFetcher({ ...request, sourceHash: undefined }, request.checkHashFile),
    );
  } catch (error) {
    if (error instanceof CommandError) throw new Unmanageable(`Unable to manage file: ${error.message}`);
    throw error;
  }
}

/**
 * Gives the local path of a file of hashes.
 * @param check Checks its signature.
 */
export function hashFileFetcher(
  place: SourcePlace,
  check?: (path: string) => Promise<void>,
): (url: string) => Promise<string> {
  return async (url) => {
    const path = await sourcePath(url, { ...place, useEtag: undefined });
    if (path === undefined) throw new CommandError(`Source hash file ${hidePassword(url)} not found`);
    await check?.(path);
    return path;
  };
}

/** A copy of the source, rendered if it is a template. */
async function fetchSource(request: ManagedRequest, { sfn: local, sum: wanted }: Found): Promise<ManagedSource> {
  const { source, template } = request;
  let [sfn, sum] = [local, wanted];
  if (sfn === "") ({ sfn, sum } = await copyOf(request, wanted));
  if (sfn === "" || !lexists(sfn)) throw new Unmanageable(`Source file '${hidePassword(source)}' not found`, sfn);
  if (sfn === request.name) throw new InvocationError("Source file cannot be the same as destination");
  if (!template) return { sfn, sum, problem: "" };
  if (request.render === undefined) {
    throw new Unmanageable(`Specified template format ${template} is not supported`, sfn);
  }
  try {
    const rendered = await request.render(sfn, template);
    return { sfn: rendered, sum: { hash_type: "sha256", hsum: hashFile(rendered, "sha256") }, problem: "" };
  } catch (error) {
    if (error instanceof CommandError) throw new Unmanageable(error.message, sfn);
    throw error;
  }
}

async function copyOf(request: ManagedRequest, wanted: SourceSum | undefined): Promise<Found> {
  const { source, saltenv, files, verifySsl, useEtag } = request;
  const there = request.skipVerify ? await files.cachedFile(source, saltenv) : undefined;
  if (there !== undefined) {
    const type = wanted?.hash_type ?? "sha256";
    return { sfn: there, sum: { hsum: hashFile(there, type), hash_type: type } };
  }
  try {
    const sfn = await files.cacheFile(source, saltenv, { verifySsl, useEtag, sourceHash: wanted?.hsum });
    return { sfn: sfn ?? "", sum: wanted };
  } catch (error) {
    if (error instanceof CommandError) {
      throw new Unmanageable(`Failed to cache ${hidePassword(source)}: ${error.message}`);
    }
    throw error;
  }
}

/** A URL for messages: without a password. */
function hidePassword(url: string): string {
  return hideCredentials(url);
}
