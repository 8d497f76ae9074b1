/**
 * The jobs of this host's minion as other processes see them: by the files `<cachedir>/proc/<jid>`.
 *
 * `salt-call` reads those of a running minion, and leaves one of its own while it runs.
 * Source: salt-protocol.md section 6, "Minion"; Salt 3008.3 `salt/utils/minion.py` running.
 * @module
 */

import { readFileIfExists, removeIfExists, writeFileAtomic } from "./atomic_file.ts";
import { MsgpackError } from "./errors.ts";
import type { RunningJob } from "./job_context.ts";
import { isJid } from "./jid.ts";
import { decode, encode } from "./msgpack.ts";
import { compareStrings, isMap, str, type ValueMap } from "./value.ts";

/** The `tgt` of the jobs that `salt-call` runs. */
export const SALT_CALL_TARGET = "salt-call";

/**
 * Notes that this process runs a job.
 * @param note `fun`, `pid`, `jid` and `tgt`.
 * @returns What takes the note away. Where it cannot be written there is none: it is a convenience.
 */
export function noteJob(cachedir: string, note: ValueMap): () => void {
  const path = `${cachedir}/proc/${note.get("jid")}`;
  try {
    Deno.mkdirSync(`${cachedir}/proc`, { recursive: true, mode: 0o700 });
    writeFileAtomic(path, encode(note, "disk"), { mode: 0o600 });
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

/** The jobs that are being run by processes that are alive, the oldest first. */
export function notedJobs(cachedir: string): RunningJob[] {
  let names: string[];
  try {
    names = [...Deno.readDirSync(`${cachedir}/proc`)].map(({ name }) => name).filter(isJid).sort(compareStrings);
  } catch {
    return []; // no minion was ever here, or its jobs are none of our business
  }
  return names.flatMap((jid) => {
    const note = readNote(`${cachedir}/proc/${jid}`);
    const pid = note?.get("pid");
    if (note === undefined || typeof pid !== "number" || !isAlive(pid)) return [];
    if (note.get("state") === "queued") return [];
    const text = (key: string) => str(note.get(key) ?? "");
    return [{
      jid,
      fun: text("fun"),
      arg: note.get("arg") ?? [],
      tgt: note.get("tgt") ?? "",
      tgt_type: text("tgt_type"),
      ret: text("ret"),
      user: text("user"),
      pid,
    }];
  });
}

function readNote(path: string): ValueMap | undefined {
  try {
    const bytes = readFileIfExists(path);
    const note = bytes === undefined ? undefined : decode(bytes, "disk");
    return isMap(note) ? note : undefined;
  } catch (error) {
    if (error instanceof MsgpackError || error instanceof Deno.errors.PermissionDenied) return undefined;
    throw error;
  }
}

function isAlive(pid: number): boolean {
  try {
    return Deno.statSync(`/proc/${pid}`).isDirectory;
  } catch {
    return false;
  }
}
