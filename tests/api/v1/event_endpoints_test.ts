/** Events: filtered on the server, from an offset on; and the functions that can be called. */

import { apiMasterOptions, type ApiSite } from "#tests/support/fleet/api_site.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { DocumentedSite } from "#tests/support/fleet/documented_site.ts";
import { EventReader } from "#tests/support/event_reader.ts";
import { fleetTest } from "#tests/support/fleet/fleet.ts";
import { packEvent, stamp } from "#lib/bus/event.ts";
import { eventLogDirectory } from "#lib/config/master_paths.ts";
import { EventLogWriter } from "#lib/event_log/writer.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { map } from "#lib/values/value.ts";

const directory = Deno.makeTempDirSync({ prefix: "api_v1_events_" });
globalThis.addEventListener("unload", () => Deno.removeSync(directory, { recursive: true }));

const master = apiMasterOptions(directory, { alice: [".*", "@wheel"], ops: ["test.*"] });

type Row = Record<string, unknown>;

fleetTest("stored events by pages, and a stream that goes on after them", { master }, async (fleet) => {
  await using site = await DocumentedSite.start(fleet);
  const [alice, ops] = [await site.logIn("alice"), await site.logIn("ops")];
  for (let n = 0; n < 30; n++) await fleet.fire(n % 3 === 0 ? "deploy/done" : "noise", map({ n }));
  const list = async (token: string, query: string) => {
    const { status, body } = await site.ask("GET", `/api/v1/events${query}`, { token });
    assertEquals(status, 200, JSON.stringify(body));
    return { next: body.next, events: body.events as { tag: string; offset: string; data: Row }[] };
  };
  const first = await list(alice, "?tag=deploy/*&limit=4");
  assertEquals(first.events.map(({ data }) => data.n), [0, 3, 6, 9]);
  const rest = await list(alice, `?tag=deploy/*&after=${first.next}`);
  assertEquals(rest.events.map(({ data }) => data.n), [12, 15, 18, 21, 24, 27]);
  assertEquals(rest.next, null);
  assertEquals((await list(ops, "?tag=deploy/*")).events, []);
  const refusal = async (at: ApiSite, query: string) => {
    const { status, body } = await at.ask("GET", `/api/v1/events${query}`, { token: alice });
    return [status, Object(body.error).message];
  };
  assertEquals((await refusal(site, "?after=nonsense"))[0], 400);
  assertEquals(await refusal(site, `?tag=${"x".repeat(1_001)}`), [400, "tag is too long"]);
  assertEquals(await refusal(site, `/stream?tag=${"x".repeat(1_001)}`), [400, "tag is too long"]);
  const silent = { masterOpts: { ...fleet.masterOpts, event_log: "none" as const } };
  await using without = await DocumentedSite.start(silent);
  assertEquals(await refusal(without, ""), [400, "The master keeps no events (event_log: none)"]);

  const after = rest.events[3].offset;
  using reader = new EventReader(site.url(`/api/v1/events/stream?tag=deploy/*&after=${after}`), {
    "X-Auth-Token": alice,
  });
  assertEquals(await reader.status(), 200);
  await fleet.fire("noise", map({ n: 98 }));
  await fleet.fire("deploy/done", map({ n: 99 }));
  const numbers: unknown[] = [];
  while (numbers.length < 3) {
    const event = await reader.next();
    assert(event !== undefined && event.tag === "deploy/done", JSON.stringify(event));
    numbers.push(JSON.parse(event.data).data.n);
  }
  assertEquals(numbers, [24, 27, 99]);
});

fleetTest("an answer looks at so many events, and the next one goes on behind them", { master }, async (fleet) => {
  // A log of its own, beside that of the master that runs.
  const cachedir = `${fleet.root}/other`;
  const parts = { log: SILENT_LOGGER, onWritten() {} };
  const log = new EventLogWriter(eventLogDirectory(cachedir), { keepS: 3_600, maxBytes: 1 << 30 }, parts);
  const noise = packEvent("noise", stamp(map({ text: "x".repeat(100) })));
  for (let n = 0; n < 60_000; n++) log.append(noise);
  log.append(packEvent("deploy/done", stamp(map({}))));
  log.close();
  await using site = await DocumentedSite.start({ masterOpts: { ...fleet.masterOpts, cachedir } });
  const token = await site.logIn("alice");
  const first = (await site.ask("GET", "/api/v1/events?tag=deploy/*&after=start", { token })).body;
  assertEquals([first.events, first.missed], [[], 0]);
  assert(typeof first.next === "string");
  const { body } = await site.ask("GET", `/api/v1/events?tag=deploy/*&after=${first.next}`, { token });
  assertEquals([(body.events as Row[]).map(({ tag }) => tag), body.next], [["deploy/done"], null]);
});

fleetTest("functions have typed parameters and what they may do", { master }, async (fleet) => {
  await using site = await DocumentedSite.start(fleet);
  const token = await site.logIn("ops");
  const { body } = await site.ask("GET", "/api/v1/functions", { token });
  const functions = body.functions as Row[];
  const risk = (name: string) => functions.find((one) => one.name === name && one.kind === "local")?.risk;
  assertEquals(["test.ping", "cmd.run", "pkg.install"].map(risk), ["reads", "any command", "changes"]);
  const one = (await site.ask("GET", "/api/v1/functions/test.sleep", { token })).body;
  assertEquals(one.params, [{ name: "length", type: "float", required: true }]);
  const runner = (await site.ask("GET", "/api/v1/functions/key.accept?kind=wheel", { token })).body;
  assertEquals(runner.kind, "wheel");
  assertEquals((await site.ask("GET", "/api/v1/functions/no.such", { token })).status, 404);
  assertEquals((await site.ask("GET", "/api/v1/functions")).status, 401);
});
