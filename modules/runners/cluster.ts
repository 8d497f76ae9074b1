/**
 * Runner `cluster`: the masters of this master's cluster, their leases, and the keys that they share. It asks the
 * database, and works without a running master. Salt's runner of this name is about its own clusters.
 * @module
 */

import { runner, type RunnerContext, runnerDoc, type RunnerFunction } from "#lib/client/runner_context.ts";
import { forgetMember, leasesOf, membersOf } from "#lib/cluster/member_rows.ts";
import { type OpenCluster, openClusterDatabase } from "#lib/cluster/open_cluster.ts";
import { makePublishKey, publishKeys } from "#lib/cluster/secret_rows.ts";
import { CommandError, PreflightError, StoreError } from "#lib/errors.ts";
import { p } from "#lib/plugins/module.ts";
import { map } from "#lib/values/value.ts";

export const members: RunnerFunction = runner({
  doc: runnerDoc(
    `Show the masters of the cluster: whether each is alive, its address, its version and the level of what it tells others, when it
was started, how many minions are connected to it, how many milliseconds its last sign of life took, and how many records wait in
its outbox.`,
    "cluster.members",
  ),
  params: {},
  run: (_, context) =>
    withCluster(context, async ({ database }) => {
      const found = await database.read((client) => membersOf(client, database.schema));
      return new Map(found.map(({ name, alive, address, version, protocol, since, minions, lagMs, outbox }) => [
        name,
        map({ alive, address, version, protocol, since, minions, lag_ms: lagMs, outbox }),
      ]));
    }),
});

export const leases: RunnerFunction = runner({
  doc: runnerDoc(
    `Show what one master at a time does for all: maintenance, the schedule of the master, the reactor. Of each: the master that
has it or had it last, whether it has it now, and until when unless it renews it.`,
    "cluster.leases",
  ),
  params: {},
  run: (_, context) =>
    withCluster(context, async ({ database }) => {
      const found = await database.read((client) => leasesOf(client, database.schema));
      return new Map(found.map(({ name, master, held, until }) => [name, map({ master, held, until })]));
    }),
});

export const forget: RunnerFunction = runner({
  doc: runnerDoc(
    `Forget a master that will not come back: cluster.members no longer shows it. A master that is alive is not forgotten. If it
is started again, it is a new member.

name
    The name of the master.`,
    "cluster.forget master-b",
  ),
  params: { name: p.str() },
  run: ({ name }, context) =>
    withCluster(context, async ({ database }) => {
      const outcome = await database.write((client) => forgetMember(client, database.schema, name));
      if (outcome === "forgotten") return true;
      throw new CommandError(
        outcome === "alive"
          ? `The master ${name} is alive: stop it first`
          : `The cluster has no master of the name ${name}`,
      );
    }),
});

export const rotate: RunnerFunction = runner({
  doc: runnerDoc(
    `Make a new key for all masters of the cluster. Return its generation.

key
    Which key: publish, with which jobs are encrypted for minions. All masters take it at once.`,
    "cluster.rotate key=publish",
  ),
  params: { key: p.str() },
  run: ({ key }, context) =>
    withCluster(context, async ({ database, keys }) => {
      if (key !== "publish") throw new CommandError(`key must be publish, and is ${key}`);
      return await database.write(async (client) => {
        const [newest] = await publishKeys(client, database.schema);
        const made = await makePublishKey(client, database.schema, keys, newest?.generation ?? 0);
        await database.wake(client, "s");
        return made;
      });
    }),
});

/** @throws {CommandError} With what the options or the database say. */
async function withCluster<T>({ opts, log }: RunnerContext, run: (cluster: OpenCluster) => Promise<T>): Promise<T> {
  try {
    await using cluster = openClusterDatabase(opts, (text) => log("warning", text));
    return await run(cluster);
  } catch (error) {
    if (error instanceof StoreError || error instanceof PreflightError) {
      throw new CommandError(error.message, { cause: error });
    }
    throw error;
  }
}
