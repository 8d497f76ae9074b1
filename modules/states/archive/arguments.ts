/**
 * The arguments of `archive.extracted`, and the directory, the format and the method that follow from them. Source:
 * Salt 3008.3 `salt/states/archive.py` extracted.
 * @module
 */

import { rstripChars } from "#lib/values/python_text.ts";
import { Refused } from "#modules/states/_refused.ts";
import { type ArchiveFormat, guessArchiveFormat } from "#lib/host/archives/archive_format.ts";
import { relativePath } from "#lib/os/paths.ts";
import { isFile } from "#lib/os/file_kind.ts";
import { type Bound, p } from "#lib/plugins/module.ts";
import { str, truthy, type Value, type ValueMap } from "#lib/values/value.ts";

/** The declaration. */
export const EXTRACTED = {
  name: p.any(),
  source: p.any(),
  source_hash: p.any(null),
  source_hash_name: p.any(null),
  source_hash_update: p.any(false),
  skip_files_list_verify: p.any(false),
  skip_verify: p.any(false),
  password: p.any(null),
  options: p.any(null),
  list_options: p.any(null),
  force: p.any(false),
  overwrite: p.any(false),
  clean: p.any(false),
  clean_parent: p.any(false),
  user: p.any(null),
  group: p.any(null),
  if_missing: p.any(null),
  trim_output: p.any(false),
  use_cmd_unzip: p.any(null),
  extract_perms: p.any(true),
  enforce_toplevel: p.any(true),
  enforce_ownership_on: p.any(null),
  archive_format: p.any(null),
  use_etag: p.any(false),
  signature: p.any(null),
  source_hash_sig: p.any(null),
  signed_by_any: p.any(null),
  signed_by_all: p.any(null),
  keyring: p.any(null),
  gnupghome: p.any(null),
  sig_backend: p.str("gpg"),
};

/** What the state gets. */
export type ExtractedArguments = Bound<typeof EXTRACTED>;

/** The docstring of `archive.extracted`. */
export const EXTRACTED_DOC = `Extract an archive, unless everything in it is there already.

name
    The directory to extract to.

source
    The archive: salt://, a path on the minion, file://, http:// or https://; or a list, of which the first counts that
    exists.

source_hash
    Its digest, with or without \`TYPE=\`, or a file of digests.

source_hash_name
    The name that the file of digests has for it.

source_hash_update : False
    Whether it is extracted again when its digest has changed. The digest is kept in the minion's cache.

skip_files_list_verify : False
    Whether the kept digest alone decides, and nobody looks at what is there.

skip_verify : False
    Whether the digest of what is fetched is not checked.

keep_source : True
    Whether the fetched archive stays in the minion's cache. Also called \`keep\`.

password
    The password of a ZIP archive.

options
    Options for the program \`tar\` or \`unzip\`, which is used then.

list_options
    A command that decompresses a tar archive to its standard output, where nothing else does.

force : False
    Whether what is in the place of something of another kind is removed.

overwrite : False
    Whether it is extracted in any case.

clean : False
    Whether what it has at its top is removed before it is extracted.

clean_parent : False
    Whether the directory is removed before it is extracted.

user, group
    The owner of what was extracted.

if_missing
    A path that, where it exists, means that nothing is to be done.

trim_output : False
    How many lines the changes hold; True: 100.

use_cmd_unzip
    Whether the program \`unzip\` is used. Default: with \`options\`. Not with a password, unless there are \`options\`.

extract_perms : True
    Whether files of a ZIP archive get the modes that it keeps.

enforce_toplevel : True
    Whether an archive is refused that has more at its top than one directory.

enforce_ownership_on
    A path below the directory that gets the owner, in place of all that was extracted.

archive_format
    \`tar\`, \`zip\` or \`rar\`. Default: what the source's ending tells.

use_etag : False
    Whether the ETag of a server decides if the archive is fetched again.

signature, source_hash_sig, signed_by_any, signed_by_all, keyring, gnupghome, sig_backend
    Signatures of the archive and of the file of digests, for the function \`verify\` of the module \`sig_backend\`.`;

/** Whether a path that may be None is absolute. */
function isAbsolute(path: Value): boolean {
  return path === null || typeof path === "string" && path.startsWith("/");
}

/**
 * The directory, with a slash at its end.
 * @throws {Refused} If it cannot be one, or other paths are wrong.
 */
export function directoryOf({ name, if_missing, enforce_ownership_on: only }: ExtractedArguments): string {
  if (!isAbsolute(name)) throw new Refused(`${str(name)} is not an absolute path`);
  if (!truthy(name)) throw new Refused("Name of the directory path needs to be specified");
  const path = rstripChars(str(name), "/");
  if (isFile(path)) throw new Refused(`${path} exists and is not a directory`);
  if (!isAbsolute(if_missing)) throw new Refused("Value for 'if_missing' is not an absolute path");
  if (!isAbsolute(only)) throw new Refused("Value for 'enforce_ownership_on' is not an absolute path");
  if (only !== null && relativePath(str(only), path).startsWith("../")) {
    throw new Refused(`Value for 'enforce_ownership_on' must be within ${path}/`);
  }
  return `${path}/`;
}

