/**
 * The next key pair of the masters of a cluster.
 * @module
 */

import { PrivateKey } from "#lib/crypto/rsa.ts";
import { masterKeyPath } from "#lib/minion/agent/sign_in.ts";
import { isFile } from "#lib/os/file_kind.ts";
import { map } from "#lib/values/value.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { answerOf, clusterTest, refusal, valueAt } from "#tests/support/cluster/cluster_site.ts";
import { eventually, type Fleet } from "#tests/support/fleet/fleet.ts";

const ownPem = ({ masterOpts }: Fleet) => Deno.readTextFileSync(`${masterOpts.pki_dir}/master.pub`).trim();
const hasNext = ({ masterOpts }: Fleet) => isFile(`${masterOpts.pki_dir}/master_next.pem`);

clusterTest(
  "the next pair comes to all masters, also to one that was away until its overlap was over; minions follow",
  { masters: 2, master: { loop_interval: 0.2 } },
  async (site) => {
    const { masters: [a, b] } = site;
    await a.startMinion("web1");
    await eventually(() => b.keys.state("web1") === "accepted", { what: "the key at the other master" });
    await a.stopMinion("web1");
    const first = ownPem(a);
    const announced = await answerOf(a, "cluster.rotate", "key=master", "overlap=30s");
    assertEquals([valueAt(announced, "started"), String(valueAt(announced, "needs_old"))], [true, "web1"]);
    await eventually(() => hasNext(a) && hasNext(b), { what: "the next pair at both masters" });
    // The statement and the pair are the same at both: a minion that has it from one comes to the other.
    await b.stopMaster();
    await a.startMinion("web1");
    await eventually(
      async () => String(valueAt(await answerOf(a, "cluster.rotate", "key=master"), "needs_old")) === "",
      { what: "the minion among those that follow" },
    );
    await eventually(() => ownPem(a) !== first && !hasNext(a), { what: "the end of the overlap", withinMs: 120_000 });
    await b.startMaster();
    assertEquals([ownPem(b), hasNext(b)], [ownPem(a), false]);
    await a.stopMinion("web1");
    await a.startMinion("web1");
    assertEquals(await a.saltJson("web1", "test.ping"), map({ web1: true }));
    const known = masterKeyPath(a.minionOpts("web1").pki_dir);
    assertEquals(Deno.readTextFileSync(known).trim(), ownPem(a));
    // A stranger's pair is no member's, whatever came before.
    await b.stopMaster();
    const { pem, publicKey } = await PrivateKey.generate(2048), { pki_dir } = b.masterOpts;
    for (const name of ["master.pem", "master.pub"]) Deno.removeSync(`${pki_dir}/${name}`);
    Deno.writeTextFileSync(`${pki_dir}/master.pem`, pem, { mode: 0o400 });
    Deno.writeTextFileSync(`${pki_dir}/master.pub`, `${publicKey.pem}\n`);
    assertStringIncludes(await refusal(b), "has another key pair");
  },
);

clusterTest("with the database away the commands of the cluster say so in a sentence, with exit code 75", {
  masters: 1,
}, async ({ masters: [a], server }) => {
  await server.crash();
  const commands = [
    ["members"],
    ["leases"],
    ["forget", "master-b"],
    ["rotate", "key=publish"],
    ["rotate", "key=master"],
  ];
  for (const [name, ...words] of commands) {
    const { code, err, out } = await a.saltRun(`cluster.${name}`, ...words);
    assertEquals(code, 75, `${name}: ${err}${out}`);
    assertStringIncludes(err + out, "The database of the cluster is away");
    assert(!(err + out).includes("    at "), "no stack");
  }
});
