import { CommandError } from "#lib/errors.ts";
import { resolveHost } from "#lib/jinja/filters/resolve_host.ts";
import { assert, assertEquals, assertRejects } from "#tests/support/assert.ts";

Deno.test("dns_check: the address of a host that answers, else the first one; a name without an address is refused", async () => {
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  const { port } = listener.addr as Deno.NetAddr;
  assertEquals(await resolveHost("127.0.0.1", { port, family: undefined }), "127.0.0.1");
  assertEquals(await resolveHost("127.0.0.1", { port, family: 4 }), "127.0.0.1");
  assertEquals(await resolveHost("127.0.0.1", { port, family: 6 }), "127.0.0.1");
  listener.close();
  assertEquals(await resolveHost("127.0.0.1", { port, family: undefined }), "127.0.0.1");
  await assertRejects(() => resolveHost("no.such.name.invalid", { port, family: 6 }), CommandError, "DNS lookup");
});

Deno.test("dns_check: a host that does not answer in time is passed over", async () => {
  // The queue of a listener that accepts nothing is full after some connections: later ones wait.
  const listener = Deno.listen({ hostname: "127.0.0.1", port: 0, tcpBacklog: 1 });
  const { port } = listener.addr;
  const waiting: Promise<Deno.TcpConn>[] = [];
  try {
    for (let i = 0; i < 4; i++) waiting.push(Deno.connect({ hostname: "127.0.0.1", port }));
    await waiting[0];
    const begun = Date.now();
    assertEquals(await resolveHost("127.0.0.1", { port, family: 4 }), "127.0.0.1");
    assert(Date.now() - begun >= 1_900, "it answered");
  } finally {
    // Those that wait go on now, and are closed.
    for await (const _ of waiting) (await listener.accept()).close();
    for (const connection of await Promise.all(waiting)) connection.close();
    (await listener.accept()).close();
    listener.close();
  }
});