/**
 * Whether the fetched archive is kept.
 * @param warnings Gets what Salt warns of.
 */
export function keepsSource(kwargs: ValueMap, warnings: string[]): boolean {
  if (kwargs.has("keep_source") && kwargs.has("keep")) {
    warnings.push("Both 'keep_source' and 'keep' were used. Since these both do the same thing, 'keep' was ignored.");
  }
  const given = kwargs.get("keep_source") ?? kwargs.get("keep");
  return given === undefined || truthy(given);
}

const FORMATS: readonly ArchiveFormat[] = ["tar", "rar", "zip"];

/**
 * The format.
 * @param name The end of the source's URL.
 * @throws {Refused} If it is not known.
 */
export function formatOf({ archive_format: given }: ExtractedArguments, name: string): ArchiveFormat {
  if (!truthy(given)) {
    const guessed = guessArchiveFormat(name);
    if (guessed !== undefined) return guessed;
    throw new Refused(
      "Could not guess archive_format from the value of the 'source' argument. Please set this archive_format to one of the following: " +
        FORMATS.join(", "),
    );
  }
  const word = str(given).toLowerCase();
  const format = FORMATS.find((one) => one === word);
  if (format !== undefined) return format;
  throw new Refused(
    `Invalid archive_format '${word}'. Either set it to a supported value (${
      FORMATS.join(", ")
    }) or remove this argument and the ` +
      "archive format will be guessed based on file extension.",
  );
}

/** How the archive is extracted. */
export interface Method {
  readonly options: string | null;
  /** How many directories `options` take off the names; `undefined`: none. */
  readonly strip: number | undefined;
  /** Whether the program `unzip` does it. */
  readonly unzipProgram: boolean;
}

/**
 * The way to extract.
 * @param warnings Gets what Salt warns of.
 * @throws {Refused} If arguments do not fit each other.
 */
export function methodOf(given: ExtractedArguments, format: ArchiveFormat, warnings: string[]): Method {
  const options = given.options === null ? null : str(given.options);
  const secret = truthy(given.password);
  if (format !== "zip") {
    if (secret) throw new Refused("The 'password' argument is only supported for zip archives");
    if (format === "rar") refuseOptions(options);
    const [, count] = /--strip(?:-components)?(?:\s+|=)["']?(\d+)["']?/.exec(options ?? "") ?? [];
    return { options, strip: count === undefined ? undefined : Number(count), unzipProgram: false };
  }
  let unzipProgram = truthy(given.use_cmd_unzip);
  if (options) {
    if (given.use_cmd_unzip !== null && !unzipProgram) {
      throw new Refused(
        "'use_cmd_unzip' cannot be set to False if CLI options are being specified (via the 'options' argument). " +
          "Either remove 'use_cmd_unzip', or set it to True.",
      );
    }
    unzipProgram = true;
  }
  if (secret && unzipProgram) {
    warnings.push(
      "Using a password in combination with setting 'use_cmd_unzip' to True is considered insecure. It is recommended to remove the " +
        "'use_cmd_unzip' argument (or set it to False) and allow Salt to extract the archive using Python's built-in ZIP file support.",
    );
    // Every process of the host could read the password among the program's arguments.
    if (!options) unzipProgram = false;
  }
  return { options, strip: undefined, unzipProgram };
}

function refuseOptions(options: string | null): void {
  if (options) {
    throw new Refused("The 'options' argument is only compatible with the following archive formats: tar, zip");
  }
}

/** What the failure to list an archive's contents means for the state, behind the reason. */
export function explainUnlisted(given: ExtractedArguments, format: ArchiveFormat): string {
  const errors = [
    ...truthy(given.if_missing) ? [] : ["'if_missing' must be set"],
    ...!truthy(given.enforce_ownership_on) && (truthy(given.user) || truthy(given.group))
      ? ["Ownership cannot be managed without setting 'enforce_ownership_on'."]
      : [],
  ];
  if (errors.length === 0) return "";
  const advice = format === "tar"
    ? "If the source archive is a tar archive compressed using a compression type not natively supported by the tar command, then setting " +
      "the 'list_options' argument may allow the contents to be listed. Otherwise, if Salt is unable to determine the files/directories in " +
      "the archive, the following workaround(s) would need to be used for this state to proceed"
    : "The following workarounds must be used for this state to proceed";
  const list = errors.map((error) => `\n- ${error}`).join("");
  return `\n\n${advice} (assuming the source file is a valid ${format} archive):\n${list}`;
}
