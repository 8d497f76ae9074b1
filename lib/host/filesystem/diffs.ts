/**
 * How two files differ, as `file.get_diff` and the states show it.
 * Source: Salt 3008.3, `salt/modules/file.py` get_diff; `salt/utils/stringutils.py` get_conditional_diff.
 * @module
 */

import { linesWithEnds } from "#lib/text/split_lines.ts";
import { CommandError } from "#lib/errors.ts";
import { sameBytes as equalBytes } from "#lib/crypto/same_bytes.ts";
import { systemReason } from "#lib/os/deno_texts.ts";
import { unifiedDiff } from "#lib/text/unified_diff.ts";
import { strip } from "#lib/values/python_text.ts";
import { compareStrings } from "#lib/values/value.ts";
import { beginsAsText, isText, lenientText, sameFileBytes } from "./contents.ts";

/** What a comparison ignores. */
export interface Ignoring {
  readonly ordering?: boolean;
  readonly whitespace?: boolean;
  /** Texts from which on a line is a comment. */
  readonly comments?: readonly string[];
}

/** Whether anything is ignored. */
export function ignoresSomething({ ordering, whitespace, comments = [] }: Ignoring): boolean {
  return ordering === true || whitespace === true || comments.length > 0;
}

/** The texts in place of a hidden diff. */
export type Hidden = "<Obfuscated Template>" | "<show_changes=False>";

/** Options of {@linkcode diffFiles}. */
export interface DiffOptions {
  /** Whether the head names the files. */
  readonly names?: boolean;
  /** What to show in place of the diff. */
  readonly hidden?: Hidden;
  readonly ignoring?: Ignoring;
}

/** How two files differ. */
export interface FileDiff {
  /** Empty if the bytes are equal. */
  readonly text: string;
  /** Whether they differ in more than what is ignored; without anything to ignore, whether they differ. */
  readonly counts: boolean;
}

/** Bytes up to which files are read for a diff. Beyond that it would say less than it costs. */
const LARGEST = 16 * 1024 * 1024;

/** One side of a comparison: the path of a file, or bytes. */
export type Compared = string | Uint8Array;

/**
 * Compares the files at `from` and `to`. Large ones are not loaded into memory.
 * @throws {CommandError} If one cannot be read.
 */
export function diffFiles(from: Compared, to: Compared, options: DiffOptions = {}): FileDiff {
  const [size, other] = [sizeOf(from), sizeOf(to)];
  if (size === other && areEqual(from, to)) return { text: "", counts: false };
  if (options.hidden !== undefined) return { text: options.hidden, counts: true };
  const kinds = kindsText(holdsText(from), holdsText(to));
  if (kinds !== undefined) return { text: kinds, counts: true };
  if (Math.max(size, other) > LARGEST) {
    return { text: `Replace a file of ${size} bytes with one of ${other} bytes, too large for a diff`, counts: true };
  }
  const [old, now] = [from, to].map((each) => linesWithEnds(lenientText(bytesOf(each))));
  const hasNames = options.names !== false && typeof from === "string" && typeof to === "string";
  const lines = unifiedDiff(old, now, hasNames ? { from, to } : undefined);
  // The same characters in another encoding.
  if (lines.length === 0) return { text: "Replace binary file", counts: true };
  return { text: lines.join(""), counts: differs(lines, options.ignoring ?? {}) };
}

function kindsText(old: boolean, now: boolean): string | undefined {
  if (old && now) return undefined;
  if (!old && !now) return "Replace binary file";
  return old ? "Replace text file with binary file" : "Replace binary file with text file";
}

function areEqual(one: Compared, other: Compared): boolean {
  if (typeof one === "string" && typeof other === "string") return reading(one, () => sameFileBytes(one, other));
  return equalBytes(bytesOf(one), bytesOf(other));
}

function bytesOf(compared: Compared): Uint8Array {
  return typeof compared === "string" ? reading(compared, () => Deno.readFileSync(compared)) : compared;
}

function holdsText(compared: Compared): boolean {
  return typeof compared === "string" ? isText(compared) : beginsAsText(compared);
}

function sizeOf(path: Compared): number {
  if (typeof path !== "string") return path.length;
  return reading(path, () => {
    using file = Deno.openSync(path);
    const { size, isDirectory } = file.statSync();
    if (isDirectory) Deno.readFileSync(path); // throws with the reason
    return size;
  });
}

/** @throws {CommandError} If a file cannot be read. */
function reading<T>(path: string, read: () => T): T {
  try {
    return read();
  } catch (error) {
    if (error instanceof Deno.errors.NotCapable) throw error;
    throw new CommandError(`Failed to read ${path}: ${systemReason(error)}`);
  }
}

/** Whether a diff has changes other than ignored ones. */
function differs(diff: readonly string[], ignoring: Ignoring): boolean {
  if (!ignoresSomething(ignoring)) return diff.length > 0;
  const linesWith = (sign: string) =>
    diff.filter((line) => line.startsWith(sign) && !line.startsWith("+++") && !line.startsWith("---"))
      .map((line) => withoutIgnored(line.slice(1), ignoring)).filter((line) => line !== "").sort(compareStrings);
  const [added, taken] = [linesWith("+"), linesWith("-")];
  return added.length !== taken.length || added.some((line, i) => line !== taken[i]);
}

function withoutIgnored(line: string, { whitespace, comments = [] }: Ignoring): string {
  const code = comments.reduce((text, mark) => text.includes(mark) ? text.slice(0, text.indexOf(mark)) : text, line);
  return whitespace === true ? strip(code) : code;
}
