/** The memory of a console that is open for long: events that have been seen leave nothing behind. */

import { assert } from "#tests/support/assert.ts";
import { CHROMIUM, WITHOUT_CHROMIUM } from "#tests/support/browser.ts";
import { EventSender } from "#lib/bus/sender.ts";
import { masterBus } from "#lib/bus/paths.ts";
import { packEvent, stamp } from "#lib/bus/event.ts";
import { map } from "#lib/values/value.ts";
import { ConsoleSite, untilText } from "./console_page.ts";

/** Events of a round, and the most bytes by which the heap may be larger after three more rounds. */
const EVENTS = 6_000, MOST_MORE = 3 << 20;

Deno.test({
  name: `the console's heap is flat however many events come, in Chromium${WITHOUT_CHROMIUM}`,
  ignore: CHROMIUM === undefined,
  async fn() {
    await using desk = await ConsoleSite.start([]);
    const { page, problems } = await desk.openSignedIn("#/events");
    const session = await page.createCDPSession();
    using sender = new EventSender(masterBus(desk.fleet.masterOpts.sock_dir).pull);
    let round = 0;
    const heapAfterRound = async () => {
      round++;
      const data = (n: number) => stamp(map({ n, text: "x".repeat(500) }));
      for (let n = 0; n < EVENTS; n++) await sender.firePacked(packEvent(`flood/${round}`, data(n)), 30_000);
      await sender.firePacked(packEvent(`flood/${round}/end`, data(EVENTS)), 30_000);
      await untilText(page, `flood/${round}/end`, 60_000);
      await session.send("HeapProfiler.collectGarbage");
      const { usedSize } = await session.send("Runtime.getHeapUsage");
      return usedSize;
    };
    // The first round fills the list, which has a bound.
    const before = await heapAfterRound();
    const sizes = [await heapAfterRound(), await heapAfterRound(), await heapAfterRound()];
    assert(sizes[2] - before < MOST_MORE, `${before} bytes at first, then ${sizes.join(", ")}`);
    assert(problems.length === 0, problems.join("\n"));
  },
});
