/**
 * How far the reactor of a killed master came: its job is sent again under its id, and announced once.
 * @module
 */

import { packEvent } from "#lib/bus/event.ts";
import { eventLogDirectory } from "#lib/config/master_paths.ts";
import { EventLogWriter } from "#lib/event_log/writer.ts";
import { findProgress } from "#lib/master/reactor/find_progress.ts";
import { publishOwn } from "#lib/master/requests/publish.ts";
import type { Reaction, ReactionKind } from "#lib/reactor/reaction.ts";
import { map } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { testServices } from "#tests/support/fleet/services.ts";

const ANNOUNCED = "20261129120000000001", RUN = "20261129120000000002", STORED = "20261129120000000003";

function taken(jid: string, kind: ReactionKind) {
  const reaction: Reaction = {
    kind,
    fun: "test.ping",
    args: [],
    kwargs: map({}),
    id: "a",
    file: "/srv/a.sls",
    tgt: "web1",
    tgtType: "glob",
    ret: "",
    publish: map({}),
  };
  return { jid, reaction };
}

Deno.test("a job that was announced and not stored was perhaps not sent; a function that was announced was started", async () => {
  using services = await testServices({});
  const { opts } = services, limits = { keepS: 60, maxBytes: 1 << 20 };
  const log = new EventLogWriter(eventLogDirectory(opts.cachedir), limits, { log: services.log, onWritten: () => {} });
  for (const tag of [`salt/job/${ANNOUNCED}/new`, `salt/run/${RUN}/new`, `salt/job/${STORED}/new`]) {
    log.append(packEvent(tag, map({})));
  }
  log.close();
  const progressOf = findProgress(opts, (jid) => Promise.resolve(jid === STORED));
  assertEquals(
    await Promise.all([
      progressOf(taken(ANNOUNCED, "local")),
      progressOf(taken(RUN, "runner")),
      progressOf(taken(STORED, "local")),
      progressOf(taken("20261129120000000004", "local")),
      progressOf(taken("20261129120000000004", "runner")),
    ]),
    ["announced", "started", "started", "none", "none"],
  );
});

Deno.test("a job that was announced is sent and stored under its id without another first event", async () => {
  for (const isAnnounced of [false, true]) {
    using services = await testServices({});
    services.auth.keys.put("web1", "accepted", "PEM");
    const load = map({
      tgt: "web1",
      tgt_type: "glob",
      fun: "test.ping",
      arg: [],
      ret: "",
      jid: ANNOUNCED,
      user: "root",
    });
    assert(await publishOwn(load.set("kwargs", map({})), services, { isAnnounced }));
    assertEquals(services.published.map((publish) => publish.get("jid")), [ANNOUNCED]);
    assert(services.stored.exists(ANNOUNCED));
    const first = services.fired.filter(({ tag }) => tag === `salt/job/${ANNOUNCED}/new`);
    assertEquals(first.length, isAnnounced ? 0 : 1);
  }
});
