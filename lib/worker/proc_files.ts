/**
 * The files `<cachedir>/proc/<jid>` that say which jobs a minion has, as Salt's tools read them; and what the next minion
 * finds of one that died.
 * Source: salt-protocol.md section 6, "Minion".
 * @module
 */

import { removeIfExists, statIfExists } from "../os/atomic_file.ts";
import { isJid } from "../protocol/jid.ts";
import type { RecordTaker } from "../os/journal.ts";
import type { Packable } from "../values/msgpack.ts";
import { isAlive, procDirectory, readNote, writeNote } from "../jobs/proc_notes.ts";
import { map, type Value, type ValueMap } from "../values/value.ts";

/** Whether a job is being run, or waits for its turn. */
export type ProcState = "queued" | "running";

/** A job that an earlier minion had when it died. */
export interface LeftJob {
  /** Its load, as it was published. */
  readonly load: ValueMap;
  /** How far it was. */
  readonly state: ProcState;
}

/** The field that tells a minion's own notes from those of `salt-call`. */
const STATE = "state";

/** The files of one minion. */
export class ProcFiles {
  readonly #cachedir: string;
  readonly #journal: RecordTaker | undefined;

  /** The jobs that an earlier minion had when it died; their files stay until {@linkcode remove}. */
  readonly left: readonly LeftJob[];

  /**
   * Takes up what a minion that died has left. Notes of a `salt-call` whose process is gone are removed. Of a note that a power failure has
   * left empty, the job's id is known, which is its name.
   * @param journal Told of each change.
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
      // A process of the same number as this one was another.
      if (pid === Deno.pid || !isAlive(pid)) removeIfExists(path);
      return [];
    });
  }

  /** Says that this minion has job `jid`. */
  add(jid: string, load: ValueMap, state: ProcState = "running"): void {
    const note: ValueMap = new Map([...load, ["jid", jid], ["pid", Deno.pid], [STATE, state]]);
    writeNote(this.#cachedir, note);
    this.#journal?.append(new Map<Value, Packable>([["kind", "job"], ["load", note]]));
  }

  /** Says that it no longer has. */
  remove(jid: string): void {
    removeIfExists(`${procDirectory(this.#cachedir)}/${jid}`);
    this.#journal?.append(map({ kind: "over", jid }));
  }
}
