/**
 * The files in `<cachedir>/proc` (not Linux's `/proc`): a msgpack file for each running job, named by its id, as Salt's
 * tools read them. Knows the files, not their contents.
 * @module
 */

import { isDirectory } from "#lib/os/file_kind.ts";
import { readFileIfExists, removeIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import { isJid } from "#lib/protocol/jid.ts";
import { decodeIfWhole, encode } from "#lib/values/msgpack.ts";
import { compareStrings, isMap, type Value, type ValueMap } from "#lib/values/value.ts";

/** The `tgt` of the jobs that `salt-call` runs. */
export const SALT_CALL_TARGET = "salt-call";

/** A file that was found. */
export interface ProcNote {
  /** The file; its name is the job's id. */
  readonly path: string;
  readonly jid: string;
  /** Its content; `undefined` if it is incomplete. */
  readonly note: ValueMap | undefined;
}

/** The directory of the files. */
export function procDirectory(cachedir: string): string {
  return `${cachedir}/proc`;
}

/**
 * Writes a file for the note's `jid`.
 * @throws What writing throws.
 */
export function writeNote(cachedir: string, note: ValueMap): string {
  const path = `${procDirectory(cachedir)}/${note.get("jid")}`;
  writeFileAtomic(path, encode(note, "disk"), { mode: 0o600 });
  return path;
}

/**
 * Writes an optional note: without it, if it cannot be written.
 * @returns A function that removes it.
 */
export function leaveNote(cachedir: string, note: ValueMap): () => void {
  let path: string;
  try {
    Deno.mkdirSync(procDirectory(cachedir), { recursive: true, mode: 0o700 });
    path = writeNote(cachedir, note);
  } catch {
    return () => {};
  }
  return () => {
    try {
      removeIfExists(path);
    } catch {
      // As above.
    }
  };
}

/** All readable notes, the oldest first; none if the directory cannot be read. */
export function readNotes(cachedir: string): ProcNote[] {
  const directory = procDirectory(cachedir);
  let jids: string[];
  try {
    jids = [...Deno.readDirSync(directory)].map(({ name }) => name).filter(isJid).sort(compareStrings);
  } catch {
    return []; // no job was ever run here, or this user may not see them
  }
  return jids.flatMap((jid) => {
    const path = `${directory}/${jid}`;
    try {
      return [{ path, jid, note: readNote(path) }];
    } catch (error) {
      if (error instanceof Deno.errors.PermissionDenied) return [];
      throw error;
    }
  });
}

/** Reads the note in a file; `undefined` if the file is missing or incomplete. */
export function readNote(path: string): ValueMap | undefined {
  const note = decodeIfWhole(readFileIfExists(path));
  return isMap(note) ? note : undefined;
}

/** Whether the process of a note is running. */
export function isAlive(pid: Value | undefined): boolean {
  return typeof pid === "number" && isDirectory(`/proc/${pid}`);
}
