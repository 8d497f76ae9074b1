/**
 * Runner `database`: the store of jobs that `master_job_cache` names, and the way into it and back. Works without a
 * running master. Not in Salt.
 * @module
 */

import { runner, type RunnerContext, runnerDoc, type RunnerFunction } from "#lib/client/runner_context.ts";
import { CommandError, PreflightError, StoreError } from "#lib/errors.ts";
import type { JobStore } from "#lib/jobs/store.ts";
import { p } from "#lib/plugins/module.ts";
import type { MovedBanks } from "#lib/cluster_banks/move_banks.ts";
import { copyJobs } from "#lib/stores/move_jobs.ts";
import { openRows } from "#lib/stores/open_rows.ts";
import { openJobStore } from "#lib/stores/open_store.ts";
import { outboxDirectory, outboxRecords } from "#lib/stores/record_outbox.ts";
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
  async run(_, { opts }) {
    const store = jobStoreKind(opts);
    if (store === "local_cache") {
      return statusOf({ store, server: `${opts.cachedir}/jobs`, schema: null, outbox: 0 });
    }
    const outbox = outboxRecords(outboxDirectory(opts));
    return await withDatabase(async () => {
      const rows = openRows(opts);
      try {
        return statusOf({ store, ...await rows.status(), outbox });
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
    `Copy what this master's files have into the database: jobs, and in a cluster keys of minions, their grains, pillar and mine,
and tokens. It can be repeated: nothing is doubled, and nothing that is there is overwritten. Return how many jobs and returns are
new there; in a cluster also keys (minions) and data (rows).

jobs : True
    Whether jobs are copied.

keys : True
    Whether keys are copied: those of minions of which the database knows nothing. In a cluster.

data : True
    Whether data and tokens are copied. In a cluster.`,
    "database.load",
    "database.load jobs=False",
  ),
  params: { jobs: p.bool(true), keys: p.bool(true), data: p.bool(true) },
  async run({ jobs, keys, data }, context) {
    const { opts } = context;
    checkDatabase(opts);
    const done = await moved(jobs, () => [filesBelow(opts.cachedir, context), databaseOf(context)]);
    return await withBanks(done, context, ({ loadBanks }, warn) => loadBanks(opts, { keys, data }, warn));
  },
});

export const save: RunnerFunction = runner({
  doc: runnerDoc(
    `Copy what the database has into files of Salt's layout, which a master without it reads: the way back. It can be repeated.
Jobs that are there stay; in a cluster keys, data and tokens in the files become what the database has. Return how many jobs and
returns are new there; in a cluster also how many keys (minions) and data (rows) have changed.

to
    The directory that gets the directory jobs, and in a cluster grains, pillar, mine, tokens, and pki with the keys of minions and
    the key pair of the masters. Default: the directories of this master.`,
    "database.save",
    "database.save to=/srv/jobs_of_the_database",
  ),
  params: { to: p.str(null) },
  async run({ to }, context) {
    const { opts } = context;
    checkDatabase(opts);
    if (to !== null && !to.startsWith("/")) throw new CommandError(`to must be an absolute path, and is ${to}`);
    const done = await moved(true, () => [databaseOf(context), filesBelow(to ?? opts.cachedir, context)]);
    return await withBanks(done, context, ({ saveBanks }, warn) => saveBanks(opts, to, warn));
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

/** In a cluster moves the rest, and adds what was moved. */
async function withBanks(
  done: ValueMap,
  { opts, log }: RunnerContext,
  move: (code: typeof import("#lib/cluster_banks/move_banks.ts"), warn: (text: string) => void) => Promise<MovedBanks>,
): Promise<ValueMap> {
  if (!opts.cluster_id) return done;
  const code = await import("#lib/cluster_banks/move_banks.ts");
  const { keys, data } = await withDatabase(() => move(code, (text) => log("warning", text)));
  return done.set("keys", keys).set("data", data);
}

/** @throws {CommandError} With what the database says. */
async function withDatabase<T>(run: () => Promise<T>): Promise<T> {
  try {
    return await run();
  } catch (error) {
    if (error instanceof StoreError || error instanceof PreflightError) {
      throw new CommandError(error.message, { cause: error });
    }
    throw error;
  }
}
