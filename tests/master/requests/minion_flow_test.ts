/**
 * How much one minion may send: what honest minions send passes at once, and the rest is late, refused or dropped.
 * @module
 */

import { MinionFlow } from "#lib/master/requests/minion_flow.ts";
import { makeJid } from "#lib/protocol/jid.ts";
import { map } from "#lib/values/value.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { testServices } from "#tests/support/fleet/services.ts";

/** A flow whose clock a test moves; its waits last until the test ends them. */
function flowOf(threads = 1) {
  const clock = { nowMs: 1_000_000 };
  const waits: { readonly ms: number; readonly done: () => void }[] = [];
  const sleep = (ms: number) => new Promise<void>((done) => waits.push({ ms, done }));
  return { clock, waits, flow: new MinionFlow(threads, { clock: { now: () => clock.nowMs, sleep } }) };
}

const returned = (jid: string) => map({ cmd: "_return", jid, return: 1 });

Deno.test("returns that make jobs: a thousand at once and ten a second pass; then they are late, and too many are refused", async () => {
  using services = await testServices();
  const { clock, waits, flow } = flowOf();
  for (let i = 0; i < 1_000; i++) assertEquals(await flow.admit(returned("req"), "liar", services), undefined);
  assertEquals(waits.length, 0);
  const late = Array.from({ length: 4 }, () => flow.admit(returned(makeJid()), "liar", services));
  while (waits.length < 4) await Promise.resolve();
  assertEquals(waits.map(({ ms }) => ms), [100, 200, 300, 400]);
  const refused = await flow.admit(returned("req"), "liar", services);
  assertEquals(refused?.answer, map({ error: "This minion returns too much at once" }));
  // Other minions, and commands that store nothing, do not wait.
  assertEquals(await flow.admit(returned("req"), "honest", services), undefined);
  assertEquals(await flow.admit(map({ cmd: "_file_hash" }), "liar", services), undefined);
  for (const { done } of waits) done();
  assertEquals(await Promise.all(late), [undefined, undefined, undefined, undefined]);
  clock.nowMs += 10_000;
  for (let i = 0; i < 90; i++) assertEquals(await flow.admit(returned("req"), "liar", services), undefined);
  assertEquals(services.logged.filter((line) => line.includes("liar sends too much")).length, 1);
});

Deno.test("returns for jobs of the master pass five thousand at once, and never wait longer than four seconds", async () => {
  using services = await testServices();
  const jid = await services.jobs.store.prepare();
  const { waits, flow } = flowOf();
  for (let i = 0; i < 5_000; i++) await flow.admit(returned(jid), "busy", services);
  assertEquals(waits.length, 0);
  for (let i = 0; i < 3_000; i++) void flow.admit(returned(jid), "busy", services);
  await flow.admit(returned(jid), "busy", services);
  assertEquals(waits.length, 4);
  assert(waits.every(({ ms }) => ms > 0 && ms <= 4_000));
  for (const { done } of waits) done();
});

Deno.test("events beyond the bound are dropped and counted; a syndic has no bound", async () => {
  using services = await testServices({ order_masters: true, syndics: ["below"] });
  const { clock, flow } = flowOf();
  const events = (count: number) =>
    map({ cmd: "_minion_event", events: Array.from({ length: count }, () => ({ tag: "a", data: {} })) });
  assertEquals(await flow.admit(events(20_000), "liar", services), undefined);
  assertEquals((await flow.admit(map({ cmd: "_minion_event", tag: "a" }), "liar", services))?.answer, null);
  clock.nowMs += 1_000;
  assertEquals(await flow.admit(events(500), "liar", services), undefined);
  assertEquals((await flow.admit(events(700), "liar", services))?.answer, null);
  clock.nowMs += 10_000;
  assertEquals((await flow.admit(events(20_001), "liar", services))?.answer, null);
  const lines = services.logged.filter((line) => line.includes("liar sends too much"));
  assertEquals(lines.length, 2);
  assertStringIncludes(lines[1], "20701 events were dropped");
  for (let i = 0; i < 3; i++) assertEquals(await flow.admit(events(20_000), "below", services), undefined);
});

Deno.test("each thread has its share of the bounds", async () => {
  using services = await testServices();
  const { waits, flow } = flowOf(5);
  for (let i = 0; i < 200; i++) await flow.admit(returned("req"), "liar", services);
  assertEquals(waits.length, 0);
  const late = flow.admit(returned("req"), "liar", services);
  while (waits.length === 0) await Promise.resolve();
  assertEquals(waits[0].ms, 500);
  waits[0].done();
  await late;
});
