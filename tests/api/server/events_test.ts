/** The stream of events: who sees what, where it goes on, when it ends. */

import { apiMasterOptions, ApiSite } from "#tests/support/fleet/api_site.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { EventReader } from "#tests/support/event_reader.ts";
import { eventFilter } from "#lib/api/endpoints/perms.ts";
import { EventSender } from "#lib/bus/sender.ts";
import { eventually } from "#tests/support/eventually.ts";
import { fleetTest } from "#tests/support/fleet/fleet.ts";
import { AT_ONCE_MS } from "#tests/support/time.ts";
import { masterBus } from "#lib/bus/paths.ts";
import { packEvent, stamp } from "#lib/bus/event.ts";
import { map } from "#lib/values/value.ts";

const directory = Deno.makeTempDirSync({ prefix: "api_events_" });
globalThis.addEventListener("unload", () => Deno.removeSync(directory, { recursive: true }));

const master = apiMasterOptions(directory, {
  alice: [".*", "@runner", "@wheel", "@jobs"],
  ops: ["test.*"],
});

fleetTest(
  "a user with all rights sees every event, another one those of own jobs",
  { master, minions: ["m1"] },
  async (fleet) => {
    await using site = await ApiSite.start(fleet);
    const [alice, ops] = [await site.logIn("alice"), await site.logIn("ops")];
    using all = new EventReader(site.url("/events"), { "X-Auth-Token": alice });
    using own = new EventReader(site.url("/events"), { Cookie: `session_id=${ops}` });
    assertEquals([await all.status(), await own.status()], [200, 200]);
    await fleet.fire("fleet/secret", map({ value: 1 }));
    const job = { client: "local", tgt: "m1", fun: "test.echo", arg: ["hello"] };
    await site.post("/", { ...job, arg: ["of alice"] }, { "X-Auth-Token": alice });
    await site.post("/", job, { "X-Auth-Token": ops });

    const first = await all.next();
    assertEquals(first?.retry, "400");
    assertEquals(first?.tag, "fleet/secret");
    assert(/^[0-9a-f]{8}\.\d+$/.test(first?.id ?? ""), first?.id);
    const returned = await all.until("salt/job/");
    assert(returned !== undefined);

    const tags: string[] = [];
    let data: Record<string, unknown> = {};
    for (let event = await own.next(); event !== undefined; event = await own.next()) {
      tags.push(event.tag);
      data = JSON.parse(event.data);
      if (/\/ret\/m1$/.test(event.tag)) break;
    }
    assertEquals(tags.filter((tag) => !tag.startsWith("salt/job/")), []);
    assertEquals((data.data as Record<string, unknown>).return, "hello");
    assertEquals(new Set(tags.map((tag) => tag.split("/")[2])).size, 1);

    // A log-out ends the stream.
    await site.post("/logout", {}, { "X-Auth-Token": ops });
    const started = performance.now();
    while (await own.next() !== undefined);
    assert(performance.now() - started < AT_ONCE_MS);
  },
);

Deno.test("an event of a minion with a user's name makes no job that user's", () => {
  const sees = eventFilter({ user: "ops", isAdministrator: false });
  const [own, other] = ["20261128010203000001", "20261128010203000002"];
  const event = (tag: string, data: Record<string, unknown>) => ({ tag, data: map(data) });
  assert(sees(event(`salt/job/${own}/new`, { user: "ops", jid: own })));
  assert(sees(event(`salt/job/${own}/ret/m1`, { jid: own })));
  assert(!sees(event(`salt/job/${other}/new`, { user: "root", jid: other })));
  assert(!sees(event(`salt/job/${other}/ret/liar`, { user: "ops", jid: other })));
  assert(!sees(event("own/tag", { user: "ops", jid: other })));
  assert(!sees(event(`salt/job/${other}/ret/m1`, { jid: other })));
});

fleetTest("one user has at most a hundred open streams, and others have theirs", { master }, async (fleet) => {
  await using site = await ApiSite.start(fleet);
  const [alice, ops] = [await site.logIn("alice"), await site.logIn("ops")];
  const gone = new AbortController();
  // An answer that nobody holds is closed when memory is collected.
  const held: Response[] = [];
  const open = async (token: string, signal: AbortSignal) => {
    const answer = await fetch(site.url("/events"), { headers: { "X-Auth-Token": token }, signal });
    return held[held.push(answer) - 1].status;
  };
  const statuses: number[] = [];
  for (let n = 0; n < 101; n++) statuses.push(await open(ops, gone.signal));
  assertEquals(statuses, [...Array(100).fill(200), 429]);
  assertEquals(await open(alice, gone.signal), 200);
  gone.abort();
  const last = new AbortController();
  await eventually(async () => await open(ops, last.signal) === 200, { what: "a place after the streams have ended" });
  last.abort();
});

fleetTest("a client that is cut off again and again has each event once, in order", { master }, async (fleet) => {
  const COUNT = 3_000, CUTS = 25;
  await using site = await ApiSite.start(fleet);
  const token = await site.logIn("alice");
  const seen: number[] = [];
  let last = "";
  const read = async () => {
    for (let cut = 0; seen.at(-1) !== COUNT - 1; cut++) {
      using reader = new EventReader(site.url("/events"), {
        "X-Auth-Token": token,
        ...last !== "" && { "Last-Event-ID": last },
      });
      if (cut === 0) {
        assertEquals(await reader.status(), 200);
        void fire();
      }
      const until = cut < CUTS ? seen.length + 1 + Math.floor(Math.random() * (2 * COUNT / CUTS)) : COUNT;
      while (seen.length < until && seen.at(-1) !== COUNT - 1) {
        const event = await reader.next();
        if (event === undefined) break;
        assertEquals(event.event, undefined, JSON.stringify(event));
        last = event.id;
        if (event.tag === "count") seen.push(JSON.parse(event.data).data.n);
      }
    }
  };
  const fire = async () => {
    using sender = new EventSender(masterBus(fleet.masterOpts.sock_dir).pull);
    for (let n = 0; n < COUNT; n++) await sender.firePacked(packEvent("count", stamp(map({ n }))), 10_000);
  };
  await read();
  assertEquals(seen, Array.from({ length: COUNT }, (_, n) => n));
});

fleetTest("a stream goes on when the master comes back, and says what it cannot have", { master }, async (fleet) => {
  await using site = await ApiSite.start(fleet);
  const token = await site.logIn("alice");
  using reader = new EventReader(site.url("/events"), { "X-Auth-Token": token });
  assertEquals(await reader.status(), 200);
  await fleet.fire("before", map({}));
  assertEquals((await reader.until("before"))?.tag, "before");
  await fleet.stopMaster();
  await fleet.startMaster();
  await fleet.fire("after", map({}));
  assertEquals((await reader.until("after"))?.tag, "after");

  using stale = new EventReader(site.url("/events"), { "X-Auth-Token": token, "Last-Event-ID": "00000000.7" });
  assertEquals((await stale.next())?.event, "gap");
});
