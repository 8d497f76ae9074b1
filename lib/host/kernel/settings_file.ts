/**
 * Files with one setting per line: finds and sets values, and writes the file atomically. Other lines are kept.
 * @module
 */

import { rstripChars } from "#lib/values/python_text.ts";
import { readTextFileIfExists, statIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";

/** The path of a file of the system in `root`. */
export function inRoot(path: string, root = "/"): string {
  return rstripChars(root, "/") + path;
}

/** The value of the first line `KEY=value` that is not a comment, without its quotes. */
export function settingIn(path: string, key: string): string | undefined {
  for (const line of (readTextFileIfExists(path) ?? "").split("\n")) {
    const equals = line.indexOf("=");
    if (equals > 0 && line.slice(0, equals).trim() === key) {
      return line.slice(equals + 1).trim().replace(/^["']|["']$/g, "");
    }
  }
  return undefined;
}

export interface LineChange {
  /** Whether a line is the wanted one. */
  readonly isMeant: (line: string) => boolean;
  readonly line: string;
  /** Whether the line is added at the end if none matches, in a new file if necessary. */
  readonly add: boolean;
}

/**
 * Replaces lines of a file.
 * @returns Whether the file changed.
 */
export function replaceLines(path: string, { isMeant, line, add }: LineChange): boolean {
  const text = readTextFileIfExists(path);
  if (text === undefined && !add) return false;
  const lines = (text ?? "").replace(/\n$/, "").split("\n").filter((_, i) =>
    text !== undefined && text !== "" || i > 0
  );
  const replaces = lines.some(isMeant);
  const changed = [...lines.map((one) => isMeant(one) ? line : one), ...replaces || !add ? [] : [line]];
  return writeLines(path, changed, text);
}

/**
 * Writes the lines of a file and keeps its mode.
 * @returns Whether it changed.
 */
export function writeLines(path: string, lines: readonly string[], before = readTextFileIfExists(path)): boolean {
  const text = lines.map((line) => `${line}\n`).join("");
  if (text === before) return false;
  const mode = (statIfExists(path)?.mode ?? 0o644) & 0o777;
  writeFileAtomic(path, text, { mode, makeDirectory: true });
  return true;
}
