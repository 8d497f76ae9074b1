/**
 * Reads the files that describe a host (`/proc`, `/sys`, `/etc`). A file that cannot be read counts as missing. Tests
 * use a directory that imitates another host.
 * @module
 */

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

  /** The bytes of a file as a text of as many characters, in which texts can be searched. */
  latin1(path: string): string | undefined {
    try {
      return new TextDecoder("latin1").decode(Deno.readFileSync(this.root + path));
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

  /** The target of a symbolic link. */
  link(path: string): string | undefined {
    try {
      return Deno.readLinkSync(this.root + path);
    } catch {
      return undefined;
    }
  }
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
