/**
 * The records of a minion's journal: accepted jobs, finished jobs, and spooled returns. They are appended by the code
 * that writes the files, and replayed when the next process starts.
 * @module
 */

import { messageOf } from "#lib/errors.ts";
import { makeDirectorySynced, removeIfExists, writeFileAtomic } from "#lib/os/atomic_file.ts";
import { isJid } from "#lib/protocol/jid.ts";
import type { JidMemory } from "#lib/minion/masters/jid_memory.ts";
import { checkDurability, Journal, type JournalOptions, replayJournal } from "#lib/os/journal.ts";
import type { Logger } from "#lib/runtime/log.ts";
import { encode } from "#lib/values/msgpack.ts";
import type { MinionOpts } from "#lib/config/options.ts";
import { procDirectory, writeNote } from "#lib/jobs/proc_notes.ts";
import { isMasterSpool, spoolDirectory } from "#lib/minion/masters/spool_directories.ts";
import { isMap, str, toNumber } from "#lib/values/value.ts";

function optionsOf(opts: MinionOpts, log: Logger): JournalOptions {
  const { cachedir } = opts;
  return {
    directory: `${cachedir}/journal`,
    files: [cachedir, spoolDirectory(opts), procDirectory(cachedir)],
    log: log.error,
  };
}

/** The journal; `undefined` with `durability: process`. */
export function minionJournal(opts: MinionOpts, log: Logger): Journal | undefined {
  return opts.durability === "machine" ? new Journal(optionsOf(opts, log)) : undefined;
}

/**
 * Restores data that a power failure removed from the files of the last process; also with `process`, if that one ran
 * with `machine`. Call it before the files are read.
 * @param jids Makes the memory of accepted jobs.
 * @throws {PreflightError} If this system cannot provide `durability`.
 */
export async function restoreMinion(opts: MinionOpts, jids: () => JidMemory, log: Logger): Promise<void> {
  checkDurability(opts);
  const { cachedir } = opts;
  const spoolOf = (of: string) => isMasterSpool(of) ? `${spoolDirectory(opts)}/${of}` : spoolDirectory(opts);
  let memory: JidMemory | undefined;
  try {
    const count = await replayJournal(optionsOf(opts, log), (record) => {
      const field = (name: string) => isMap(record) ? record.get(name) ?? null : null;
      const jid = str(field("jid")), name = str(field("name")), kind = field("kind");
      const load = field("load"), of = str(field("of") ?? "");
      if (kind === "taken" && isJid(jid)) {
        const serial = toNumber(field("serial")), key = field("key");
        memory ??= jids();
        memory.add(jid, serial !== undefined && typeof key === "string" ? { serial, key } : undefined);
      } else if (kind === "job" && isMap(load) && isJid(str(load.get("jid") ?? null))) {
        makeDirectorySynced(procDirectory(cachedir));
        writeNote(cachedir, load);
      } else if (kind === "over" && isJid(jid)) removeIfExists(`${procDirectory(cachedir)}/${jid}`);
      else if (kind === "spooled" && isMap(load) && SPOOLED.test(name)) {
        writeFileAtomic(`${spoolOf(of)}/${name}`, encode(load, "disk"), { mode: 0o600, makeDirectory: true });
      } else if (kind === "sent" && SPOOLED.test(name)) removeIfExists(`${spoolOf(of)}/${name}`);
      else log.error("A record of the journal has a kind that this version does not know");
    });
    if (count > 0) log.info(`Read ${count} records of the journal that the last minion left`);
  } catch (error) {
    log.error(`The journal stays for the next start: ${messageOf(error)}`);
  }
}

const SPOOLED = /^\d{20}\.p$/;
