/** A log-in by a provider, in Chromium: the button, the provider's pages, and back to the page that was asked for. */

import { assertEquals, assertMatch } from "#tests/support/assert.ts";
import { CHROMIUM, WITHOUT_CHROMIUM } from "#tests/support/browser.ts";
import { OidcServer } from "#tests/support/servers/oidc_server.ts";
import { freePort } from "#scripts/fleet/free_port.ts";
import { checkViews, ConsoleSite, textOf, untilText } from "./console_page.ts";

Deno.test({
  name: `a user of a provider logs in to the console${WITHOUT_CHROMIUM}`,
  ignore: CHROMIUM === undefined,
  async fn() {
    const port = freePort();
    await using provider = new OidcServer(`http://127.0.0.1:${port}/login/oidc/callback`, { dora: ["admins"] });
    await provider.start();
    const oidc = { ...provider.options, "^title": "Example", "admins%": [".*", "@runner", "@wheel", "@jobs"] };
    await using desk = await ConsoleSite.start([], { port }, { external_auth: { oidc } });
    // Without another system there are no fields for a password.
    const { page, problems } = await desk.openPage("#/keys?find=none");
    await page.waitForSelector(".login a.btn.pri");
    assertEquals(await page.$("input[name=password]"), null);
    await checkViews(page, "log in by provider");

    const logInAt = async (name: string) => {
      await page.type("input[name=login]", name);
      await page.type("input[name=password]", "any");
      await page.click("button[type=submit]");
      // Whether the client may know who it is.
      await page.waitForSelector("input[name=prompt][value=consent]");
      await page.click("button[type=submit]");
    };
    // Somebody whom no rule names gets no session, and a way back.
    await page.click(".login a.btn");
    await page.waitForSelector("input[name=login]");
    await logInAt("eve");
    await untilText(page, "no rule of external_auth gives eve anything to do");
    assertEquals((await page.browserContext().cookies()).map(({ name }) => name).includes("session_id"), false);
    for (const cookie of await page.browserContext().cookies()) {
      if (!cookie.name.includes("oidc")) await page.browserContext().deleteCookie(cookie);
    }
    await page.click("a");
    await page.waitForSelector(".login a.btn.pri");

    await page.evaluate(`location.hash = "#/keys?find=none"`);
    await page.reload();
    await page.waitForSelector(".login a.btn.pri");
    await page.click(".login a.btn");
    await page.waitForSelector("input[name=login]");
    await logInAt("dora");
    await untilText(page, "Compare a fingerprint");
    assertMatch(page.url(), /\/console\/#\/keys\?find=none$/);
    assertEquals(await page.evaluate("document.cookie"), "");
    const [session] = (await page.browserContext().cookies()).filter(({ name }) => name === "session_id");
    assertEquals([session.httpOnly, session.sameSite], [true, "Strict"]);
    assertMatch(await textOf(page), /dora/);
    // It lasts, and the pages work with it.
    await page.reload();
    await untilText(page, "Compare a fingerprint");
    const foreign = new RegExp(`^request to (${provider.issuer}|https://fonts\\.)|: Failed to load resource`);
    assertEquals(problems.filter((problem) => !foreign.test(problem)), []);
  },
});
