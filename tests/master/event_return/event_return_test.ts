/**
 * Returners of the master: events and returns reach them in order and once, also when their server was away, over a
 * restart of the master, and beside one that they cannot store.
 * @module
 */

import { parseJson } from "#lib/values/json_read.ts";
import { isMap, map, str, type ValueMap } from "#lib/values/value.ts";
import { freePort } from "#scripts/fleet/free_port.ts";
import { assert, assertEquals, assertRejects } from "#tests/support/assert.ts";
import { eventually, type Fleet, startFleet } from "#tests/support/fleet/fleet.ts";

/** The events in a file of rawfile_json. */
function eventsIn(path: string): { tag: string; data: ValueMap }[] {
  return Deno.readTextFileSync(path).trimEnd().split("\n").map((line) => {
    const event = parseJson(line);
    assert(isMap(event));
    const data = event.get("data");
    assert(isMap(data));
    return { tag: str(event.get("tag") ?? ""), data };
  });
}

/** The tags of the events in a request of webhook. */
function tagsIn(text: string): string[] {
  const body = parseJson(text);
  const events = isMap(body) ? body.get("events") : undefined;
  assert(Array.isArray(events));
  return events.map((event) => isMap(event) ? str(event.get("tag") ?? "") : "");
}

/** What `returners.status` shows of one returner. */
async function statusOf(fleet: Fleet, option: string, name: string): Promise<ValueMap> {
  const all = parseJson((await fleet.saltRun("--out=json", "returners.status")).out);
  const one = isMap(all) ? all.get(option) : undefined;
  const status = isMap(one) ? one.get(name) : undefined;
  assert(isMap(status), String(all));
  return status;
}

Deno.test("event_return stores the events of the white list that the black list does not name, in their order", async () => {
  const path = Deno.makeTempFileSync();
  try {
    await using fleet = await startFleet({
      master: {
        "event_return": "rawfile_json,nosuch,no/name",
        "event_return_whitelist": ["own/*"],
        "event_return_blacklist": ["own/secret/*"],
        "rawfile_json.filename": path,
      },
    });
    for (let n = 0; n < 30; n++) {
      await fleet.fire(`own/${n}`, map({ n }));
      await fleet.fire(`own/secret/${n}`, map({ n }));
      await fleet.fire(`other/${n}`, map({ n }));
    }
    await eventually(() => eventsIn(path).length >= 30, { what: "the events" });
    const events = eventsIn(path);
    assertEquals(events.map(({ tag }) => tag), Array.from({ length: 30 }, (_, n) => `own/${n}`));
    assertEquals(events[3].data.get("n"), 3);
    for (const text of ["there is no returner nosuch", "event_return: there is no returner of the name no/name"]) {
      assert(fleet.logs.some((line) => line.includes(text)), fleet.logs.join("\n"));
    }
    const stored = (line: string) =>
      /^EventReturn: event_return rawfile_json: 30 events stored, 0 waiting; /.test(line);
    await eventually(async () => (await fleet.master.describeThreads()).some(stored), {
      what: "the line of the thread",
    });
    await fleet.stopMaster();
    assertEquals(eventsIn(path).length, 30);
  } finally {
    Deno.removeSync(path);
  }
});

Deno.test("event_return_queue waits for so many events, or its seconds also if no further event comes", async () => {
  const port = freePort(), calls: number[] = [];
  await using _server = Deno.serve({ hostname: "127.0.0.1", port, onListen() {} }, async (request) => {
    const body = parseJson(await request.text());
    const events = isMap(body) ? body.get("events") : undefined;
    calls.push(Array.isArray(events) ? events.length : -1);
    return new Response("");
  });
  await using fleet = await startFleet({
    master: {
      "event_return": ["webhook"],
      "event_return_queue": 10,
      "event_return_queue_max_seconds": 1,
      "event_return_whitelist": ["own/*"],
      "webhook.url": `http://127.0.0.1:${port}/`,
    },
  });
  for (let n = 0; n < 13; n++) await fleet.fire(`own/${n}`, map({}));
  await eventually(() => calls.reduce((sum, n) => sum + n, 0) === 13, { what: "all events" });
  assertEquals(calls, [10, 3]);
});

Deno.test("a server that is away gets every event when it is back, over a restart of the master; one that it refuses holds up none", async () => {
  const port = freePort(), tags: string[] = [];
  const options = { "webhook.url": `http://127.0.0.1:${port}/`, "event_return_whitelist": ["own/*"] };
  await using fleet = await startFleet({ master: { event_return: ["webhook"], ...options } });
  await fleet.fire("own/1", map({}));
  await eventually(() => fleet.logs.some((line) => line.includes("Could not store events - returner 'webhook'")), {
    what: "the line of the log",
  });
  await fleet.fire("own/bad", map({}));
  const status = await statusOf(fleet, "event_return", "webhook");
  assert(Number(status.get("waiting")) >= 1, str(status));
  assert(str(status.get("oldest") ?? "").startsWith("20"), str(status));
  assert(str(status.get("error") ?? "") !== "", str(status));
  await fleet.stopMaster();
  await fleet.startMaster();
  await fleet.fire("own/2", map({}));
  await using _server = Deno.serve({ hostname: "127.0.0.1", port, onListen() {} }, async (request) => {
    const got = tagsIn(await request.text());
    if (got.includes("own/bad")) return new Response("", { status: 400 });
    tags.push(...got);
    return new Response("");
  });
  await eventually(() => tags.includes("own/2"), { what: "the event after the refused one" });
  assertEquals(tags, ["own/1", "own/2"]);
  await eventually(() => fleet.logs.some((line) => line.includes("with the tag own/bad cannot be stored")), {
    what: "the name of the event that is lost",
  });
  await fleet.fire("own/3", map({}));
  await eventually(() => tags.includes("own/3"), { what: "a further event" });
  await eventually(async () => {
    const after = await statusOf(fleet, "event_return", "webhook");
    return after.get("stored") === 3 && after.get("dropped") === 1;
  }, { what: "3 stored events and a lost one" });
});

