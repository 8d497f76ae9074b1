/** What a syndic keeps while a higher master is slow, or cannot take it. */

import { Forwarded } from "#lib/syndic/forwarded.ts";
import { isMap, map } from "#lib/values/value.ts";
import { PrivateKey } from "#lib/crypto/rsa.ts";
import { JidMemory } from "#lib/minion/masters/jid_memory.ts";
import { HigherMaster } from "#lib/syndic/higher_master.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { testOpts } from "#tests/support/calls/job_context.ts";
import { eventually } from "#tests/support/eventually.ts";
import {
  applicant,
  MasterKeys,
  memoryLog,
  ScriptedMaster,
  TEST_KEY_BITS,
} from "#tests/support/fleet/scripted_master.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const forwarded = () => new Forwarded("below", { loadOf: () => Promise.resolve(undefined), hwm: 10 });
const event = (text: string) => ({ tag: "a/b", data: map({ id: "web1", text }) });

Deno.test("events that wait are bounded by their number, and by their bytes", () => {
  const many = forwarded();
  for (let i = 0; i < 20_010; i++) many.add(event(""));
  assertEquals([many.takeEvents().events.length, many.takeEvents().dropped], [20_000, 0]);
  const large = forwarded(), megabyte = "x".repeat(1 << 20);
  for (let i = 0; i < 100; i++) large.add(event(megabyte));
  const { events, dropped } = large.takeEvents();
  assertEquals([events.length, dropped], [63, 37]);
  // They are taken: there is room again.
  large.add(event(megabyte));
  assertEquals(large.takeEvents().events.length, 1);
});

Deno.test("returns of many bytes are to be taken before more of them come", async () => {
  const held = forwarded();
  const add = (id: string) =>
    held.add({
      tag: `salt/job/20260101000000000000/ret/${id}`,
      data: map({ id, jid: "20260101000000000000", fun: "test.echo", return: "x".repeat(1 << 20), retcode: 0 }),
    });
  for (let i = 0; i < 63; i++) add(`m${i}`);
  assertEquals(held.hasManyReturns, false);
  add("m63");
  assertEquals(held.hasManyReturns, true);
  const taken = await held.takeReturns();
  assertEquals(isMap(taken.get("20260101000000000000")?.get("return")), true);
  assertEquals(held.hasManyReturns, false);
});

Deno.test("returns that a higher master could not store are sent again, until it has them", () =>
  withTemporaryDirectory(async (root) => {
    await using master = await ScriptedMaster.start(await MasterKeys.make());
    const refusal = map({ error: "Not all of the returns are in the job cache" });
    const sent: unknown[] = [];
    master.script = (request) => {
      if (request.cmd !== "_syndic_return") return master.honest(request);
      sent.push(request.load.get("load"));
      return master.keys.reply(request.load, sent.length < 3 ? refusal : null);
    };
    const port = Number(master.address.split(":").at(-1));
    const { log, lines } = memoryLog(), closing = new AbortController();
    const opts = testOpts({ id: "web1", pki_dir: root, return_retry_timer: 0, return_retry_timer_max: 0 });
    const top = new HigherMaster({
      opts,
      applicant: applicant(await PrivateKey.generate(TEST_KEY_BITS), root),
      log,
      jids: new JidMemory({ min: 10, log }),
      directory: `${root}/returns`,
      closing: closing.signal,
      take: () => {},
      onServing: () => {},
      fail: (error) => void lines.push(String(error)),
    }, { host: "127.0.0.1", port });
    const job = map({ id: "web1", jid: "20260101000000000000", return: { below: { return: 1, retcode: 0 } } });
    top.giveBack([job]);
    const waiting = () =>
      [...Deno.readDirSync(`${root}/returns`)].flatMap(({ name }) =>
        [...Deno.readDirSync(`${root}/returns/${name}`)].filter((entry) => entry.name.endsWith(".p"))
      );
    await eventually(() => sent.length === 3 && waiting().length === 0, { what: "the third try" });
    assertEquals(sent, [[job], [job], [job]]);
    assertEquals(lines.filter((line) => line.includes("could not take it")).length, 2, lines.join("\n"));
    closing.abort();
    await top.close();
  }));

Deno.test("what is no return of its minion is left out, and an event with a return code goes up with its return alone", async () => {
  const held = forwarded(), jid = "20260101000000000000";
  const returned = (data: Readonly<Record<string, unknown>>) =>
    held.add({ tag: `salt/job/${jid}/ret/web1`, data: map({ jid, fun: "test.ping", ...data }) });
  returned({ id: "web2", return: true });
  returned({ id: "web1" });
  held.add({ tag: "salt/job/x", data: map({ id: "web1", retcode: 0 }) });
  assertEquals([(await held.takeReturns()).size, held.takeEvents().events], [0, []]);
  returned({ id: "web1", return: false, retcode: 1 });
  const job = (await held.takeReturns()).get(jid);
  assertEquals(job?.get("return"), map({ web1: map({ return: false, retcode: 1 }) }));
});

Deno.test("the load of a job goes up once, while the job is among those that are remembered", async () => {
  const asked: string[] = [];
  const loadOf = (jid: string) => {
    asked.push(jid);
    return Promise.resolve(undefined);
  };
  const held = new Forwarded("below", { loadOf, hwm: 2 });
  const jid = (n: number) => `2026010100000000000${n}`;
  for (const n of [1, 1, 2, 3, 3, 1]) {
    const data = map({ id: "web1", jid: jid(n), fun: "test.ping", return: true });
    held.add({ tag: `salt/job/${jid(n)}/ret/web1`, data });
    await held.takeReturns();
  }
  assertEquals(asked, [1, 2, 3, 1].map(jid));
});
