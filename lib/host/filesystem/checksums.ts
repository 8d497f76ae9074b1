/**
 * Digests of files, and the texts that say which digest a file should have: `source_hash` of states, and files of
 * hashes. Source: Salt 3008.3, `salt/modules/file.py` check_hash, get_source_sum, extract_hash; `salt/utils/files.py`
 * HASHES.
 * @module
 */

import { escapeRegex } from "#lib/regex/escape.ts";
import { CommandError, InvocationError } from "#lib/errors.ts";
import { streamingHash } from "#lib/crypto/hash.ts";
import { readUtf8File, universalLines } from "./contents.ts";
import { baseName } from "#lib/os/paths.ts";
import { strip } from "#lib/values/python_text.ts";

/** The digests that a source may have, with the number of their hexadecimal digits, in Salt's order. */
const LENGTHS: Readonly<Record<string, number>> = {
  sha512: 128,
  sha384: 96,
  sha256: 64,
  sha224: 56,
  sha1: 40,
  md5: 32,
};

function typeOfLength(length: number): string | undefined {
  return Object.keys(LENGTHS).find((type) => LENGTHS[type] === length);
}

function supportedTypes(): string {
  return Object.entries(LENGTHS).sort(([, a], [, b]) => a - b).map(([type, length]) => `${type} (${length})`).join(
    ", ",
  );
}

/** Bytes that are read at once. */
const BLOCK = 65_536;

/**
 * The hexadecimal digest of the file at `path`.
 * @param form A name of Python's hashlib.
 * @throws {InvocationError} If there is no such digest.
 */
export function hashFile(path: string, form: string): string {
  using file = Deno.openSync(path);
  const hash = streamingHash(form, { size: file.statSync().size });
  if (hash === undefined) throw new InvocationError(`Invalid hash type: ${form}`);
  const block = new Uint8Array(BLOCK);
  for (let length = file.readSync(block); length !== null; length = file.readSync(block)) {
    hash.update(block.subarray(0, length));
  }
  return hash.digest().toHex();
}

/**
 * Whether the file has the digest: `TYPE:DIGEST`, `TYPE=DIGEST`, or one whose length tells its type.
 * @throws {InvocationError}
 */
export function hasHash(path: string, hash: string): boolean {
  const separator = [":", "="].find((one) => hash.includes(one));
  const at = separator === undefined ? -1 : hash.indexOf(separator);
  const type = at < 0 ? typeOfLength(hash.length) : hash.slice(0, at);
  if (type === undefined) {
    throw new InvocationError(
      `Hash ${hash} (length: ${hash.length}) could not be matched to a supported hash type. ` +
        `The supported hash types and lengths are: ${supportedTypes()}`,
    );
  }
  return hashFile(path, type) === hash.slice(at + 1);
}

/** A digest with its type. */
export interface SourceSum {
  readonly hash_type: string;
  readonly hsum: string;
}

/** The protocols of Salt's file client. */
const PROTOCOLS = ["salt", "file", "http", "https", "ftp", "swift", "s3"];

/** The scheme of a URL in lower case; empty if there is none. */
export function schemeOf(url: string): string {
  return /^([A-Za-z][A-Za-z0-9+.-]*):/.exec(url)?.[1].toLowerCase() ?? "";
}

/** Whether Salt's file client knows the scheme. */
export function isFileScheme(scheme: string): boolean {
  return PROTOCOLS.includes(scheme);
}

function badFormat(hash: string): CommandError {
  return new CommandError(
    `Source hash ${hash} format is invalid. The supported formats are: 1) a hash, 2) an expression in the format <hash_type>=<hash>, or 3) ` +
      "either a path to a local file containing hashes, or a URI of a remote hash file. Supported protocols for remote hash files are: " +
      `${
        PROTOCOLS.join(", ")
      }. The hash may also not be of a valid length, the following are supported hash types and lengths: ${supportedTypes()}.`,
  );
}

/** The names of the file whose digest is looked up. */
export interface HashNames {
  readonly fileName?: string;
  readonly source?: string;
  /** The name that the file of hashes has for it. */
  readonly sourceHashName?: string | null;
}

/**
 * What `source_hash` says: a digest, `TYPE=DIGEST`, or a file of hashes.
 * @param fetch Gives the local path of a URL.
 * @throws {CommandError} If it is not usable.
 */
