/**
 * Runner `cluster`: the masters of this master's cluster, their leases, and the keys that they share. It asks the
 * database, and works without a running master. Salt's runner of this name is about its own clusters.
 * @module
 */

import { runner, type RunnerContext, runnerDoc, type RunnerFunction } from "#lib/client/runner_context.ts";
import { forgetMember, leasesOf, membersOf } from "#lib/cluster/member_rows.ts";
import { makePublishKey, publishKeys } from "#lib/cluster/secret_rows.ts";
import { CommandError } from "#lib/errors.ts";
import { requestRotation } from "#lib/keys/dropfile.ts";
import { rotateMasterPair, type RotationTimes } from "#lib/keys/master_rotation.ts";
import { p } from "#lib/plugins/module.ts";
import { map, type Value } from "#lib/values/value.ts";
import { withCluster } from "./_cluster_database.ts";
import { clusterFollowers, rotateClusterPair, rotationAnswer, rotationTimes } from "./_rotating.ts";

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
    `Make a new key for all masters of the cluster, or for this master, if it has no cluster.

key
    Which key. publish: with which jobs are encrypted for minions; all masters take it at once, and its generation is returned.
    master: the key pair of the masters; minions learn of the next one from the present one. Of Salt's minions, and of those that
    have not signed in since, needs_old lists the ids. While a rotation goes on, none is begun, and its state is returned.

overlap
    How long both key pairs are used: seconds, or a number with s, m, h, d or w. The next one is used from a third of that time
    on, after a day at most.`,
    "cluster.rotate key=publish",
    "cluster.rotate key=master overlap=90d",
  ),
  params: { key: p.str(), overlap: p.any("90d") },
  async run({ key, overlap }, context) {
    const { opts } = context;
    if (key === "master") return await rotateMaster(context, rotationTimes(overlap, opts, Date.now()));
    if (key !== "publish") throw new CommandError(`key must be publish or master, and is ${key}`);
    if (!opts.cluster_id) {
      // The master makes it within its loop_interval.
      requestRotation(opts);
      return true;
    }
    return await withCluster(context, ({ database, keys }) =>
      database.write(async (client) => {
        const [newest] = await publishKeys(client, database.schema);
        const made = await makePublishKey(client, database.schema, keys, newest?.generation ?? 0);
        await database.wake(client, "s");
        return made;
      }));
  },
});

async function rotateMaster(context: RunnerContext, times: RotationTimes): Promise<Value> {
  const { opts, keys } = context;
  if (opts.master_sign_pubkey && opts.master_use_pubkey_signature) {
    throw new CommandError(
      "master_use_pubkey_signature: the signature in the file is of one key pair; let the master sign (False) until the rotation is over",
    );
  }
  if (!opts.cluster_id) {
    return rotationAnswer(await rotateMasterPair(opts, times), { opts, keys, followers: [] });
  }
  return await withCluster(context, async (cluster) => {
    const rotation = await rotateClusterPair(cluster, times);
    return rotationAnswer(rotation, { opts, keys, followers: await clusterFollowers(cluster, rotation.statement) });
  });
}
