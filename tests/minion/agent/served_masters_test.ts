/** Masters that a minion serves, and what it does when one of them fails. */

import { SignInError } from "#lib/errors.ts";
import { ServedMasters } from "#lib/minion/agent/served_masters.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";

type Connection = Parameters<ServedMasters["serve"]>[0];

/** A minion of several masters, or of one; what happens is a line each. */
function openMinion({ isMany = true, pillar = () => Promise.resolve() }: {
  readonly isMany?: boolean;
  readonly pillar?: () => Promise<void>;
} = {}) {
  const done: string[] = [], ended: unknown[] = [], { log, lines } = memoryLog();
  const closing = new AbortController();
  const served = new ServedMasters(
    {
      opts: { acceptance_wait_time: 0.01 },
      log,
      closing: closing.signal,
      known: { grains: new Map(), takeFirstPillar: pillar },
      sent: { fireStart: ({ name }: Connection) => Promise.resolve(void done.push(`start to ${name}`)) },
      masters: () => ({ isMany }),
      serving: () => void done.push("serving"),
      end: (error: unknown) => void ended.push(error),
    } as unknown as ConstructorParameters<typeof ServedMasters>[0],
  );
  const connection = (connect: () => Promise<void>) =>
    ({ name: "a", connect, spool: { flush: () => void done.push("flush") } }) as unknown as Connection;
  return { served, done, ended, lines, closing, connection };
}

Deno.test("one of several masters that refuses the minion is tried again, once at a time, and the others are served", async () => {
  const { served, done, ended, lines, connection } = openMinion();
  let tries = 0;
  const master = connection(() => ++tries < 3 ? Promise.reject(new SignInError("no key", 77)) : Promise.resolve());
  for (let i = 0; i < 2; i++) served.fail(new SignInError("the key was rejected", 77), master);
  await eventually(() => done.length === 3, { what: "it is served" });
  assertEquals([done, tries, ended], [["start to a", "flush", "serving"], 3, []]);
  const again = "ERROR The master a is not served, and tried again in 0.01 seconds: no key";
  assertEquals(lines, ["ERROR The master a is not served any more: the key was rejected", again, again]);
});

Deno.test("the only master that refuses the minion, and a fault of any, end it; a minion that ends is not ended again", async () => {
  const refusal = new SignInError("no", 77), fault = new TypeError("a fault");
  const only = openMinion({ isMany: false });
  only.served.fail(refusal, only.connection(() => Promise.resolve()));
  assertEquals(only.ended, [refusal]);
  const many = openMinion();
  many.served.fail(fault, many.connection(() => Promise.resolve()));
  many.served.fail(refusal, many.connection(() => Promise.reject(fault)));
  await eventually(() => many.ended.length === 2, { what: "its end" });
  assertEquals(many.ended, [fault, fault]);
  const ending = openMinion();
  ending.closing.abort(new Error("it ends"));
  ending.served.fail(refusal, ending.connection(() => Promise.reject(fault)));
  await new Promise((resolve) => setTimeout(resolve, 30));
  assertEquals([ending.ended, ending.done], [[], []]);
});

Deno.test("a master in place of another one has the minion's start, also if it gives no pillar", async () => {
  const { served, done, lines, connection, closing } = openMinion({
    pillar: () => Promise.reject(new Error("no pillar")),
  });
  const master = connection(() => Promise.resolve());
  await served.greet(master, "restarted");
  assertEquals([done, lines], [["start to a"], []]);
  await served.greet(master, "changed");
  assertEquals(done, ["start to a", "start to a"]);
  assertEquals(lines, ["ERROR The pillar stays the one of the master before: no pillar"]);
  closing.abort();
  await served.greet(master, "changed");
  assertEquals([done.length, lines.length], [2, 1]);
});
