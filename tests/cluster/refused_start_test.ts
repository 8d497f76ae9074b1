/**
 * What stops the start of a master of a cluster.
 * @module
 */

import { loadOrCreateKeyPair } from "#lib/keys/pair.ts";
import { assert, assertMatch, assertStringIncludes } from "#tests/support/assert.ts";
import { clusterTest, refusal } from "#tests/support/cluster/cluster_site.ts";

clusterTest("a start is stopped by one sentence: options, secret, key pair, name, cluster", { masters: 1 }, async (
  site,
) => {
  const refused = (master: Readonly<Record<string, unknown>>) => refusal(site.addMaster({ master }));
  assertStringIncludes(await refused({ postgresql: {} }), "needs a database that all its masters use: set postgresql");
  assertStringIncludes(await refused({ cluster_secret: null }), "set cluster_secret or cluster_secret_file");
  const secretFile = { cluster_secret: null, cluster_secret_file: "/no/secret" };
  assertMatch(await refused(secretFile), /cluster_secret_file: there is no secret in .*\/no\/secret/);
  assertStringIncludes(await refused({ master_job_cache: "sqlite" }), "keeps its jobs in the database");
  assertStringIncludes(await refused({ event_log: "none" }), "a cluster needs the event log");
  assertStringIncludes(await refused({ cluster_secret: "wrong" }), "it is not the secret of the cluster prod");
  assertStringIncludes(await refused({ cluster_id: "other" }), "belongs to the cluster prod");
  assertStringIncludes(await refused({ id: "master-a" }), "another live master of the cluster, at 127.0.0.1");
  const asked = async (master: Readonly<Record<string, unknown>>) => {
    const fleet = site.addMaster({ master });
    fleet.prepareMaster();
    return (await fleet.saltRun("cluster.members")).out;
  };
  assertStringIncludes(await asked({}), "This master has not joined the cluster prod: start it first");
  assertStringIncludes(await asked({ cluster_id: null }), "This master belongs to no cluster: cluster_id is not set");
  const stranger = site.addMaster();
  const { pki_dir } = stranger.prepareMaster();
  await loadOrCreateKeyPair(pki_dir, "master", 2048);
  const prints = /has another key pair \(([0-9a-f:]+)\) than the cluster prod \(([0-9a-f:]+)\)/;
  const text = await refusal(stranger);
  assertMatch(text, prints);
  const [, own, theirs] = prints.exec(text) ?? [];
  assert(own !== theirs);
});
