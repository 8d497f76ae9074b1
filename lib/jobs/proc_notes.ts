/**
 * The notes in `<cachedir>/proc`: a msgpack file for each job that is being run, under its job id, as Salt's tools read them.
 * Knows the files; what a note says is its writer's business.
 * @module
 */

import { isDirectory } from "../os/file_kind.ts";
import { readFileIfExists, removeIfExists, writeFileAtomic } from "../os/atomic_file.ts";
import { MsgpackError } from "../errors.ts";
import { isJid } from "../protocol/jid.ts";
import { decode, encode } from "../values/msgpack.ts";
import { compareStrings, isMap, type Value, type ValueMap } from "../values/value.ts";

/** A note that was found. */
export interface ProcNote {
  /** Its file, which is named by the job's id. */
  readonly path: string;
  /** The job's id. */
  readonly jid: string;
  /** What it says; `undefined` if it was cut off while it was written. */
  readonly note: ValueMap | undefined;
}

/** The directory of the notes. */
export function procDirectory(cachedir: string): string {
  return `${cachedir}/proc`;
}

/** Writes a note for its `jid`. @throws What a write throws. */
export function writeNote(cachedir: string, note: ValueMap): string {
  const path = `${procDirectory(cachedir)}/${note.get("jid")}`;
  writeFileAtomic(path, encode(note, "disk"), { mode: 0o600 });
  return path;
}

/**
 * Writes a note that is a convenience: where it cannot be written, there is none.
 * @returns What takes it away.
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

/** The notes that there are and that may be read, the oldest first; none where the directory cannot be. */
export function readNotes(cachedir: string): ProcNote[] {
  const directory = procDirectory(cachedir);
  let jids: string[];
  try {
    jids = [...Deno.readDirSync(directory)].map(({ name }) => name).filter(isJid).sort(compareStrings);
  } catch {
    return []; // nothing was ever run here, or it is none of our business
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

/** The note in a file; `undefined` if it is gone, or was cut off while it was written. */
export function readNote(path: string): ValueMap | undefined {
  try {
    const bytes = readFileIfExists(path);
    const note = bytes === undefined ? undefined : decode(bytes, "disk");
    return isMap(note) ? note : undefined;
  } catch (error) {
    if (error instanceof MsgpackError) return undefined;
    throw error;
  }
}

/** Whether the process is there whose id a note says. */
export function isAlive(pid: Value | undefined): boolean {
  return typeof pid === "number" && isDirectory(`/proc/${pid}`);
}
