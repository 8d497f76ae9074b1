/**
 * A fleet with its console in a browser: what tests of pages begin with.
 * @module
 */

import { assertEquals } from "#tests/support/assert.ts";
import { API_PASSWORD, apiMasterOptions, ApiSite } from "#tests/support/fleet/api_site.ts";
import { eventually } from "#tests/support/eventually.ts";
import { type Fleet, startFleet } from "#tests/support/fleet/fleet.ts";
import { axeProblems, openPage, setView, startBrowser, VIEWS, type WatchedPage } from "#tests/support/browser.ts";
import type { Browser, Page } from "puppeteer-core";

/** The users: one who may do everything, one who may do nothing, one who may only ping. */
const USERS = { alice: [".*", "@runner", "@wheel", "@jobs"], mute: [], ping: ["test.ping", "@runner"] };

/** Where the pictures of docs/console.md are written: `CONSOLE_PICTURES=docs/pictures`. */
const PICTURES = Deno.env.get("CONSOLE_PICTURES");

/** The pages of which the documentation has a picture, each with the number of its view. */
const PICTURED: Readonly<Record<string, number>> = { fleet: 0, run: 0, job: 1, states: 0, schedules: 0, jobs: 3 };

/** Where pictures of the pages are kept, if one wants to look at them. */
export const SHOTS = Deno.env.get("CONSOLE_SHOTS");
if (SHOTS !== undefined) Deno.mkdirSync(SHOTS, { recursive: true });

/** A fleet, its console, and a browser. */
export class ConsoleSite implements AsyncDisposable {
  readonly #stack = new AsyncDisposableStack();

  private constructor(readonly fleet: Fleet, readonly site: ApiSite, readonly browser: Browser) {}

  /**
   * Starts all of it.
   * @param ids The minions that are accepted.
   * @param section Options of `rest_cherrypy`.
   */
  static async start(
    ids: readonly string[],
    section: Readonly<Record<string, unknown>> = {},
    master: Readonly<Record<string, unknown>> = {},
  ): Promise<ConsoleSite> {
    await using stack = new AsyncDisposableStack();
    const directory = Deno.makeTempDirSync({ prefix: "console_" });
    stack.defer(() => Deno.removeSync(directory, { recursive: true }));
    const fleet = stack.use(
      await startFleet({
        minions: ids,
        master: {
          ...apiMasterOptions(directory, USERS),
          salt_console: true,
          pillar_roots: { base: [`${directory}/pillar`] },
          ...master,
        },
      }),
    );
    const site = stack.use(await ApiSite.start(fleet, section));
    const browser = stack.use(await startBrowser());
    const started = new ConsoleSite(fleet, site, browser);
    started.#stack.use(stack.move());
    return started;
  }

  /** Opens a page of the console, not logged in. */
  async open(hash = ""): Promise<WatchedPage> {
    const watched = await this.openPage(hash);
    await watched.page.waitForSelector("input[name=username]");
    return watched;
  }

  /** Opens a page, without waiting for anything on it. */
  async openPage(hash: string): Promise<WatchedPage> {
    const watched = await openPage(this.browser, this.site.url(""));
    await setView(watched.page, VIEWS[0]);
    await watched.page.goto(this.site.url(`/console/${hash}`));
    return watched;
  }

  /** Opens a page as alice. */
  async openSignedIn(hash = ""): Promise<WatchedPage> {
    const watched = await this.open(hash);
    await logIn(watched.page, "alice");
    await watched.page.waitForSelector("#main");
    return watched;
  }

  /** Goes to another page by its URL, as a link does, and waits for something on it. */
  async goTo(page: Page, hash: string, selector: string): Promise<void> {
    await page.evaluate(`location.hash = ${JSON.stringify(hash)}`);
    await page.waitForSelector(selector, { timeout: 30_000 });
  }

  /** Ends all of it. */
  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stack.disposeAsync();
  }
}

/** Types a name and a password, and logs in by Enter. */
export async function logIn(page: Page, name: string, password: string = API_PASSWORD): Promise<void> {
  await page.waitForSelector("button[type=submit]:not(:disabled)");
  for (const [field, text] of [["username", name], ["password", password]]) {
    await page.click(`input[name=${field}]`, { count: 3 });
    await page.type(`input[name=${field}]`, text);
  }
  await page.keyboard.press("Enter");
}

/** Waits until the text of the page has these words. */
export async function untilText(page: Page, words: string, withinMs = 30_000): Promise<void> {
  await eventually(async () => (await textOf(page)).includes(words), {
    what: `"${words}" on the page`,
    withinMs,
    everyMs: 50,
  })
    .catch(async (error) => {
      throw new Error(`${error.message}; the page says: ${(await textOf(page)).slice(0, 2000)}`);
    });
}

/** The text of the page as it is shown. */
export async function textOf(page: Page): Promise<string> {
  return String(await page.evaluate("document.body.innerText"));
}

/** Presses Tab until the focused element's text, label or id is `name`. */
export async function tabTo(page: Page, name: string): Promise<void> {
  const passed: unknown[] = [];
  for (let i = 0; i < 80; i++) {
    await page.keyboard.press("Tab");
    const focused = await page.evaluate(
      `[document.activeElement.id, document.activeElement.innerText, document.activeElement.ariaLabel].map((text) => (text ?? "").replace(/\\s+/g, " ").trim())`,
    );
    if (Array.isArray(focused) && focused.includes(name)) return;
    passed.push(focused);
  }
  throw new Error(`Tab does not come to ${name}, but to ${JSON.stringify(passed)}`);
}

/** axe-core finds nothing on the page in any view; writes a picture of each, if they are wanted. */
export async function checkViews(page: Page, name: string): Promise<void> {
  const problems: string[] = [];
  for (const view of VIEWS) {
    await setView(page, view);
    const where = `${name} ${view.scheme} ${view.width}`;
    if (SHOTS !== undefined) {
      // On a phone all of the page, which is several screens long.
      await page.screenshot({ path: `${SHOTS}/${where.replaceAll(" ", "_")}.png`, fullPage: view.width < 640 });
    }
    if (PICTURES !== undefined && view === VIEWS[PICTURED[name]]) {
      await takePicture(page, `${PICTURES}/console_${name}.png`);
    }
    problems.push(...(await axeProblems(page)).map((line) => `${where}: ${line}`));
    const width = await page.evaluate("document.documentElement.scrollWidth");
    if (Number(width) > view.width) problems.push(`${where}: it is ${width} px wide`);
  }
  await setView(page, VIEWS[0]);
  assertEquals(problems, []);
}

/** A picture for the documentation: of the upper part of the page, small. */
async function takePicture(page: Page, path: string): Promise<void> {
  const { width = 0, height = 0 } = page.viewport() ?? {};
  const scale = width > 1_000 ? 0.6 : 1;
  await page.screenshot({ path, clip: { x: 0, y: 0, width, height: Math.min(height, 720), scale } });
}
