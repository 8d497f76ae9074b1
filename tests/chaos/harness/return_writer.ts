/**
 * A program that stores returns as the thread of a master with the database does, and notes those that were
 * acknowledged: it is killed while it works. Its words: the directory of the master's configuration, the file of notes,
 * a text that begins the ids of its minions, and the id of the job. SIGTERM ends it.
 * @module
 */

import { loadMasterConfig } from "#lib/config/load.ts";
import { StoreError } from "#lib/errors.ts";
import { sleep } from "#lib/os/sleep.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { openMasterRows } from "#lib/stores/open_rows.ts";
import { rowJobStore } from "#lib/stores/row_store.ts";
import { map } from "#lib/values/value.ts";

/** Returns that are on their way at a time, and the pause after each, in milliseconds. */
const AT_ONCE = 16, PAUSE_MS = 10;
/** Each return is sent so often: a minion that got no answer sends it again. */
const SENDS = 2;

const [configDir, notes, prefix, jid] = Deno.args;
const say = (text: string) => void Deno.stderr.writeSync(new TextEncoder().encode(`${text}\n`));
const { opts } = loadMasterConfig({ configDir });
const rows = await openMasterRows(opts, { log: SILENT_LOGGER, onChange: say });
const store = rowJobStore(rows, { uniqueJid: false, maxOutputBytes: 0, log: say });
const file = Deno.openSync(notes, { append: true, create: true });
await store.saveLoad(jid, map({ jid, fun: "test.ping", tgt: "*", tgt_type: "glob" }), []);

let ended = false, next = 0;
const end = () => ended = true;
Deno.addSignalListener("SIGTERM", end);
await Promise.all(Array.from({ length: AT_ONCE }, async () => {
  while (!ended) {
    await storeOne(`${prefix}-${next++}`);
    await sleep(PAUSE_MS);
  }
}));
await store.close();
Deno.removeSignalListener("SIGTERM", end);

/** Stores a return until it is acknowledged, then once more, and notes both answers. */
async function storeOne(id: string): Promise<void> {
  for (let sent = 0; sent < SENDS;) {
    try {
      const stored = await store.saveReturn(map({ jid, id, fun: "test.ping", return: id, retcode: 0, success: true }));
      // One write: a killed program leaves no half line.
      file.writeSync(new TextEncoder().encode(`${id} ${stored}\n`));
      sent++;
    } catch (error) {
      if (!(error instanceof StoreError)) throw error;
      await sleep(20);
    }
  }
}
