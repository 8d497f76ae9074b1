/** The place of a cluster's reactor, where its row is damaged or its lease is lost. */

import { LeaseLostError, MsgpackError, StoreError, WireError } from "#lib/errors.ts";
import { LeasedJournal } from "#lib/master/reactor/leased_journal.ts";
import type { Taken } from "#lib/reactor/journal.ts";
import { encode } from "#lib/values/msgpack.ts";
import { map } from "#lib/values/value.ts";
import { assertEquals, assertRejects } from "#tests/support/assert.ts";
import { localReaction } from "./local_reaction.ts";

function journalOf(row: Uint8Array | null, isHeld = true): Promise<LeasedJournal> {
  return LeasedJournal.open("master-a", {
    holds: () => true,
    read: () => Promise.resolve(row),
    write: () => Promise.resolve(isHeld),
  });
}

const TAKEN: Taken = {
  jid: "1",
  tag: "my/tag",
  reaction: localReaction("*"),
};

Deno.test("a row without reactions, or that is no map, has none; one that is cut off is an error", async () => {
  for (const row of [map({ at_ms: 1, masters: {} }), map({ taken: "text", masters: [] }), "text"]) {
    assertEquals((await journalOf(encode(row, "disk"))).open, []);
  }
  await assertRejects(() => journalOf(encode(map({ at_ms: 1 }), "disk").subarray(0, 4)), MsgpackError);
});

Deno.test("a reaction that the row does not take is not started: another master holds the lease by now", async () => {
  const position = { log: "x", number: 1, masters: new Map([["master-a", 1]]) };
  await (await journalOf(null)).take(position, [TAKEN]);
  const lost = await journalOf(null, false);
  await lost.take(position, []);
  await assertRejects(() => lost.take(position, [TAKEN]), LeaseLostError);
});

Deno.test("the next holder has the reactions that are not started; a row with something else is refused", async () => {
  let row: Uint8Array | null = null, tries = 0;
  const lease = {
    holds: () => true,
    read: () => Promise.resolve(row),
    write: (written: Uint8Array) => {
      if (++tries === 1) return Promise.reject(new StoreError("no database", ""));
      row = written;
      return Promise.resolve(true);
    },
  };
  const journal = await LeasedJournal.open("master-a", lease);
  await journal.take({ log: "x", number: 2, masters: new Map([["master-a", 2]]) }, [TAKEN, { ...TAKEN, jid: "2" }]);
  journal.started("1");
  journal.flush();
  await journal.take({ log: "x", number: 3 }, [{ ...TAKEN, jid: "3" }]);
  const next = await LeasedJournal.open("master-b", lease);
  assertEquals([tries, next.open], [4, [{ ...TAKEN, jid: "2" }, { ...TAKEN, jid: "3" }]]);
  const other = encode(map({ at_ms: 1, masters: {}, taken: [map({ jid: "1", reaction: "none" })] }), "disk");
  await assertRejects(() => journalOf(other), WireError, "invalid reaction");
});
