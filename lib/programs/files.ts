/**
 * Reads the files that describe a host (`/proc`, `/sys`, `/etc`). A file that cannot be read counts as missing. Tests
 * use a directory that imitates another host.
 * @module
 */

import { which } from "./which.ts";

/** Reads files below `root`; what cannot be read is `undefined` or empty. */
export class HostFiles {
  /** @param root Replaces `/`, without a final slash; empty for this host. */
  constructor(readonly root = "") {}

  /** The text of a file; invalid UTF-8 is replaced. `undefined` if it cannot be read. */
  text(path: string): string | undefined {
    try {
      return Deno.readTextFileSync(this.root + path);
    } catch {
      return undefined;
    }
  }

  /**
   * Searches a file for `word`, which is ASCII, and calls `read` with each piece that begins one character before it; a
   * character stands for a byte.
   * @returns The first result that is not `undefined`. Programs are searched this way, without a copy of their
   * megabytes.
   */
  search<T>(path: string, word: string, read: (piece: string) => T | undefined): T | undefined {
    const bytes = this.#bytes(path);
    if (bytes === undefined) return undefined;
    const wanted = new TextEncoder().encode(word);
    for (let at = indexOf(bytes, wanted, 1); at >= 0; at = indexOf(bytes, wanted, at + 1)) {
      const result = read(new TextDecoder("latin1").decode(bytes.subarray(at - 1, at + PIECE)));
      if (result !== undefined) return result;
    }
    return undefined;
  }

  #bytes(path: string): Uint8Array | undefined {
    try {
      return Deno.readFileSync(this.root + path);
    } catch {
      return undefined;
    }
  }

  /** The text of a file without surrounding white space. */
  line(path: string): string | undefined {
    return this.text(path)?.trim();
  }

  /** Whether `path` exists. */
  exists(path: string): boolean {
    try {
      Deno.statSync(this.root + path);
      return true;
    } catch {
      return false;
    }
  }

  /** The names in a directory, sorted; empty if it cannot be read. */
  names(path: string): string[] {
    try {
      return [...Deno.readDirSync(this.root + path)].map(({ name }) => name).sort();
    } catch {
      return [];
    }
  }

  /** The path of an executable of this host: see {@linkcode which}. */
  program(name: string): string | undefined {
    return which(name, this.root);
  }

  /** The target of a symbolic link. */
  link(path: string): string | undefined {
    try {
      return Deno.readLinkSync(this.root + path);
    } catch {
      return undefined;
    }
  }
}

/** Bytes of a piece of a file that is searched. */
const PIECE = 2048;

/**
 * The index of `wanted` in `bytes`, from `start` on; -1 if it does not occur. Horspool's algorithm, which reads only
 * some of the bytes.
 */
function indexOf(bytes: Uint8Array, wanted: Uint8Array, start: number): number {
  const last = wanted.length - 1;
  const steps = new Uint8Array(256).fill(wanted.length);
  for (let i = 0; i < last; i++) steps[wanted[i]] = last - i;
  for (let at = start; at + last < bytes.length; at += steps[bytes[at + last]]) {
    let i = last;
    while (i >= 0 && bytes[at + i] === wanted[i]) i--;
    if (i < 0) return at;
  }
  return -1;
}

/** Parses the `KEY=value` lines of a file such as os-release; quotes are removed. */
export function parseAssignments(text: string): Map<string, string> {
  const assignments = new Map<string, string>();
  for (const line of text.split("\n")) {
    const match = /^\s*([A-Za-z_][A-Za-z0-9_]*)=(.*?)\s*$/.exec(line);
    if (match === null) continue;
    const quoted = /^(["'])(.*)\1$/.exec(match[2]);
    assignments.set(match[1], quoted === null ? match[2] : quoted[2].replace(/\\(.)/g, "$1"));
  }
  return assignments;
}