export async function readSourceHash(
  hash: string | null,
  names: HashNames,
  fetch: (url: string) => Promise<string>,
): Promise<SourceSum> {
  if (hash === null) throw badFormat("None");
  const scheme = schemeOf(hash);
  const file = hash.startsWith("/") ? hash : isFileScheme(scheme) ? await fetch(hash) : undefined;
  if (file !== undefined) {
    const sum = extractHash(file, { ...names, hashType: "" });
    if (sum === undefined) throw badFormat(hash);
    return { ...sum, hsum: sum.hsum.toLowerCase() };
  }
  if (scheme !== "") throw badFormat(hash);
  const equals = hash.indexOf("=");
  const hsum = strip(hash.slice(equals + 1));
  const type = equals < 0 ? typeOfLength(hash.length) : strip(hash.slice(0, equals));
  if (type === undefined || (equals < 0 && !/^[0-9a-fA-F]+$/.test(hash))) throw badFormat(hash);
  if (!Object.hasOwn(LENGTHS, type)) {
    throw new CommandError(
      `Invalid hash type '${type}'. Supported hash types are: ${
        Object.keys(LENGTHS).join(", ")
      }. Either remove the hash type and ` +
        `simply use '${hsum}' as the source_hash, or change the hash type to a supported type.`,
    );
  }
  const fitting = typeOfLength(hsum.length);
  if (fitting === undefined) throw badFormat(hash);
  if (fitting !== type) {
    throw new CommandError(
      `Invalid length (${hsum.length}) for hash type '${type}'. Either remove the hash type and simply use '${hsum}' as the source_hash, ` +
        `or change the hash type to '${fitting}'`,
    );
  }
  const digest = hsum.toLowerCase();
  // In the order in which Salt puts them into its map.
  return equals < 0 ? { hsum: digest, hash_type: type } : { hash_type: type, hsum: digest };
}

/**
 * The digest that a file of hashes has for a file: that of a line with the name, else the first one.
 * @param names.hashType Only digests of this type; empty or unknown: of all that are supported.
 */
export function extractHash(path: string, names: HashNames & { readonly hashType: string }): SourceSum | undefined {
  const length = Object.hasOwn(LENGTHS, names.hashType) ? String(LENGTHS[names.hashType]) : "32,128";
  const digest = new RegExp(`(?<![a-z0-9])([a-f0-9]{${escapeRegex(length)}})(?![a-z0-9])`, "i");
  const { fileName = "", source = "" } = names;
  const sourceHashName = names.sourceHashName ?? "";
  const sourcePath = /^[A-Za-z][A-Za-z0-9+.-]*:\/\/([^/]*)(\/?[^?#]*)/.exec(source);
  const sourceBase = baseName(sourcePath === null ? source : sourcePath[2] || sourcePath[1]);
  const wanted = [
    { name: sourceHashName, ending: sourceHashName, separators: /[ \t\n\r\v\f]/ },
    { name: fileName, ending: baseName(fileName), separators: /[ \t\n\r\v\f\\/*]/ },
    { name: source, ending: sourceBase, separators: /[ \t\n\r\v\f\\/*]/ },
  ];
  const sums: (SourceSum | undefined)[] = [undefined, undefined, undefined];
  let first: SourceSum | undefined;
  for (const raw of universalLines(readUtf8File(path))) {
    const line = strip(raw);
    const hsum = digest.exec(line)?.[1];
    const type = hsum === undefined ? undefined : typeOfLength(hsum.length);
    if (hsum === undefined || type === undefined) continue;
    const sum = { hsum, hash_type: type };
    first ??= sum;
    wanted.forEach(({ name, ending, separators }, i) => {
      if (name !== "" && sums[i] === undefined && namesFile(line, { name, ending, separators })) sums[i] = sum;
    });
  }
  return sums.find((sum) => sum !== undefined) ?? first;
}

function namesFile(
  line: string,
  { name, ending, separators }: { readonly name: string; readonly ending: string; readonly separators: RegExp },
): boolean {
  if (line.endsWith(ending)) {
    const before = line.at(-ending.length - 1);
    return before !== undefined && separators.test(before);
  }
  return line.startsWith(name) && /^\s/.test(line.slice(name.length));
}

/**
 * A value that is not a text where a hash is wanted.
 * @throws {InvocationError}
 */
export function hashText(hash: unknown): string {
  if (typeof hash !== "string") throw new InvocationError("hash must be a string");
  return hash;
}
