/**
 * Subjects of the Cluster thread by themselves, over a real database: jobs and events.
 * @module
 */

import type { ClusterPublish } from "#lib/cluster/cluster_messages.ts";
import { RootKeys } from "#lib/cluster/cluster_secrets.ts";
import { eventPart } from "#lib/cluster/event_part.ts";
import { jobPart } from "#lib/cluster/job_part.ts";
import { leaseClockMs, LeaseFlags } from "#lib/cluster/lease_flags.ts";
import { loadMasterConfig } from "#lib/config/load.ts";
import { publishPullPath } from "#lib/config/master_paths.ts";
import { Inbox } from "#lib/sockets/endpoint.ts";
import { decode, encode } from "#lib/values/msgpack.ts";
import { isMap, map, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertRejects } from "#tests/support/assert.ts";
import { serverProgram } from "#tests/support/database_servers.ts";
import { eventually } from "#tests/support/eventually.ts";
import { SkippedTime } from "#tests/support/skipped_time.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";
import { startClusterPlace } from "./cluster_place.ts";

const missing = serverProgram("postgres") === undefined;
const named = (what: string) => missing ? `${what} (skipped: there is no postgres)` : what;

const JID = "20240102030405000001";

/** The options of a master below `root`, whose directories are there. */
function optsOf(root: string) {
  const { opts } = loadMasterConfig({
    configDir: `${root}/etc/salt`,
    overrides: { root_dir: root, id: "m1", user: "root", sock_dir: `${root}/s`, cachedir: `${root}/c` },
  });
  for (const directory of [opts.sock_dir, opts.cachedir]) Deno.mkdirSync(directory, { recursive: true });
  return opts;
}

Deno.test({
  name: named("a job goes to the others, to a new Publisher again, and away by the holder of the lease alone"),
  ignore: missing,
  fn: () =>
    withTemporaryDirectory(async (root) => {
      await using place = await startClusterPlace();
      const { database, log, lines } = await place.member(1), opts = optsOf(root), flags = new LeaseFlags();
      using inbox = Inbox.pull();
      inbox.bind(`ipc://${publishPullPath(opts.sock_dir)}`);
      using time = new SkippedTime();
      const part = jobPart({ opts, log, database, flags, keys: new RootKeys(new Uint8Array(32)), jobSecret: "s" });
      const { publish, publisherReplaced } = part.handlers ?? {};
      assert(publish !== undefined && publisherReplaced !== undefined);
      const job = (load: Value): ClusterPublish => ({
        load: encode(load, "disk"),
        minions: ["web1"],
        ttlMs: 60_000,
        live: true,
      });
      const load = map({ jid: JID, fun: "test.ping", arg: [], tgt: "*", tgt_type: "glob" });
      assertEquals(await publish(job(load)), "committed");
      await publisherReplaced(null);
      const [frame] = await inbox.receive(30_000) ?? [];
      const pushed = decode(frame, "disk");
      assert(isMap(pushed));
      assertEquals([pushed.get("load"), pushed.get("minions"), pushed.get("again")], [load, ["web1"], true]);
      await assertRejects(async () => await publish(job(["x"])), TypeError, "a job for the cluster has no load");

      const rows = async () => {
        const counted = await database.read((client) =>
          client.query<{ readonly n: string }>("select count(*) as n from salt.publishes")
        );
        return Number(counted.rows[0].n);
      };
      await place.server.sql(`update salt.publishes set until = now() - interval '2 minutes'`);
      await time.to(61_000);
      assertEquals(await rows(), 1, "another master has the lease");
      flags.set("maintenance", leaseClockMs() + 600_000);
      await time.to(122_000);
      await eventually(async () => await rows() === 0, { what: "the end of the row" });
      // What the database refuses is told, and tried again; that it is away is told by another.
      await place.server.sql(`alter table salt.publishes rename to gone`);
      await time.to(183_000);
      const told = () => lines.filter((line) => line.includes("what is over is not removed"));
      await eventually(() => told().length > 0, { what: "the refusal" });
      assertEquals(told().map((line) => /^ERROR .*relation "salt.publishes" does not exist$/.test(line)), [true]);
      await part.close?.();
    }),
});

Deno.test({
  name: named("without an event bus the exchange says so, and begins no events until its end"),
  ignore: missing,
  fn: () =>
    withTemporaryDirectory(async (root) => {
      await using place = await startClusterPlace();
      const { database, log, lines } = await place.member(1), opts = optsOf(root);
      const part = eventPart({ opts, log, database, startedMs: Date.now() });
      const told = () => lines.filter((line) => line.includes("no events"));
      await eventually(() => told().length > 0, { what: "that there is no bus" });
      assert(told()[0].startsWith("ERROR The cluster: no events yet: Nothing answers on the socket of the event log "));
      await part.close?.();
      assertEquals([told().length, lines.some((line) => line.startsWith("CRITICAL"))], [1, false]);
    }),
});
