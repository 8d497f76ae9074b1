/**
 * Masters by name: SRV records of a real DNS server on loopback, and names with several addresses.
 * @module
 */

import { createSocket } from "node:dgram";
import { orderRecords, resolveServices } from "#lib/minion/masters/master_services.ts";
import { SignInError } from "#lib/errors.ts";
import { masterName } from "#lib/config/master_entries.ts";
import { assertEquals, assertRejects } from "#tests/support/assert.ts";
import { withReplaced } from "#tests/support/replaced.ts";

interface Record {
  readonly priority: number;
  readonly weight: number;
  readonly port: number;
  readonly target: string;
}

/** A name as DNS writes it. */
function nameBytes(name: string): number[] {
  const labels = name.split(".").filter((label) => label !== "");
  return [...labels.flatMap((label) => [label.length, ...new TextEncoder().encode(label)]), 0];
}

function two(n: number): number[] {
  return [n >> 8, n & 0xff];
}

/** A DNS server that answers each question with these SRV records. */
async function serveRecords(records: readonly Record[]) {
  const socket = createSocket("udp4");
  socket.on("message", (query, from) => {
    let end = 12;
    while (query[end] !== 0) end += query[end] + 1;
    const question = [...query.subarray(12, end + 5)];
    const answers = records.flatMap(({ priority, weight, port, target }) => {
      const data = [...two(priority), ...two(weight), ...two(port), ...nameBytes(target)];
      return [0xc0, 12, ...two(33), ...two(1), 0, 0, 0, 60, ...two(data.length), ...data];
    });
    const head = [query[0], query[1], 0x81, 0x80, ...two(1), ...two(records.length), 0, 0, 0, 0];
    socket.send(new Uint8Array([...head, ...question, ...answers]), from.port, from.address);
  });
  await new Promise<void>((resolve) => socket.bind(0, "127.0.0.1", resolve));
  const { port } = socket.address();
  return { port, [Symbol.asyncDispose]: () => new Promise<void>((resolve) => socket.close(() => resolve())) };
}

Deno.test("a DNS service stands for the masters of its records, by priority", async () => {
  await using server = await serveRecords([
    { priority: 20, weight: 0, port: 4506, target: "backup.example.com" },
    { priority: 10, weight: 5, port: 5506, target: "salt1.example.com" },
  ]);
  const lookUp = (name: string) =>
    Deno.resolveDns(name, "SRV", { nameServer: { ipAddr: "127.0.0.1", port: server.port } });
  const reported: string[] = [];
  const entries = [{ host: "first", port: 4506 }, { host: "_salt._tcp.example.com", port: 4506 }];
  const found = await resolveServices(entries, (text) => reported.push(text), lookUp);
  assertEquals(found.map(masterName), ["first:4506", "salt1.example.com:5506", "backup.example.com:4506"]);
  assertEquals(reported, []);
});

Deno.test("a service without records is named, and the other masters are used; without others it is an error", async () => {
  await using server = await serveRecords([]);
  const lookUp = (name: string) =>
    Deno.resolveDns(name, "SRV", { nameServer: { ipAddr: "127.0.0.1", port: server.port } });
  const reported: string[] = [];
  const service = { host: "_salt._tcp.example.com", port: 4506 };
  const found = await resolveServices([service, { host: "b", port: 1 }], (text) => reported.push(text), lookUp);
  assertEquals(found.map(masterName), ["b:1"]);
  assertEquals(reported.length, 1);
  await assertRejects(() => resolveServices([service], () => {}, lookUp), SignInError, "No DNS record names a master");
});

Deno.test("records of one priority come by their weights", () => {
  const record = (target: string, priority: number, weight: number) => ({ target, priority, weight, port: 1 });
  const records = [record("c", 1, 10), record("a", 0, 0), record("b", 0, 9)];
  const targets = (random: number) => orderRecords(records, () => random).map(({ target }) => target);
  assertEquals(targets(0), ["a", "b", "c"]);
  assertEquals(targets(0.9), ["b", "a", "c"]);
});

Deno.test("the records of a service are asked of the host's resolver", async () => {
  const asked: unknown[] = [];
  const by = (...question: unknown[]) => {
    asked.push(question);
    return Promise.resolve([{ priority: 0, weight: 0, port: 5506, target: "salt1.example.com." }]);
  };
  await withReplaced(Deno, { name: "resolveDns", by: by as unknown as typeof Deno.resolveDns }, async () => {
    const found = await resolveServices([{ host: "_salt._tcp.example.com", port: 4506 }], () => {});
    assertEquals(found.map(masterName), ["salt1.example.com:5506"]);
  });
  assertEquals(asked, [["_salt._tcp.example.com", "SRV"]]);
});
