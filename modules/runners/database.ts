/**
 * Runner `database`: the store of jobs that `master_job_cache` names, and the way into it and back. Works without a
 * running master. Not in Salt.
 * @module
 */

import { runner, type RunnerContext, runnerDoc, type RunnerFunction } from "#lib/client/runner_context.ts";
import { CommandError, StoreError } from "#lib/errors.ts";
import type { JobStore } from "#lib/jobs/store.ts";
import { p } from "#lib/plugins/module.ts";
import { copyJobs } from "#lib/stores/move_jobs.ts";
import { openRows } from "#lib/stores/open_rows.ts";
import { openJobStore } from "#lib/stores/open_store.ts";
import { outboxDirectory, RecordOutbox } from "#lib/stores/record_outbox.ts";
import { POSTGRES_SCHEMA } from "#lib/stores/postgres_schema.ts";
import { SCHEMA } from "#lib/stores/rows.ts";
import { jobStoreKind } from "#lib/stores/store_options.ts";
import { map, type ValueMap } from "#lib/values/value.ts";

export const status: RunnerFunction = runner({
  doc: runnerDoc(
    `Show the store of jobs: its kind, where it is, the number of its schema and the one that this version makes, the records that
wait in the outbox of this master, the writes that wait, the oldest partition, and its size in bytes.`,
    "database.status",
  ),
  params: {},
  async run(_, { opts, log }) {
    const store = jobStoreKind(opts);
    if (store === "local_cache") {
      return statusOf({ store, server: `${opts.cachedir}/jobs`, schema: null, outbox: 0 });
    }
    const outbox = new RecordOutbox({
      directory: outboxDirectory(opts),
      maxBytes: opts.outbox_max_bytes,
      log: (text) => log("warning", text),
    });
    return await withDatabase(async () => {
      const rows = openRows(opts);
      try {
        return statusOf({ store, ...await rows.status(), outbox: outbox.count });
      } finally {
        await rows.close();
      }
    });
  },
});

function statusOf({ store, server, schema, outbox, waiting = 0, oldestPartition = null, size = null }: {
  readonly store: string;
  readonly server: string;
  readonly schema: number | null;
  readonly outbox: number;
  readonly waiting?: number;
  readonly oldestPartition?: string | null;
  readonly size?: number | null;
}): ValueMap {
  const wanted = store === "postgresql" ? POSTGRES_SCHEMA : store === "sqlite" ? SCHEMA : null;
  return map({ store, server, schema, wanted, outbox, waiting, oldest_partition: oldestPartition, size });
}

export const migrate: RunnerFunction = runner({
  doc: runnerDoc(
    "Make the schema of the store of jobs, or upgrade it; a master does so by itself when it starts. Return its number.",
    "database.migrate",
  ),
  params: {},
  async run(_, { opts }) {
    checkDatabase(opts);
    return await withDatabase(async () => {
      const rows = openRows(opts);
      try {
        return (await rows.status()).schema;
      } finally {
        await rows.close();
      }
    });
  },
});

export const load: RunnerFunction = runner({
  doc: runnerDoc(
    `Copy the jobs of this master's files into the database that master_job_cache names. It can be repeated: nothing is doubled, and
nothing that is there is overwritten. Return how many jobs and returns are new there.

jobs : True
    Whether jobs are copied.`,
    "database.load",
  ),
  params: { jobs: p.bool(true) },
  run: ({ jobs }, context) => {
    checkDatabase(context.opts);
    return moved(jobs, () => [filesBelow(context.opts.cachedir, context), databaseOf(context)]);
  },
});

export const save: RunnerFunction = runner({
  doc: runnerDoc(
    `Copy the jobs of the database into files of Salt's layout, which Salt's local_cache reads: the way back. It can be repeated.
Return how many jobs and returns are new there.

to
    The directory that gets the directory jobs. Default: cachedir.`,
    "database.save",
    "database.save to=/srv/jobs_of_the_database",
  ),
  params: { to: p.str(null) },
  run: ({ to }, context) => {
    checkDatabase(context.opts);
    if (to !== null && !to.startsWith("/")) throw new CommandError(`to must be an absolute path, and is ${to}`);
    return moved(true, () => [databaseOf(context), filesBelow(to ?? context.opts.cachedir, context)]);
  },
});

type RunnerOpts = RunnerContext["opts"];

/** @throws {CommandError} If the jobs are in files alone. */
function checkDatabase(opts: RunnerOpts): void {
  if (jobStoreKind(opts) !== "local_cache") return;
  throw new CommandError("master_job_cache names no database: set it to sqlite or postgresql");
}

function databaseOf({ opts, log }: RunnerContext): JobStore {
  return openJobStore(opts, { log: (text) => log("warning", text) });
}

function filesBelow(cachedir: string, { opts, log }: RunnerContext): JobStore {
  const files: RunnerOpts = { ...opts, cachedir, master_job_cache: "local_cache" };
  return openJobStore(files, { log: (text) => log("warning", text) });
}

async function moved(
  jobs: boolean,
  open: () => readonly [from: JobStore, to: JobStore],
): Promise<ValueMap> {
  if (!jobs) return map({ jobs: 0, returns: 0 });
  return await withDatabase(async () => {
    const [from, to] = open();
    try {
      return map({ ...await copyJobs(from, to) });
    } finally {
      await Promise.all([from.close(), to.close()]);
    }
  });
}

/** @throws {CommandError} With what the database says. */
async function withDatabase<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof StoreError) throw new CommandError(error.message, { cause: error });
    throw error;
  }
}
