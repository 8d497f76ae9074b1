/**
 * Chromium for tests of pages: what a page says, asks of other hosts, and may not do is collected, and fails the test.
 * @module
 */

import puppeteer, { type Browser, type Page } from "puppeteer-core";
import axe from "axe-core";
import { serverProgram } from "#tests/support/database_servers.ts";

/** The browser of the host; `undefined`: it has none. */
export const CHROMIUM = serverProgram("chromium") ?? serverProgram("chromium-browser") ??
  serverProgram("google-chrome");

/** What the name of a test ends with that needs it. */
export const WITHOUT_CHROMIUM = CHROMIUM === undefined ? " (there is none: install Debian's chromium)" : "";

/** The rules of axe-core that pages keep: WCAG 2.2 A and AA, and its best practice. */
const AXE_TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

/** How a page is looked at. */
export interface View {
  readonly width: number;
  readonly height: number;
  readonly scheme: "light" | "dark";
}

/** The views of every page: desktop and phone, light and dark. */
export const VIEWS: readonly View[] = [
  { width: 1360, height: 860, scheme: "light" },
  { width: 1360, height: 860, scheme: "dark" },
  { width: 390, height: 844, scheme: "light" },
  { width: 390, height: 844, scheme: "dark" },
];

/** Starts Chromium, with a profile of its own that is removed at the end. */
export async function startBrowser(): Promise<Browser & AsyncDisposable> {
  return await puppeteer.launch({
    executablePath: CHROMIUM,
    // Root has no sandbox; the pages are our own.
    args: [...Deno.uid() === 0 ? ["--no-sandbox"] : [], "--disable-dev-shm-usage", "--disable-gpu"],
  });
}

/** A page and what went wrong in it. */
export interface WatchedPage {
  readonly page: Page;
  /** Errors of the console and of scripts, violations of the policy, requests to other hosts. */
  readonly problems: string[];
}

/** Opens a page that may ask only `origin`, with a profile of its own. */
export async function openPage(browser: Browser, origin: string): Promise<WatchedPage> {
  const context = await browser.createBrowserContext();
  const page = await context.newPage();
  const problems: string[] = [];
  page.on("console", (message) => {
    // The answer 401 or 503 to a log-in is what a test asks for; its text is looked at there.
    if (message.type() === "error" && !/status of (401|409|503)/.test(message.text())) {
      problems.push(`console: ${message.text()}`);
    }
  });
  page.on("pageerror", (error) => problems.push(`script: ${error instanceof Error ? error.message : String(error)}`));
  page.on("error", (error) => problems.push(`crash: ${error.message}`));
  page.on("request", (request) => {
    const url = request.url();
    if (!url.startsWith(origin) && !url.startsWith("data:") && !url.startsWith("blob:")) {
      problems.push(`request to ${url}`);
    }
  });
  await page.evaluateOnNewDocument(
    `addEventListener("securitypolicyviolation", (event) =>
       console.error("policy: " + event.violatedDirective + " " + event.blockedURI + " " + event.sample));`,
  );
  return { page, problems };
}

/** Shows the page in a view. */
export async function setView(page: Page, { width, height, scheme }: View): Promise<void> {
  await page.setViewport({ width, height });
  await page.emulateMediaFeatures([
    { name: "prefers-color-scheme", value: scheme },
    { name: "prefers-reduced-motion", value: "reduce" },
  ]);
}

/** What axe-core finds wrong in the page as it is now, a line for each. */
export async function axeProblems(page: Page): Promise<string[]> {
  // evaluate() runs in the page's world, past its policy: the page itself could not.
  await page.evaluate(axe.source);
  const found = await page.evaluate(
    `axe.run(document, { runOnly: ${JSON.stringify(AXE_TAGS)} }).then(({ violations }) =>
       violations.flatMap(({ id, nodes }) =>
         nodes.map(({ html, failureSummary }) => id + ": " + html.slice(0, 160) + " | " + failureSummary.replace(/\\s+/g, " "))))`,
  );
  return Array.isArray(found) ? found.map(String) : [`axe-core gave ${String(found)}`];
}