Deno.test("however many events a returner can never store, and whoever sends them first, the others are stored", async () => {
  const port = freePort(), tags: string[] = [];
  await using _server = Deno.serve({ hostname: "127.0.0.1", port, onListen() {} }, async (request) => {
    const got = tagsIn(await request.text());
    if (got.some((tag) => tag.startsWith("own/bad"))) return new Response("", { status: 422 });
    if (got.some((tag) => tag.startsWith("own/odd"))) return new Response("", { status: 500 });
    tags.push(...got);
    return new Response("");
  });
  const options = { "webhook.url": `http://127.0.0.1:${port}/`, "event_return_whitelist": ["own/*"] };
  await using fleet = await startFleet({ master: { event_return: ["webhook"], ...options } });
  for (let n = 0; n < 5; n++) await fleet.fire(`own/bad/${n}`, map({}));
  await fleet.fire("own/1", map({}));
  // The answers say that it is the event: no pause is made between tries, which would be 31 s for five of them.
  await eventually(() => tags.includes("own/1"), { what: "the event after those that were refused", withinMs: 25_000 });
  // Where the answer does not say that it is the event, more are tried after a while.
  for (let n = 0; n < 5; n++) await fleet.fire(`own/odd/${n}`, map({}));
  await fleet.fire("own/2", map({}));
  await eventually(() => tags.includes("own/2"), { what: "the event after those that fail", withinMs: 120_000 });
  // The position is written after the answer of the server.
  await eventually(async () => {
    const status = await statusOf(fleet, "event_return", "webhook");
    return status.get("stored") === 2 && status.get("dropped") === 10;
  }, { what: "2 stored events and 10 lost ones" });
});

Deno.test("an event that was refused while the server was away is not lost when it comes back", async () => {
  const port = freePort(), tags: string[] = [];
  let calls = 0;
  await using _server = Deno.serve({ hostname: "127.0.0.1", port, onListen() {} }, async (request) => {
    const got = tagsIn(await request.text());
    // It comes back between two of the single calls.
    if (++calls <= 4) return new Response("", { status: 503 });
    tags.push(...got);
    return new Response("");
  });
  const options = { "webhook.url": `http://127.0.0.1:${port}/`, "event_return_whitelist": ["own/*"] };
  await using fleet = await startFleet({ master: { event_return: ["webhook"], ...options } });
  await fleet.fire("own/1", map({}));
  await eventually(() => calls === 1, { what: "the first call" });
  await fleet.fire("own/2", map({}));
  await eventually(() => tags.length === 2, { what: "both events" });
  assertEquals([...tags].sort(), ["own/1", "own/2"]);
  const status = await statusOf(fleet, "event_return", "webhook");
  assertEquals([status.get("stored"), status.get("dropped")], [2, 0]);
});

Deno.test("master_return stores each job once and each return, without a word in the minion's configuration", async () => {
  const path = Deno.makeTempFileSync({ suffix: ".db" });
  try {
    await using fleet = await startFleet({
      minions: ["web1"],
      master: { "master_return": ["sqlite3"], "sqlite3.database": path },
    });
    const { out } = await fleet.salt("--show-jid", "web1", "test.echo", "hello");
    const jid = /\d{20}/.exec(out)?.[0] ?? "";
    await fleet.salt("--no-log", "web1", "test.echo", "secret word");
    fleet.minionOpts("reader", { "sqlite3.database": path });
    const read = async (...words: string[]) => (await fleet.saltCall("reader", "--local", "--out=json", ...words)).out;
    await eventually(async () => (await read("ret.get_jid", "sqlite3", jid)).includes("hello"), { what: "the return" });
    const jobs = parseJson(await read("ret.get_jids", "sqlite3"));
    const local = isMap(jobs) ? jobs.get("local") : undefined;
    const job = isMap(local) ? local.get(jid) : undefined;
    assert(isMap(job), String(jobs));
    assertEquals(["Function", "Arguments", "Target", "User"].map((key) => job.get(key) ?? null).slice(0, 3), [
      "test.echo",
      ["hello"],
      "web1",
    ]);
    assert(!new TextDecoder("latin1").decode(Deno.readFileSync(path)).includes("secret word"));
  } finally {
    Deno.removeSync(path);
  }
});

Deno.test("a master with event_return and without an event log does not start", async () => {
  await assertRejects(
    async () => {
      await using _fleet = await startFleet({ master: { event_return: ["local"], event_log: "none" } });
    },
    Error,
    "event_return needs the event log: event_log is none",
  );
});
