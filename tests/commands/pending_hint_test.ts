import { pendingHint } from "../../lib/commands/pending_hint.ts";
import { assertEquals } from "../support/assert.ts";

/** Keys of a master on which these minions wait. */
const waiting = (...ids: string[]) => ({ list: (state: string) => state === "pending" ? ids : ["web1"] });

Deno.test("whoever waits to be accepted is named to whom they were meant by, a few at the most", () => {
  const cases: [tgt: string, ids: string[], hint: string][] = [
    ["web*", [], ""],
    ["web*", ["db1"], ""],
    ["web*", ["db1", "web2"], "Not accepted yet, and so not asked: web2. To accept a key: salt-key -a web2\n"],
    [
      "*",
      ["a", "b", "c", "d", "e", "f", "g"],
      "Not accepted yet, and so not asked: a, b, c, d, e and 2 more. To accept a key: salt-key -a a\n",
    ],
  ];
  for (const [tgt, ids, hint] of cases) assertEquals(pendingHint(tgt, "glob", waiting(...ids)), hint);
});

Deno.test("a user who may not read the keys is told nothing of them", () => {
  const list = () => {
    throw new Deno.errors.PermissionDenied("no right to read it");
  };
  assertEquals(pendingHint("*", "glob", { list }), "");
});
