import { packEvent } from "#lib/bus/event.ts";
import { eventLogDirectory, reactorDirectory, returnersDirectory } from "#lib/config/master_paths.ts";
import { readLogId } from "#lib/event_log/segment.ts";
import { EventLogWriter } from "#lib/event_log/writer.ts";
import { writePresence } from "#lib/fleet/presence_file.ts";
import { writeStatus } from "#lib/reactor/status.ts";
import { writePosition } from "#lib/returners/event_position.ts";
import { outboxDirectory, RecordOutbox } from "#lib/stores/record_outbox.ts";
import { isMap, map, repr, type Value, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { withRecordedJobs } from "#tests/support/fleet/recorded_jobs.ts";
import { addJob, withRunnerFixture } from "#tests/support/fleet/runner_services.ts";

const JID = "20250102030405000001";

Deno.test("overview.minions does not show a job that monitors or ends another one as a minion's last job", () =>
  withRunnerFixture(async (fixture) => {
    fixture.context.keys.put("web1", "accepted", "PEM");
    addJob(fixture, JID, "test.ping");
    addJob(fixture, "20250102030405000002", "saltutil.find_job");
    addJob(fixture, "20250102030405000003", "saltutil.term_job");
    const table = await fixture.call("overview.minions") as ValueMap;
    assertEquals(repr(table).match(/'last_job': '([^']*)'/)?.[1], `test.ping ${JID}`);
  }));

/** The rows of a table, each with these columns. */
function rows(table: Value, ...columns: string[]): unknown[][] {
  assert(isMap(table) && table.get("outputter") === "overview");
  const data = table.get("data");
  assert(Array.isArray(data));
  return data.map((row) => columns.map((name) => isMap(row) ? row.get(name) : undefined));
}

Deno.test("overview.minions has a row for each key, with the master's data of the minion", () =>
  withRecordedJobs(async ({ call, context, root, here }) => {
    Deno.mkdirSync(`${root}/pki/minions_pre`, { recursive: true });
    Deno.writeTextFileSync(`${root}/pki/minions_pre/new1`, "PEM");
    writePresence(root, { present: new Map([["web1", Date.UTC(2026, 10, 22, 10, 0, 1)]]), gone: new Map() });
    here.set("web1", "192.0.2.1").set("web2", undefined);
    context.data.setGrains("web1", map({ saltversion: "3008.3", osfinger: "Debian-13" }));
    const jid = await context.jobs.prepare("20250102030405000001");
    await context.jobs.saveLoad(jid, map({ fun: ["test.ping", "test.echo"], arg: [], tgt: "web1", jid }), ["web1"]);
    const columns = ["id", "key", "connected", "address", "version", "os", "last_job"];
    assertEquals(rows(await call("overview.minions", ["[nw]*"]), ...columns), [
      ["new1", "pending", "", "", "", "", ""],
      [
        "web1",
        "accepted",
        "2026-11-22 10:00:01",
        "192.0.2.1",
        "3008.3",
        "Debian-13",
        "test.ping,test.echo 20250102030405000001",
      ],
      ["web2", "accepted", "yes", "", "", "", rows(await call("overview.minions", ["web2"]), "last_job")[0][0]],
    ]);
    assertEquals(rows(await call("overview.keys"), "id", "key"), [
      ["db1", "accepted"],
      ["new1", "pending"],
      ["web1", "accepted"],
      ["web2", "accepted"],
    ]);
  }));

Deno.test("overview.jobs has a row for each of the newest jobs, with its outcome", () =>
  withRecordedJobs(async ({ call, context }) => {
    const jid = await context.jobs.prepare("20250102030405000001");
    const tgt = Array.from({ length: 20 }, (_, i) => `m${i}`);
    await context.jobs.saveLoad(jid, map({ fun: "test.ping", arg: [], tgt, tgt_type: "list", jid, user: "ann" }), [
      "m1",
      "m2",
    ]);
    await context.jobs.saveReturn(map({ id: "m1", jid, return: true, retcode: 0 }));
    await context.jobs.saveReturn(map({ id: "m2", jid, return: "", retcode: 3 }));
    const watching = await context.jobs.prepare("20250102030405000002");
    await context.jobs.saveLoad(watching, map({ fun: "saltutil.find_job", arg: [], tgt: "*", jid: watching }));
    const columns = ["jid", "started", "function", "user", "minions", "returned", "failed"];
    const [row] = rows(await call("overview.jobs", [1]), ...columns);
    assertEquals(row, [jid, "2025-01-02 03:04:05", "test.ping", "ann", 20, 2, 1]);
    assertEquals(rows(await call("overview.jobs", [1]), "target"), [[`${tgt.join(",").slice(0, 39)}…`]]);
    assertEquals(rows(await call("overview.jobs", [], { match: "no.*" }), "jid"), []);
    const listed = await call("jobs.list_jobs", [], { search_function: "test.ping" }) as ValueMap;
    const job = listed.get(jid) as ValueMap;
    assertEquals([job.get("Returned"), job.get("Failed")], [2, 1]);
    const all = await call("jobs.list_jobs") as ValueMap;
    assertEquals((all.get(jid) as ValueMap).has("Failed"), false);
  }));

Deno.test("overview.queues has a row for the reactor, each returner, the outbox and each queue", () =>
  withRunnerFixture(async ({ call, context }) => {
    const { cachedir } = context.opts, columns = ["queue", "kind", "waiting", "dropped", "error"];
    assertEquals(rows(await call("overview.queues"), ...columns), [
      ["event_return rawfile_json", "returner", 0, 0, ""],
      ["outbox of sqlite", "outbox", 0, 0, ""],
    ]);
    const log = new EventLogWriter(eventLogDirectory(cachedir), { keepS: 3600, maxBytes: 1 << 30 }, {
      log: { error() {}, info() {} },
      onWritten() {},
    });
    for (let n = 0; n < 5; n++) log.append(packEvent("a/tag", map({ n })));
    log.close();
    const id = readLogId(eventLogDirectory(cachedir));
    assert(id !== undefined);
    const position = { log: id, number: 2, stored: 2, dropped: 1, error: "it is away" };
    Deno.mkdirSync(returnersDirectory(cachedir), { recursive: true });
    writePosition(returnersDirectory(cachedir), "event_return", "rawfile_json", position);
    Deno.mkdirSync(reactorDirectory(cachedir), { recursive: true });
    const report = { pid: Deno.pid, offset: `${id}.0`, in_work: 2, dropped: map({ missed: 1, loops: 3 }) };
    writeStatus(reactorDirectory(cachedir), map(report));
    const outbox = new RecordOutbox({ directory: outboxDirectory(context.opts), maxBytes: 1000, log() {} });
    await outbox.append([map({ n: 1 }), map({ n: 2 }), map({ n: 3 })]);
    for (const item of ["a", "b"]) await call("queue.insert", ["ids", item]);
    const table = await call("overview.queues");
    assertEquals(rows(table, ...columns), [
      ["reactor", "reactor", 6, 4, ""],
      ["event_return rawfile_json", "returner", 2, 1, "it is away"],
      ["outbox of sqlite", "outbox", 3, 0, ""],
      ["ids", "queue", 2, 0, ""],
    ]);
    const oldest = rows(table, "oldest").map(([time]) => String(time).replace(/^\d{4}-.*Z$/, "time"));
    assertEquals(oldest, ["time", "time", "", ""]);
    // The position of another log counts for nothing, and what a reactor that has ended has left.
    writePosition(returnersDirectory(cachedir), "event_return", "rawfile_json", { ...position, log: "00000000" });
    writeStatus(reactorDirectory(cachedir), map({ ...report, pid: 2 ** 30 }));
    assertEquals(rows(await call("overview.queues"), "queue", "waiting")[0], ["event_return rawfile_json", 0]);
  }, "event_return: rawfile_json\nmaster_job_cache: sqlite\nsqlite_queue_dir: {root}/queues\n"));
