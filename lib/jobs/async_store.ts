/**
 * A job store of synchronous code: the files of `local_cache`, whose calls take microseconds. Each call is done in the
 * turn in which it is made, so what is written and its record in the journal stay together.
 * @module
 */

import { sleep } from "#lib/os/sleep.ts";
import { listed } from "./job_query.ts";
import type { CleaningLimits, JobStore, SyncJobStore } from "./store.ts";

/** Length of a slice of cleaning, in milliseconds; then other work gets a turn. */
const SLICE_MS = 5;

/** The store that `files` are. */
export function asyncJobStore(files: SyncJobStore): JobStore {
  const { acks, noLog, outputs, batches } = files;
  return {
    ...jobMethods(files),
    acks: {
      save: promised((jid, id, ack) => acks.save(jid, id, ack)),
      all: promised((jid) => acks.all(jid)),
    },
    noLog: {
      save: promised((jid, reader) => noLog.save(jid, reader)),
      reader: promised((jid) => noLog.reader(jid)),
    },
    outputs: {
      open: promised((jid) => outputs.open(jid)),
      has: promised((jid, id) => outputs.has(jid, id)),
      append: promised((jid, id, batch) => outputs.append(jid, id, batch)),
      read: promised((jid, id) => outputs.read(jid, id)),
      ids: promised((jid) => outputs.ids(jid)),
    },
    batches: {
      save: promised((state) => batches.save(state)),
      read: promised((jid) => batches.read(jid)),
      active: promised(() => batches.active()),
    },
    list: (query = {}) => listed(files.walk(), query),
    clean: (limits, signal) => cleaned(files, limits, signal),
    close: () => Promise.resolve(),
  };
}

function jobMethods(
  files: SyncJobStore,
): Omit<JobStore, "acks" | "noLog" | "outputs" | "batches" | "list" | "clean" | "close"> {
  return {
    prepare: promised((jid, options) => files.prepare(jid, options)),
    saveLoad: promised((jid, load, minions) => files.saveLoad(jid, load, minions)),
    saveMinionsBelow: promised((jid, minions, syndic) => files.saveMinionsBelow(jid, minions, syndic)),
    saveReturn: promised((load) => files.saveReturn(load)),
    adopt: promised((load) => files.adopt(load)),
    saveEndTime: promised((jid, text) => files.saveEndTime(jid, text)),
    restore: promised((record) => files.restore(record)),
    exists: promised((jid) => files.exists(jid)),
    getLoad: promised((jid) => files.getLoad(jid)),
    getReturns: promised((jid) => files.getReturns(jid)),
    getReturn: promised((jid, id) => files.getReturn(jid, id)),
    has: promised((jid, id) => files.has(jid, id)),
    answered: promised((jobs) => files.answered(jobs)),
    returnedMs: promised((jid, id) => files.returnedMs(jid, id)),
    getEndTime: promised((jid) => files.getEndTime(jid)),
  };
}

/** `run`, whose result or error is a promise's. */
function promised<Given extends unknown[], Result>(
  run: (...given: Given) => Result,
): (...given: Given) => Promise<Result> {
  return (...given) => Promise.try(() => run(...given));
}

async function cleaned(files: SyncJobStore, limits: CleaningLimits, signal: AbortSignal | undefined): Promise<number> {
  const round = files.clean(limits);
  let removed = 0;
  let until = performance.now() + SLICE_MS;
  for (let step = round.next(); !signal?.aborted; step = round.next()) {
    if (step.done) {
      removed = step.value;
      break;
    }
    if (performance.now() < until) continue;
    await sleep(0);
    until = performance.now() + SLICE_MS;
  }
  return removed;
}
