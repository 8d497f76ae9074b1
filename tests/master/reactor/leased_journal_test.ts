/** The place of a cluster's reactor, where its row is damaged or its lease is lost. */

import { LeaseLostError, MsgpackError } from "#lib/errors.ts";
import { LeasedJournal } from "#lib/master/reactor/leased_journal.ts";
import { encode } from "#lib/values/msgpack.ts";
import { map } from "#lib/values/value.ts";
import { assertEquals, assertRejects } from "#tests/support/assert.ts";

function journalOf(row: Uint8Array | null, isHeld = true): Promise<LeasedJournal> {
  return LeasedJournal.open("master-a", {
    holds: () => true,
    read: () => Promise.resolve(row),
    write: () => Promise.resolve(isHeld),
  });
}

Deno.test("a row without reactions, or that is no map, has none; one that is cut off is an error", async () => {
  for (const row of [map({ at_ms: 1, masters: {} }), map({ taken: "text", masters: [] }), "text"]) {
    assertEquals((await journalOf(encode(row, "disk"))).open, []);
  }
  await assertRejects(() => journalOf(encode(map({ at_ms: 1 }), "disk").subarray(0, 4)), MsgpackError);
});

Deno.test("a reaction that the row does not take is not started: another master holds the lease by now", async () => {
  const publish = map({}), kwargs = map({});
  const reaction = { kind: "local", fun: "test.ping", args: [], kwargs, id: "a", file: "/a.sls", ret: "", publish };
  const taken = {
    jid: "1",
    tag: "my/tag",
    reaction: { ...reaction, kind: "local", tgt: "*", tgtType: "glob" },
  } as const;
  const position = { log: "x", number: 1, masters: new Map([["master-a", 1]]) };
  await (await journalOf(null)).take(position, [taken]);
  const lost = await journalOf(null, false);
  await lost.take(position, []);
  await assertRejects(() => lost.take(position, [taken]), LeaseLostError);
});
