/**
 * Where the contents of a managed file come from. Only what lies on this host is fetched: there is no file server yet, and no file client
 * for other URLs; both are said by name.
 * Source: Salt 3008.3, `salt/modules/file.py` source_list, get_managed; `salt/modules/cp.py` cache_file.
 * @module
 */

import { CommandError, InvocationError } from "../errors.ts";
import { hashFile, type HashNames, isFileScheme, readSourceHash, schemeOf, type SourceSum } from "./checksums.ts";
import { isAnything } from "../os/file_kind.ts";
import { isMap, str, type Value } from "../values/value.ts";

/** What is not built, in one sentence. */
function notFetched(url: string): string {
  const scheme = schemeOf(url);
  return scheme === "salt"
    ? `Cannot fetch '${url}': there is no file server yet`
    : `Cannot fetch '${url}': ${scheme}:// sources are not fetched yet`;
}

/**
 * The local path of a source: an absolute path, or one behind `file://`.
 * @throws {CommandError} For a relative path, and for what would have to be fetched.
 */
export function localPath(source: string): string {
  const scheme = schemeOf(source);
  if (scheme !== "" && scheme !== "file") {
    throw new CommandError(
      isFileScheme(scheme) ? notFetched(source) : `Cannot fetch '${source}': ${scheme}:// is not supported`,
    );
  }
  const path = source.replace(/^file:\/\//i, "").replace(/(?<=.)\/+$/, "");
  if (!path.startsWith("/")) throw new CommandError(`Path '${path}' is not absolute`);
  return path;
}

/** A source that was chosen, with the hash that belongs to it. */
export interface ChosenSource {
  readonly source: Value;
  readonly hash: Value;
}

/**
 * `file.source_list`: the first source of a list that exists. One that is no list stays, whether it exists or not.
 * @throws {CommandError} If none exists; what would have to be fetched counts as missing.
 */
export function chooseSource(source: Value, hash: Value): ChosenSource {
  if (!Array.isArray(source)) return { source, hash };
  for (const single of source) {
    const [name, own] = isMap(single) ? single.size === 1 ? [...single][0] : [null, null] : [single, null];
    if (typeof name === "string" && isLocal(name)) {
      return { source: name, hash: own === null || own === "" ? hash : own };
    }
  }
  const remote = source.map((single) => str(isMap(single) ? [...single.keys()][0] ?? "" : single))
    .find((name) => !["", "file"].includes(schemeOf(name)));
  throw new CommandError(
    `none of the specified sources were found${remote === undefined ? "" : ` (${notFetched(remote)})`}`,
  );
}

function isLocal(source: string): boolean {
  if (schemeOf(source) === "file") return isAnything(source.replace(/^file:\/\//i, ""));
  return source.startsWith("/") && isAnything(source);
}

/** What `file.get_managed` gives: the file with the contents and its digest, or what is wrong. */
export interface Managed {
  readonly sfn: string;
  readonly sum: SourceSum | undefined;
  /** Empty if nothing is wrong. */
  readonly problem: string;
}

/** The arguments of `file.get_managed` that count. */
export interface ManagedRequest extends HashNames {
  /** The file that is managed. */
  readonly name: string;
  readonly source: string;
  readonly sourceHash: string | null;
  readonly template: string | null;
  readonly skipVerify: boolean;
  readonly saltenv: string;
}

/** Finds the contents of a managed file. @throws {InvocationError} If the source is the file itself, as a template. */
export async function findManaged(request: ManagedRequest): Promise<Managed> {
  const { source, sourceHash, template } = request;
  const problem = (text: string): Managed => ({ sfn: "", sum: undefined, problem: text });
  if (source === "") return { sfn: "", sum: undefined, problem: "" };
  const scheme = isFileScheme(schemeOf(source)) ? schemeOf(source) : "";
  if (scheme === "salt") {
    return problem(`Source file ${source} not found in saltenv '${request.saltenv}': there is no file server yet`);
  }
  if (scheme !== "" && scheme !== "file") {
    if (!sourceHash && !request.skipVerify) {
      return problem(
        `Unable to verify upstream hash of source file ${source}, please set source_hash or set skip_verify to True`,
      );
    }
    return problem(`Failed to cache ${source}: ${notFetched(source)}`);
  }
  const sfn = scheme === "file" ? source.replace(/^file:\/\//i, "").replace(/(?<=.)\/+$/, "") : source;
  if (!isAnything(sfn)) return problem(`Local file source ${sfn} does not exist`);
  let sum: SourceSum | undefined;
  if (!sourceHash) sum = { hsum: hashFile(sfn, "sha256"), hash_type: "sha256" };
  else if (!request.skipVerify) {
    try {
      sum = await readSourceHash(
        sourceHash,
        { ...request, fileName: request.name },
        (url) => Promise.resolve(localPath(url)),
      );
    } catch (error) {
      if (error instanceof CommandError) return problem(`Unable to manage file: ${error.message}`);
      throw error;
    }
  }
  if (template) {
    if (sfn === request.name) throw new InvocationError("Source file cannot be the same as destination");
    return { sfn, sum: undefined, problem: `Specified template format ${template} is not supported` };
  }
  return { sfn, sum, problem: "" };
}
