/**
 * The jobs of this host's minion for other processes, read from the files `<cachedir>/proc/<jid>`. `salt-call` reads
 * those of a running minion, and its own. Source: docs/protocol.md "A job on a minion"; Salt 3008.3
 * `salt/utils/minion.py` running.
 * @module
 */

import type { RunningJob } from "#lib/plugins/job_context.ts";
import { isAlive, readNotes } from "#lib/jobs/proc_notes.ts";
import { str } from "#lib/values/value.ts";

/** The jobs of running processes, the oldest first. */
export function notedJobs(cachedir: string): RunningJob[] {
  return readNotes(cachedir).flatMap(({ jid, note }) => {
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
      // The proc file of a minion's job has the minion's own process id, which must not be killed to end a job.
      pid: note.has("state") ? null : pid,
    }];
  });
}
