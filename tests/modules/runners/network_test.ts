import { InvocationError } from "#lib/errors.ts";
import { map } from "#lib/values/value.ts";
import { assertEquals, assertRejects } from "#tests/support/assert.ts";
import { withRunnerFixture } from "#tests/support/fleet/runner_services.ts";

Deno.test("network.wol sends the magic packet, and rejects invalid hardware and IPv4 addresses", async () => {
  const { default: dgram } = await import("node:dgram");
  const socket = dgram.createSocket("udp4");
  const { promise: received, resolve } = Promise.withResolvers<Uint8Array>();
  socket.on("message", (message: Uint8Array) => resolve(message));
  const port = await new Promise<number>((bound) => socket.bind(0, "127.0.0.1", () => bound(socket.address().port)));
  try {
    await withRunnerFixture(async ({ call, root, done }) => {
      assertEquals(await call("network.wol", ["08-00-27-13-69-77", "127.0.0.1", port]), true);
      const packet = new Uint8Array(await received);
      assertEquals([packet.length, packet.subarray(0, 12).toHex()], [102, "ffffffffffff080027136977"]);
      assertEquals(packet.subarray(96).toHex(), "080027136977");
      for (const mac of ["08:00:27", "zz0027136977", "", "08:00-27:13:69:77"]) {
        await assertRejects(() => call("network.wol", [mac, "127.0.0.1", port]), InvocationError, "MAC");
      }
      for (const address of ["host", "1.2.3", "1.2.3.256", "::1"]) {
        await assertRejects(() => call("network.wol", ["080027136977", address, port]), InvocationError, "IPv4");
      }
      Deno.writeTextFileSync(`${root}/macs`, "080027136977\n\n08:00:27:13:69:78\n");
      assertEquals(await call("network.wollist", [`${root}/macs`, "127.0.0.1", port]), [
        "080027136977",
        "08:00:27:13:69:78",
      ]);
      assertEquals(await call("network.wollist", [`${root}/none`, "127.0.0.1", port]), []);
      assertEquals(done.at(-1), "retcode 1");
    });
  } finally {
    await new Promise<void>((closed) => socket.close(() => closed()));
  }
});

Deno.test("network.wolmatch wakes the interfaces in the cached grains, except the loopback", () =>
  withRunnerFixture(async ({ call, context, root }) => {
    Deno.mkdirSync(`${root}/pki/minions`, { recursive: true });
    for (const id of ["web1", "web2", "db1"]) Deno.writeTextFileSync(`${root}/pki/minions/${id}`, "PEM");
    const hwaddr_interfaces = { lo: "00:00:00:00:00:00", eth0: "08:00:27:13:69:77 " };
    context.data.setGrains("web1", map({ hwaddr_interfaces }));
    context.data.setGrains("db1", map({ hwaddr_interfaces }));
    assertEquals(await call("network.wolmatch", ["web*"], { bcast: "127.0.0.1" }), ["08:00:27:13:69:77"]);
  }));
