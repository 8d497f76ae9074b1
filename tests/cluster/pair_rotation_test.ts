/**
 * The next key pair of the masters of a cluster.
 * @module
 */

import { PrivateKey } from "#lib/crypto/rsa.ts";
import { masterKeyPath } from "#lib/minion/masters/sign_in.ts";
import { isFile } from "#lib/os/file_kind.ts";
import { assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { answerOf, clusterTest, moveMinion, refusal, valueAt } from "#tests/support/cluster/cluster_site.ts";
import { eventually, type Fleet } from "#tests/support/fleet/fleet.ts";

const ownPem = ({ masterOpts }: Fleet) => Deno.readTextFileSync(`${masterOpts.pki_dir}/master.pub`).trim();
const hasNext = ({ masterOpts }: Fleet) => isFile(`${masterOpts.pki_dir}/master_next.pem`);

clusterTest("the next pair and who follows it are the same at all masters; a stranger's pair is no member's", {
  masters: 2,
}, async ({ masters: [a, b] }) => {
  await a.startMinion("web1");
  await eventually(() => b.keys.state("web1") === "accepted", { what: "the key at the other master" });
  const announced = await answerOf(a, "cluster.rotate", "key=master", "overlap=90d");
  assertEquals([valueAt(announced, "started"), String(valueAt(announced, "needs_old"))], [true, "web1"]);
  await eventually(() => hasNext(a) && hasNext(b), { what: "the next pair at both masters" });
  await a.stopMinion("web1");
  await a.startMinion("web1");
  await eventually(
    async () => String(valueAt(await answerOf(b, "cluster.rotate", "key=master"), "needs_old")) === "",
    { what: "the minion among those that follow, at the other master" },
  );
  await b.stopMaster();
  const { pem, publicKey } = await PrivateKey.generate(2048), { pki_dir } = b.masterOpts;
  for (const name of ["master.pem", "master.pub"]) Deno.removeSync(`${pki_dir}/${name}`);
  Deno.writeTextFileSync(`${pki_dir}/master.pem`, pem, { mode: 0o400 });
  Deno.writeTextFileSync(`${pki_dir}/master.pub`, `${publicKey.pem}\n`);
  assertStringIncludes(await refusal(b), "has another key pair");
});

clusterTest("a master and a minion that were away for the whole overlap have the new pair at their next start", {
  masters: 2,
  master: { loop_interval: 0.2 },
}, async ({ masters: [a, b] }) => {
  await a.startMinion("web1");
  await eventually(() => b.keys.state("web1") === "accepted", { what: "the key at the other master" });
  await a.stopMinion("web1");
  await b.stopMaster();
  const first = ownPem(a);
  await answerOf(a, "cluster.rotate", "key=master", "overlap=1s");
  await eventually(() => ownPem(a) !== first && !hasNext(a), { what: "the end of the overlap" });
  assertEquals(ownPem(b), first);
  await b.startMaster();
  assertEquals([ownPem(b), hasNext(b)], [ownPem(a), false]);
  await moveMinion("web1", a, b);
  assertEquals(Deno.readTextFileSync(masterKeyPath(b.minionOpts("web1").pki_dir)).trim(), ownPem(b));
});
