/** A minion that takes another key pair, and masters that do not agree. */

import { CommandError } from "#lib/errors.ts";
import { changeOwnKey } from "#lib/minion/agent/key_change.ts";
import type { Value } from "#lib/values/value.ts";
import { assertEquals, assertRejects } from "#tests/support/assert.ts";

type Pair = Parameters<typeof changeOwnKey>[0];
type Connection = Parameters<typeof changeOwnKey>[1][number];

Deno.test("a master that does not take the next key keeps the minion from signing in with it anywhere", async () => {
  const done: string[] = [];
  const connection = (name: string, answer: Value) => ({
    name,
    request: () => {
      done.push(`asks ${name}`);
      return Promise.resolve(answer);
    },
    signInAnew: () => {
      done.push(`signs in at ${name}`);
      return Promise.resolve();
    },
  });
  const pair = {
    rotate: async (agree: (statement: unknown) => Promise<void>) => await agree({ text: "", signature: "" }),
  };
  const masters = [connection("a", true), connection("b", "no such command"), connection("c", true)];
  await assertRejects(
    () => changeOwnKey(pair as unknown as Pair, masters as unknown as Connection[], "sha256"),
    CommandError,
    "The master b does not take another key, and answered no such command",
  );
  assertEquals(done, ["asks a", "asks b"]);
});
