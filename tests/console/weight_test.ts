/** How heavy the console is: what a browser loads for the first page, and the elements of a list of 5,000 minions. */

import { assert, assertEquals } from "#tests/support/assert.ts";
import { CHROMIUM, WITHOUT_CHROMIUM } from "#tests/support/browser.ts";
import { ConsoleSite, logIn } from "./console_page.ts";

/** The most that the first page loads: files, and their bytes as they are sent. */
const MOST_FILES = 12, MOST_BYTES = 60 << 10;
/** The minions of the long list, and the most rows of it that are elements. */
const MINIONS = 5_000, MOST_ROWS = 80;

Deno.test({
  name: `the console's first page is light, and a long list has few elements, in Chromium${WITHOUT_CHROMIUM}`,
  ignore: CHROMIUM === undefined,
  async fn(t) {
    await using desk = await ConsoleSite.start([]);
    const { page, problems } = await desk.open();

    await t.step("the files of the first page", async () => {
      const session = await page.createCDPSession();
      const files: string[] = [];
      let bytes = 0;
      session.on("Network.responseReceived", ({ response }) => {
        const { pathname } = new URL(response.url, desk.site.url("/"));
        if (pathname.startsWith("/console/") && !pathname.endsWith(".json")) files.push(pathname);
      });
      session.on("Network.loadingFinished", ({ encodedDataLength }) => void (bytes += encodedDataLength));
      await session.send("Network.enable");
      await session.send("Network.setCacheDisabled", { cacheDisabled: true });
      await page.reload({ waitUntil: "networkidle0" });
      await page.waitForSelector("input[name=username]");
      await session.detach();
      const what = `${files.length} files of ${bytes} bytes: ${files.join(" ")}`;
      assert(files.includes("/console/main.js") && bytes > 5_000, what);
      assert(files.length <= MOST_FILES && bytes <= MOST_BYTES, what);
    });

    await t.step(`the rows of ${MINIONS} minions`, async () => {
      // No host runs so many minions for a test: the browser gets this one answer instead of the API's.
      await page.setRequestInterception(true);
      page.on("request", (request) => {
        if (!(request.postData() ?? "").includes("overview.minions")) return void request.continue();
        void request.respond({ contentType: "application/json", body: JSON.stringify({ return: [manyMinions()] }) });
      });
      await logIn(page, "alice");
      await page.waitForSelector(".vl .r", { timeout: 30_000 });
      for (const key of ["Home", "End"] as const) {
        await page.focus(".vl");
        await page.keyboard.press(key);
        const id = idOf(key === "Home" ? 0 : MINIONS - 1);
        await page.waitForFunction(`document.querySelector(".vl").innerText.includes(${JSON.stringify(id)})`);
        const rows = Number(await page.evaluate(`document.querySelectorAll(".vl .r").length`));
        assert(rows > 10 && rows <= MOST_ROWS, `${rows} rows after ${key}`);
      }
    });

    assertEquals(problems, []);
  },
});

function idOf(index: number): string {
  return `n${String(index).padStart(4, "0")}`;
}

/** Rows of the runner overview.minions. */
function manyMinions(): Record<string, string>[] {
  return Array.from({ length: MINIONS }, (_, index) => ({
    id: idOf(index),
    key: "accepted",
    connected: "2026-01-01 00:00:00",
    address: "192.0.2.1",
    version: "3008.3",
    os: "Debian 13",
    last_job: "",
  }));
}
