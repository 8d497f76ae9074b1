/**
 * The files in which a host tells about itself (`/proc`, `/sys`, `/etc`), read without fuss: what cannot be read is not
 * there. Tests read a directory that looks like another host's.
 * @module
 */

/** Reads files below `root`; what cannot be read is `undefined` or empty. */
export class HostFiles {
  /**
   * Makes the files below a directory.
   * @param root What stands for `/`, without a final slash; empty for this host.
   */
  constructor(readonly root = "") {}

  /** The text of a file; bytes that are no UTF-8 are replaced. `undefined` if it cannot be read. */
  text(path: string): string | undefined {
    try {
      return Deno.readTextFileSync(this.root + path);
    } catch {
      return undefined;
    }
  }

  /** The text of a file without the blanks around it. */
  line(path: string): string | undefined {
    return this.text(path)?.trim();
  }

  /** Whether there is something at a path. */
  exists(path: string): boolean {
    try {
      Deno.statSync(this.root + path);
      return true;
    } catch {
      return false;
    }
  }

  /** The names in a directory, sorted; none if it cannot be read. */
  names(path: string): string[] {
    try {
      return [...Deno.readDirSync(this.root + path)].map(({ name }) => name).sort();
    } catch {
      return [];
    }
  }

  /** What a symbolic link points to. */
  link(path: string): string | undefined {
    try {
      return Deno.readLinkSync(this.root + path);
    } catch {
      return undefined;
    }
  }
}

/** The `KEY=value` lines of a file such as os-release, quotes taken off. */
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
