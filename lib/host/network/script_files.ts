/**
 * The files that describe a host's network. Tests put them below their own directory.
 * @module
 */

import { overwriteFile } from "#lib/host/filesystem/contents.ts";
import { existsOrThrow, isDirectory } from "#lib/os/file_kind.ts";
import { settingError } from "./interface_settings.ts";

/** Files below `root`. */
export class ScriptFiles {
  /** @param root The prefix of paths, without a final slash; empty for this host. */
  constructor(readonly root = "") {}

  /** The text of a file; `undefined` if it cannot be read. */
  text(path: string): string | undefined {
    try {
      return Deno.readTextFileSync(this.root + path);
    } catch (error) {
      if (error instanceof Deno.errors.NotCapable) throw error;
      return undefined;
    }
  }

  /** Whether there is anything at `path`. */
  exists(path: string): boolean {
    return existsOrThrow(this.root + path);
  }

  /** The names in a directory, sorted; none if there is no such directory. */
  names(path: string): string[] {
    if (!isDirectory(this.root + path)) return [];
    return [...Deno.readDirSync(this.root + path)].map(({ name }) => name).sort();
  }

  /** Writes a file in place: its owner and mode do not change. */
  write(path: string, text: string): void {
    overwriteFile(this.root + path, new TextEncoder().encode(text));
  }

  /**
   * Writes the file `name` of a directory.
   * @throws Python's AttributeError if there is no such directory.
   */
  writeIn(directory: string, name: string, text: string): string {
    const path = `${directory.replace(/\/$/, "")}/${name}`;
    if (!this.exists(directory)) throw settingError(`${path} cannot be written. ${directory} does not exist`);
    this.write(path, text);
    return path;
  }
}
