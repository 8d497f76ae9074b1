/** The page Schedules in Chromium: how a job that minions run by themselves ended last. */

import { assertEquals } from "#tests/support/assert.ts";
import { CHROMIUM, WITHOUT_CHROMIUM } from "#tests/support/browser.ts";
import { checkViews, ConsoleSite, untilText } from "./console_page.ts";

Deno.test({
  name: `the page Schedules says how jobs ended last${WITHOUT_CHROMIUM}`,
  ignore: CHROMIUM === undefined,
  async fn() {
    const id = "web1.eu.example.net";
    await using desk = await ConsoleSite.start([id]);
    const { fleet } = desk;
    for (
      const [name, ...what] of [["good", "function=test.ping"], ["wrong", "function=test.retcode", "job_args=[3]"]]
    ) {
      await fleet.salt(id, "schedule.add", name, ...what, "hours=24", "run_on_start=False");
      await fleet.salt(id, "schedule.run_job", name);
    }
    await fleet.salt(id, "schedule.add", "never", "function=test.version", "hours=24", "run_on_start=False");
    const { page, problems } = await desk.openSignedIn("#/schedules");
    await untilText(page, "every 24 hours, 1 minion, last without a failure");
    await untilText(page, "every 24 hours, 1 minion, last failed on 1");
    await page.evaluate("document.querySelectorAll('details').forEach((one) => one.open = true)");
    await untilText(page, `${id}: returned`);
    await untilText(page, `${id}: failed`);
    await untilText(page, "The job cache has no return of it.");
    await checkViews(page, "schedule outcomes");
    assertEquals(problems, []);
  },
});
