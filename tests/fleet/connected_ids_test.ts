/**
 * Minions by the addresses that are connected to a port of this host: a real connection, and real files of grains.
 * @module
 */

import { connectedAddresses } from "#lib/fleet/connected_ids.ts";
import { DataCache } from "#lib/fleet/data_cache.ts";
import { encode } from "#lib/values/msgpack.ts";
import { map } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const ignore = Deno.build.os !== "linux";

async function withConnection(run: (port: number) => void): Promise<void> {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  if (listener.addr.transport !== "tcp") throw new TypeError("no TCP listener");
  const { port } = listener.addr;
  using _client = await Deno.connect({ hostname: "127.0.0.1", port });
  using _accepted = await listener.accept();
  run(port);
}

Deno.test({
  name: "a minion is connected if one of its addresses is, whatever file has its grains",
  ignore,
  fn: () =>
    withTemporaryDirectory((root) =>
      withConnection((port) => {
        const data = new DataCache(root, { log: () => {} });
        data.setGrains("web2", map({ ipv4: ["10.9.8.7", "127.0.0.1"] }));
        data.setGrains("web1", map({ os: "Debian", ipv4: ["127.0.0.1"], ipv6: ["::1"] }));
        data.setGrains("elsewhere", map({ ipv4: ["10.9.8.7"] }));
        data.setGrains("nowhere", map({ os: "Debian" }));
        data.setGrains("wrong", map({ ipv4: "127.0.0.1", ipv6: [1] }));
        Deno.writeFileSync(`${root}/grains/broken.p`, Uint8Array.of(0xc1));
        Deno.mkdirSync(`${root}/minions/former`, { recursive: true });
        const former = map({ grains: map({ ipv4: ["127.0.0.1"] }) });
        Deno.writeFileSync(`${root}/minions/former/data.p`, encode(former, "disk"));
        const connected = [["former", "127.0.0.1"], ["web1", "127.0.0.1"], ["web2", "127.0.0.1"]];
        assertEquals([...connectedAddresses(data, port)], connected);
        const asked = ["web2", "elsewhere", "unknown", "former"];
        const many = [...asked, ...Array.from({ length: 200 }, (_, i) => `unknown${i}`)];
        for (const ids of [asked, many]) {
          assertEquals([...connectedAddresses(data, port, ids).keys()], ["former", "web2"]);
        }
      })
    ),
});

Deno.test({
  name: "a minion whose grains have changed, or are gone, is found by what there is now",
  ignore,
  fn: () =>
    withTemporaryDirectory((root) =>
      withConnection((port) => {
        const data = new DataCache(root, { log: () => {} });
        for (const id of ["web1", "web2", "web3"]) data.setGrains(id, map({ ipv4: ["127.0.0.1"] }));
        assertEquals([...connectedAddresses(data, port).keys()], ["web1", "web2", "web3"]);
        data.setGrains("web1", map({ ipv4: ["10.9.8.7"] }));
        data.remove("web2");
        assertEquals([...connectedAddresses(data, port).keys()], ["web3"]);
      })
    ),
});

Deno.test({
  name: "without a connection to the port no minion is connected",
  ignore,
  fn: () =>
    withTemporaryDirectory((root) => {
      const data = new DataCache(root, { log: () => {} });
      data.setGrains("web1", map({ ipv4: ["127.0.0.1"] }));
      assertEquals(connectedAddresses(data, 1), new Map());
    }),
});
