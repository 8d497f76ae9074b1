/**
 * The files `<cachedir>/proc/<jid>` that list a minion's jobs for Salt's tools, and for the next process after a crash.
 * Source: docs/protocol.md "Files of the minion".
 * @module
 */

import { removeIfExists, statIfExists } from "#lib/os/atomic_file.ts";
import { isJid } from "#lib/protocol/jid.ts";
import type { RecordTaker } from "#lib/os/journal.ts";
import type { Packable } from "#lib/values/msgpack.ts";
import { isAlive, procDirectory, readNote, writeNote } from "#lib/jobs/proc_notes.ts";
import { map, type Value, type ValueMap } from "#lib/values/value.ts";

/** Whether a job is running, or waits for its turn. */
export type ProcState = "queued" | "running";

/** A job of an earlier process that died. */
export interface LeftJob {
  /** Its load, as published. */
  readonly load: ValueMap;
  /** Whether the job was running, or waiting. */
  readonly state: ProcState;
}

/** The field that distinguishes a minion's own files from those of `salt-call`. */
const STATE = "state";

/** The proc files of one minion. */
export class ProcFiles {
  readonly #cachedir: string;
  readonly #journal: RecordTaker | undefined;

  /** The jobs of an earlier process that died; their files stay until {@linkcode remove}. */
  readonly left: readonly LeftJob[];

  /**
   * Reads the files of a process that died. Files of a `salt-call` that has ended are removed. If a power failure left
   * a file empty, the job's id is known from its name.
   * @param journal Gets a record of each change.
   */
  constructor(cachedir: string, journal?: RecordTaker) {
    this.#cachedir = cachedir;
    this.#journal = journal;
    const directory = procDirectory(cachedir);
    Deno.mkdirSync(directory, { recursive: true, mode: 0o700 });
    this.left = [...Deno.readDirSync(directory)].flatMap(({ name }) => {
      const path = `${directory}/${name}`;
      const load = readNote(path);
      const state = load?.get(STATE);
      if (load !== undefined && (state === "queued" || state === "running")) {
        load.delete(STATE);
        load.delete("pid");
        return [{ load, state }];
      }
      if (load === undefined && isJid(name) && statIfExists(path)?.size === 0) {
        return [{ load: map({ jid: name, fun: "", arg: [] }), state: "running" as const }];
      }
      const pid = load?.get("pid");
      // A process with the same pid as this one was another process.
      if (pid === Deno.pid || !isAlive(pid)) removeIfExists(path);
      return [];
    });
  }

  /** Records that this minion has job `jid`. */
  add(jid: string, load: ValueMap, state: ProcState = "running"): void {
    const note: ValueMap = new Map([...load, ["jid", jid], ["pid", Deno.pid], [STATE, state]]);
    writeNote(this.#cachedir, note);
    this.#journal?.append(new Map<Value, Packable>([["kind", "job"], ["load", note]]));
  }

  /** Removes the proc file of a job, and records in the journal that the job is over. */
  remove(jid: string): void {
    removeIfExists(`${procDirectory(this.#cachedir)}/${jid}`);
    this.#journal?.append(map({ kind: "over", jid }));
  }
}
