/** The events of a master's bus as an engine reads them, without an engine. */

import { packEvent } from "#lib/bus/event.ts";
import { FollowedLog } from "#lib/bus/followed_log.ts";
import { masterBus } from "#lib/bus/paths.ts";
import { BusPump } from "#lib/bus/pump.ts";
import { EventLogWriter } from "#lib/event_log/writer.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { map } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

Deno.test("a reader of the log is told the number of events that were removed before it read them", () =>
  withTemporaryDirectory(async (root) => {
    const directory = `${root}/log`, limits = { keepS: 3600, maxBytes: 5_000 };
    const log = { error: () => {}, info: () => {} };
    const writer = new EventLogWriter(directory, limits, { log, onWritten: () => {}, segmentBytes: 1_000 });
    for (let n = 0; n < 100; n++) {
      writer.append(packEvent("tag/a", map({ n, text: "x".repeat(200) })));
      writer.flush();
    }
    writer.close();
    const paths = masterBus(root);
    const pump = await BusPump.open(paths, {
      log: SILENT_LOGGER,
      eventLog: { directory, ...limits, maxBytes: 1 << 30 },
    });
    const missed: number[] = [];
    const seekFirst = (reader: { seek(number: number): void }) => reader.seek(10);
    const events = await FollowedLog.open({ paths, directory }, ["tag/"], seekFirst, (count) => missed.push(count));
    const first = Number((await events.next(5_000))?.data.get("n"));
    assertEquals([first > 50, missed], [true, [first - 10]]);
    assertEquals([(await events.next(5_000))?.data.get("n"), missed.length], [first + 1, 1]);
    events.close();
    await pump.close();
  }));
