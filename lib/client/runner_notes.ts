/**
 * The `proc` files of runners: while a runner runs, `<cachedir>/proc/<jid>` holds its job and the id of its process.
 * Source: Salt 3008.3 `salt/utils/master.py` (msgpack of the `new` event and `pid`).
 * @module
 */

import { removeIfExists } from "#lib/os/atomic_file.ts";
import { isAlive, leaveNote, readNotes } from "#lib/jobs/proc_notes.ts";
import { stamp } from "#lib/bus/event.ts";
import type { Value, ValueMap } from "#lib/values/value.ts";

/**
 * Records that this process runs a runner.
 * @param data The data of the event `new`: `fun`, `jid`, `user`, `fun_args`; the file has `_stamp` too.
 * @returns A function that removes the file. If the file cannot be written, that is ignored: nothing depends on it.
 */
export function noteRunner(cachedir: string, data: ValueMap): () => void {
  return leaveNote(cachedir, stamp<Value>(data).set("pid", Deno.pid));
}

/** The runners that are running, the oldest first. Removes the files of processes that have ended. */
export function runningRunners(cachedir: string): ValueMap[] {
  return readNotes(cachedir).flatMap(({ path, note }) => {
    if (note !== undefined && isAlive(note.get("pid"))) return [note];
    removeIfExists(path);
    return [];
  });
}
