/**
 * What watches the connections of a port: its reports, the connections that it holds, and what is left when it ends.
 */

import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { closeSocket, openSocket } from "#lib/sockets/context.ts";
import { ConnectionLimiter } from "#lib/sockets/connection_limiter.ts";
import { CutConnections } from "#lib/sockets/cut_connections.ts";
import { CONNECTION_EVENTS } from "#lib/sockets/libzmq.ts";
import { Subscribed } from "#lib/sockets/connection_memory.ts";
import { sleep } from "#lib/os/sleep.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { openDescriptors } from "#tests/support/descriptors.ts";
import { eventually } from "#tests/support/eventually.ts";
import { strictTest } from "#tests/support/strict.ts";

const linux = Deno.build.os === "linux";

/** The numbers of this process's descriptors. */
function descriptors(): number[] {
  return [...Deno.readDirSync("/proc/self/fd")].map(({ name }) => Number(name));
}

strictTest("a connection that the system cannot accept is a warning, not one for each", async () => {
  const [monitor, reports] = [openSocket("pair"), openSocket("pair")];
  reports.bind("inproc://reports");
  monitor.connect("inproc://reports");
  const warnings: string[] = [];
  const limiter = new ConnectionLimiter([monitor], {
    name: "ret_port",
    limits: { total: 10, perAddress: 10 },
    memory: { rule: new Subscribed(), max: 0, name: "memory" },
    log: { ...SILENT_LOGGER, warning: (text) => warnings.push(String(text)) },
  });
  // libzmq's ZMQ_EVENT_ACCEPT_FAILED, with the error EMFILE.
  const report = new Uint8Array(6), other = new Uint8Array(6);
  new DataView(report.buffer).setUint16(0, 0x40, true);
  new DataView(report.buffer).setInt32(2, 24, true);
  // A number of no event is ignored.
  new DataView(other.buffer).setUint16(0, 0x8000, true);
  reports.trySend([other, new Uint8Array()]);
  for (let i = 0; i < 3; i++) reports.trySend([report, new Uint8Array()]);
  await eventually(() => warnings.length > 0, { what: "the warning" });
  await sleep(20);
  assertEquals(warnings, ["A connection to ret_port could not be accepted: error 24 of the system"]);
  limiter.close();
  limiter.close();
  for (const socket of [monitor, reports]) closeSocket(socket);
});

/** Connections of this process with itself. */
class Connections implements Disposable {
  readonly #listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  readonly peers: Deno.Conn[] = [];
  readonly #accepted: Deno.Conn[] = [];

  async open(count: number): Promise<void> {
    const { port } = this.#listener.addr as Deno.NetAddr;
    for (let i = 0; i < count; i++) {
      const [peer, accepted] = await Promise.all([
        Deno.connect({ hostname: "127.0.0.1", port }),
        this.#listener.accept(),
      ]);
      this.peers.push(peer);
      this.#accepted.push(accepted);
    }
  }

  [Symbol.dispose](): void {
    for (const one of [...this.peers, ...this.#accepted, this.#listener]) one.close();
  }
}

if (linux) {
  strictTest("connections are not looked at all the time, unless the process grows meanwhile", async () => {
    const before = new Set(descriptors());
    using all = new Connections();
    await all.open(1);
    const [monitor, reports] = [openSocket("pair"), openSocket("pair")];
    reports.bind("inproc://accepted");
    monitor.connect("inproc://accepted");
    let looks = 0;
    const limiter = new ConnectionLimiter([monitor], {
      name: "publish_port",
      limits: { total: 10, perAddress: 0 },
      memory: {
        rule: {
          inDoubt: true,
          weigh: (counts) => {
            looks++;
            // A look at thousands of connections takes so long.
            for (const endMs = performance.now() + 20; performance.now() < endMs;);
            return new Map([...counts.keys()].map((connection) => [connection, 0]));
          },
        },
        max: 1 << 30,
        name: "memory",
      },
      log: SILENT_LOGGER,
    });
    for (const fd of descriptors().filter((one) => !before.has(one))) {
      const report = new Uint8Array(6);
      new DataView(report.buffer).setUint16(0, CONNECTION_EVENTS.accepted, true);
      new DataView(report.buffer).setInt32(2, fd, true);
      reports.trySend([report, new Uint8Array()]);
    }
    await eventually(() => limiter.size > 0, { what: "the connections" });
    const grown = 1 << 26;
    for (const rss of [0, grown, grown, grown + 1_000_000]) limiter.lookAtMemory(rss);
    assertEquals(looks, 1);
    for (let i = 0; i < 2; i++) limiter.lookAtMemory(2 * grown);
    assertEquals(looks, 2);
    await eventually(() => (limiter.lookAtMemory(2 * grown), looks === 3), { what: "the next look" });
    limiter.close();
    for (const socket of [monitor, reports]) closeSocket(socket);
  });

  strictTest("the newest 64 connections are held, and all of them released", async () => {
    using all = new Connections();
    await all.open(40);
    const opened = openDescriptors();
    const connections = new CutConnections();
    for (const fd of descriptors()) connections.add(fd);
    assertEquals(openDescriptors() - opened, 64);
    connections.add(1_000_000); // it has been closed meanwhile
    connections.ended(1_000_000, () => {
      throw new Error("it was not held");
    });
    connections.close();
    assertEquals(openDescriptors(), opened);
  });

  strictTest("a connection that was cut is not reported after the end", async () => {
    using all = new Connections();
    await all.open(1);
    await all.peers[0].write(new Uint8Array(20_000));
    const connections = new CutConnections();
    const [opened, fds] = [openDescriptors(), descriptors()];
    for (const fd of fds) connections.add(fd);
    let reported = 0;
    for (const fd of fds) connections.ended(fd, () => reported++);
    assertEquals(openDescriptors() - opened, 1, "the one with unread bytes is looked at again");
    connections.close();
    assertEquals(openDescriptors(), opened);
    await sleep(50);
    assertEquals(reported, 0);
  });
}
