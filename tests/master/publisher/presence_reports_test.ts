/** @module */
import { PresenceBook, presenceTopic } from "#lib/fleet/presence.ts";
import { readPresence, writePresence } from "#lib/fleet/presence_file.ts";
import { PresenceReports } from "#lib/master/publisher/presence_reports.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";

const KEYS = { sessionKey: "session", sharedKey: "shared" };

Deno.test("changes of presence are reported together: in the file, by one event, and to the delivery of jobs", async () => {
  const cachedir = Deno.makeTempDirSync({ prefix: "presence_" });
  const book = new PresenceBook({ sessionKeys: () => [KEYS.sessionKey], sharedKey: () => KEYS.sharedKey });
  const events: string[] = [], arrivals: string[][] = [];
  writePresence(cachedir, { present: new Map([["left", 1]]), gone: new Map([["gone", 2]]) });
  const reports = new PresenceReports({
    cachedir,
    book,
    log: SILENT_LOGGER,
    fire: (tag, data) => Promise.resolve(events.push(`${tag} ${data.get("new")} | ${data.get("lost")}`)),
    onArrivals: (ids) => Promise.resolve(void arrivals.push([...ids])),
  });
  assertEquals([...readPresence(cachedir).gone.keys()].sort(), ["gone", "left"]);

  const topic = (id: string) => new TextEncoder().encode(presenceTopic(id, KEYS));
  const frameOf = (first: number, bytes: Uint8Array) => new Uint8Array([first, ...bytes]);
  const [web1, web2] = [topic("web1"), topic("web2")];
  for (const frame of [frameOf(1, web1), frameOf(1, web2), frameOf(0, web2), frameOf(1, topic("left"))]) {
    reports.receive(frame);
  }
  reports.receive(new TextEncoder().encode("\u0001salt/present/db1/forged"));
  await eventually(() => events.length > 0, { what: "the event" });
  assertEquals(arrivals, [["web1", "web2", "left"]]);
  assertEquals(events, ["salt/presence/change web1,left | web2"]);
  const { present, gone } = readPresence(cachedir);
  assertEquals([[...present.keys()], [...gone.keys()].sort()], [["web1", "left"], ["gone", "web2"]]);
  reports.close();
  Deno.removeSync(cachedir, { recursive: true });
});

Deno.test("presence that cannot be stored is logged, but still reported", async () => {
  const root = Deno.makeTempDirSync({ prefix: "presence_" });
  const cachedir = `${root}/cache`;
  const book = new PresenceBook({ sessionKeys: () => [KEYS.sessionKey], sharedKey: () => KEYS.sharedKey });
  const events: string[] = [], errors: string[] = [];
  const reports = new PresenceReports({
    cachedir,
    book,
    log: { ...SILENT_LOGGER, error: (text) => errors.push(String(text)) },
    fire: (_tag, data) => Promise.resolve(events.push(`${data.get("new")}`)),
    onArrivals: () => Promise.resolve(),
  });
  Deno.removeSync(cachedir, { recursive: true });
  Deno.writeTextFileSync(cachedir, "a file");
  reports.receive(new Uint8Array([1, ...new TextEncoder().encode(presenceTopic("web1", KEYS))]));
  await eventually(() => events.length > 0, { what: "the event" });
  assertEquals(events, ["web1"]);
  assertEquals(errors.length, 1);
  assertStringIncludes(errors[0], "The presence file could not be written: ");
  reports.close();
  Deno.removeSync(root, { recursive: true });
});
