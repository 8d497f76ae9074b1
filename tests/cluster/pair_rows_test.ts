/**
 * The rows of the masters' key pairs, and the address that a master enters.
 * @module
 */

import { RootKeys } from "#lib/cluster/cluster_secrets.ts";
import { joinCluster } from "#lib/cluster/join.ts";
import { bringPair, isPairOf, pairsOfCluster, removeOldPairs } from "#lib/cluster/pair_rows.ts";
import { loadMasterConfig } from "#lib/config/load.ts";
import { PrivateKey } from "#lib/crypto/rsa.ts";
import { stateNextKey } from "#lib/keys/key_statement.ts";
import { map } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { serverProgram } from "#tests/support/database_servers.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";
import { withReplaced } from "#tests/support/replaced.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";
import { startClusterPlace } from "./cluster_place.ts";

const missing = serverProgram("postgres") === undefined;
const named = (what: string) => missing ? `${what} (skipped: there is no postgres)` : what;

Deno.test({
  name: named("the pair before the newest stays for a minute after its overlap, and goes then"),
  ignore: missing,
  async fn() {
    await using place = await startClusterPlace();
    const { database } = await place.member(1), { schema } = database;
    const keys = new RootKeys(new Uint8Array(32));
    const read = () => database.read((client) => pairsOfCluster(client, { schema, keys }));
    const remove = async (endedMs: number) => {
      const found = await read();
      const notAfterMs = Date.now() - endedMs;
      const statement = stateNextKey("master", privateKey, { next: pem, notBeforeMs: notAfterMs - 1_000, notAfterMs });
      await database.write((client) => removeOldPairs(client, schema, { ...found, statements: [statement] }));
      return (await read()).pairs;
    };
    const privateKey = await PrivateKey.generate(2048), { pem } = privateKey.publicKey;
    assertEquals(isPairOf(await read(), pem), false, "a cluster without a pair");
    for (const [i, pair] of ["the first", "the second", "the third"].entries()) {
      await database.write((client) => bringPair(client, { schema, keys }, { generation: i + 1, pem: pair }));
    }
    assertEquals(await remove(50_000), ["the first", "the second", "the third"]);
    assertEquals(await remove(70_000), ["the third"]);
    assertEquals((await read()).generation, 3);
  },
});

Deno.test({
  name: named("a master that listens everywhere enters an address that others reach, if its host has one"),
  ignore: missing,
  fn: () =>
    withTemporaryDirectory(async (root) => {
      await using place = await startClusterPlace();
      const joined = async (address: string) => {
        const { opts } = loadMasterConfig({
          configDir: `${root}/etc/salt`,
          overrides: {
            root_dir: root,
            id: "m1",
            user: "root",
            interface: address,
            keysize: 2048,
            cluster_id: "prod",
            cluster_secret: "correct horse battery staple",
            postgresql: map({ host: "127.0.0.1", port: place.server.port }),
          },
        });
        return await joinCluster(opts, memoryLog().log);
      };
      const others = [
        { name: "lo", address: "127.0.0.1" },
        { name: "lo", address: "::1" },
        { name: "eth0", address: "fe80::1" },
      ];
      const wanted = { name: "eth0", address: "192.0.2.7" };
      const entered = async (interfaces: readonly Partial<Deno.NetworkInterfaceInfo>[], address = "0.0.0.0") => {
        let found = "";
        const by = () => interfaces as Deno.NetworkInterfaceInfo[];
        await withReplaced(Deno, { name: "networkInterfaces", by }, async () => {
          found = (await joined(address)).address;
        });
        return found;
      };
      assertEquals(await entered([...others, wanted]), "192.0.2.7");
      assertEquals(await entered([...others, wanted], "127.0.0.5"), "127.0.0.5");
      assertEquals(await entered(others), "127.0.0.1");
    }),
});
