/**
 * What threads ask the Cluster thread, by real ports: answers, errors, a successor, and the end.
 * @module
 */

import { type ClusterHandlers, ClusterLink, serveCluster } from "#lib/cluster/cluster_messages.ts";
import { StoreError } from "#lib/errors.ts";
import { assertEquals, assertRejects } from "#tests/support/assert.ts";

/** A port behind which these handlers answer; without any nobody does. */
function portOf(handlers?: ClusterHandlers): { readonly port: MessagePort; close(): void } {
  const { port1, port2 } = new MessageChannel();
  if (handlers !== undefined) serveCluster(handlers, port2);
  return { port: port1, close: () => port2.close() };
}

Deno.test("a thread gets the answer to each of its requests, and an error with its name and text", async () => {
  const served = portOf({
    publish: ({ minions }) => Promise.resolve(minions.length > 0 ? "committed" : "away"),
    rotate: () => Promise.reject(new StoreError("no room", "")),
  });
  const link = new ClusterLink(served.port);
  const publish = { load: new Uint8Array(), ttlMs: 1, live: false };
  const both = [link.ask("publish", { ...publish, minions: [] }), link.ask("publish", { ...publish, minions: ["a"] })];
  assertEquals(await Promise.all(both), ["away", "committed"]);
  const refused = await assertRejects(() => link.ask("rotate", "asked"), StoreError, "no room");
  assertEquals(refused.name, "StoreError");
  await assertRejects(() => link.ask("reactorPosition", null), StoreError, "The cluster cannot do reactorPosition");
  link.close();
  served.close();
});

Deno.test("the successor of the Cluster thread gets what has no answer, and what is asked at the end is refused", async () => {
  const silent = portOf(), next = portOf({ rotate: (reason) => Promise.resolve(`${reason} done`) }), last = portOf();
  const link = new ClusterLink(silent.port);
  const waiting = link.ask("rotate", "first");
  link.moveTo(next.port);
  assertEquals([await waiting, await link.ask("rotate", "second")], ["first done", "second done"]);
  link.moveTo(last.port);
  const never = link.ask("rotate", "third");
  link.close();
  await assertRejects(() => never, StoreError, "the master ends");
  for (const port of [silent, next, last]) port.close();
});
