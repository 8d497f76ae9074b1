/**
 * SaltGUI itself in Chromium, unchanged, beside the console on the same port: log-in, every page, a run, keys, live
 * events. `saltgui.tar.gz` has its release 1.35 (MIT) without the pictures of operating systems and of GitHub.
 */

import { assert, assertEquals, assertMatch } from "#tests/support/assert.ts";
import { API_PASSWORD, apiMasterOptions, ApiSite } from "#tests/support/fleet/api_site.ts";
import { type Fleet, startFleet } from "#tests/support/fleet/fleet.ts";
import { CHROMIUM, openPage, startBrowser, type WatchedPage, WITHOUT_CHROMIUM } from "#tests/support/browser.ts";
import { eventually } from "#tests/support/eventually.ts";
import { testKey } from "#tests/support/fleet/scripted_minion.ts";
import { run } from "#tests/support/processes.ts";
import { SALT_VERSION } from "#lib/version.ts";
import { untilText } from "./console_page.ts";
import type { Page } from "puppeteer-core";

const ARCHIVE = new URL("saltgui.tar.gz", import.meta.url).pathname;

const PILLAR = `motto: on the road
schedule:
  pings: {function: test.ping, minutes: 60, run_on_start: false}
beacons:
  load: [{averages: {1m: [0, 1000]}}, {interval: 600}]
mine_functions:
  test.ping: []
`;

/**
 * A state on minions, a step of an orchestration on the master: in one file, because SaltGUI 1.35 sorts the names of
 * two by a method that they do not have.
 */
const STATES = `{% if grains.id in ["db1", "web1"] %}
one: test.succeed_with_changes
{% else %}
ask:
  salt.function:
    - name: test.ping
    - tgt: web1
{% endif %}
`;

/** What each page of the menu shows once it has its answers: words of its main panel. */
const PAGES: readonly (readonly [page: string, ...words: RegExp[]])[] = [
  ["minions", new RegExp(`db1\\s+accepted\\s+${SALT_VERSION}`), /web1\s+accepted/, /2 minions/],
  ["grains", /db1\s+accepted[^\n]*\d+ grains/, /2 minions/],
  ["pillars", /web1\s+accepted\s+4 pillars/],
  ["mine", /web1\s+accepted\s+1 function/],
  ["beacons", /web1\s+accepted\s+1 beacon/],
  ["schedules", /web1\s+accepted\s+1 schedule/],
  ["nodegroups", /nodegroup webs — 1 minion/, /not in any nodegroup — 1 minion/, /1 nodegroup, 2 minions/],
  ["keys", /db1\s+accepted\s+([0-9a-f]{2}:){31}/, /2 accepted keys/],
  ["jobs", /\d{20}\s+\*\s+state\.apply web[^\n]*done\s+2 minions, 2 results, 2 successes/],
  ["highstate", /db1\s+accepted\s+\d{20}\s+\*\s+state\.apply web/],
  ["orchestrations", /web\s[\s\S]*ask\s+web1\s+function\s+test\.ping/, /1 orchestration/],
  ["templates", /ping\s[^\n]*Are they there\s+\*\s+test\.ping/],
  ["reactors", /test\/x\s+\[ "\/x\.sls" \]/],
  ["issues", /\d+ issues?|No issues/],
];

/** The pages of one minion. */
const MINION_PAGES: readonly (readonly [page: string, words: RegExp])[] = [
  ["grains-minion", /saltversion[^\n]*3008/],
  ["pillars-minion", /motto\s/],
  ["mine-minion", /test\.ping[\s\S]*true/],
  ["beacons-minion", /load[\s\S]*averages/],
  ["schedules-minion", /pings[\s\S]*"minutes": 60/],
];

/** What is not there: texts that an operator may add, and pictures that the archive leaves out. */
const MAY_LACK = /\/static\/(salt-auth\.txt|salt-motd\.(txt|html)|minions\.txt|images\/(os-|GitHub_)\w+(-\w+)*\.png)$/;

/** A fleet with something for every page, the API with SaltGUI and the console, and SaltGUI in a browser. */
async function start(stack: AsyncDisposableStack): Promise<{ fleet: Fleet; site: ApiSite; gui: WatchedPage }> {
  const directory = Deno.makeTempDirSync({ prefix: "saltgui_" });
  stack.defer(() => Deno.removeSync(directory, { recursive: true }));
  const { code, err } = await run(["tar", "-xzf", ARCHIVE, "-C", directory]);
  assertEquals(code, 0, err);
  Deno.mkdirSync(`${directory}/pillar`);
  Deno.writeTextFileSync(`${directory}/pillar/top.sls`, "base:\n  '*': [data]\n");
  Deno.writeTextFileSync(`${directory}/pillar/data.sls`, PILLAR);
  const fleet = stack.use(
    await startFleet({
      minions: ["db1", "web1"],
      master: {
        ...apiMasterOptions(directory, { alice: [".*", "@runner", "@wheel"], mute: [] }),
        salt_console: true,
        pillar_roots: { base: [`${directory}/pillar`] },
        nodegroups: { webs: "web*" },
        reactor: [{ "test/x": ["/x.sls"] }],
        saltgui_templates: { ping: { target: "*", command: "test.ping", description: "Are they there" } },
      },
    }),
  );
  Deno.mkdirSync(`${fleet.root}/srv`, { recursive: true });
  Deno.writeTextFileSync(`${fleet.root}/srv/web.sls`, STATES);
  await fleet.salt("*", "state.apply", "web");
  const section = {
    app: `${directory}/saltgui/index.html`,
    static: `${directory}/saltgui/static`,
    collect_stats: true,
  };
  const site = stack.use(await ApiSite.start(fleet, section));
  const browser = stack.use(await startBrowser());
  const gui = await openPage(browser, site.url(""));
  await gui.page.setViewport({ width: 1360, height: 860 });
  return { fleet, site, gui };
}

Deno.test({
  name: `SaltGUI, unchanged, in Chromium${WITHOUT_CHROMIUM}`,
  ignore: CHROMIUM === undefined,
  async fn(t) {
    await using stack = new AsyncDisposableStack();
    const { fleet, site, gui: { page, problems } } = await start(stack);
    const refused: string[] = [];
    page.on("response", (response) => {
      if (response.status() >= 400 && !MAY_LACK.test(response.url())) {
        refused.push(`${response.status()} ${response.request().method()} ${new URL(response.url()).pathname}`);
      }
    });

    await t.step("a log-in with a wrong password, without rights, and one that works", async () => {
      await page.goto(site.url("/"));
      await logIn(page, "alice", "wrong");
      await untilText(page, "Authentication failed");
      await logIn(page, "mute", API_PASSWORD);
      await untilText(page, "No permissions");
      await logIn(page, "alice", API_PASSWORD);
      await untilPanel(page, "minions", /2 minions/);
      assertEquals(refused.splice(0), ["401 POST /login"]);
    });

    for (const [name, ...words] of PAGES) {
      await t.step(`the page ${name}`, async () => {
        await page.evaluate(`document.getElementById("button-${name}1").click()`);
        for (const expected of words) await untilPanel(page, name, expected);
        assertEquals(new URL(page.url()).hash, `#${name}`);
      });
    }

    for (const [name, words] of MINION_PAGES) {
      await t.step(`the page ${name}, by its address`, async () => {
        await page.goto(site.url(`/?minionid=web1#${name}`));
        await untilPanel(page, name, words);
      });
    }

    await t.step("a job, and the page of its results", async () => {
      await page.evaluate(`document.getElementById("button-jobs1").click()`);
      await untilPanel(page, "jobs", /state\.apply web/);
      await page.click("#page-jobs tbody tr td:nth-child(2)");
      await untilPanel(page, "job", /state\.apply web on \*[\s\S]*db1[\s\S]*succeed_with_changes/);
    });

    await t.step("options, and what the API counts", async () => {
      await page.keyboard.press("O");
      await untilPanel(page, "options", /eauth:?\s+file/);
      await untilText(page, "Total Requests");
    });

    await t.step("a command, a runner and a wheel function from its box", async () => {
      assertMatch(await runCommand(page, "*", "test.echo hello"), /db1[\s\S]*hello[\s\S]*web1[\s\S]*hello/);
      assertMatch(await runCommand(page, "", "runners.manage.up"), /db1[\s\S]*web1/);
      assertMatch(await runCommand(page, "db*", "wheel.key.finger"), /minions[\s\S]*db1/);
      assertMatch(await runCommand(page, "web1", "no.such"), /'no\.such' is not available/);
    });

    await t.step("keys that come are shown, and are accepted, rejected and deleted by their menus", async () => {
      await page.evaluate(`document.getElementById("button-keys1").click()`);
      await untilPanel(page, "keys", /2 accepted keys/);
      const pending = `${fleet.masterOpts.pki_dir}/minions_pre`;
      Deno.mkdirSync(pending, { recursive: true });
      const { publicKey: { pem } } = await testKey("late");
      for (const id of ["late1", "late2", "late3"]) {
        Deno.writeTextFileSync(`${pending}/${id}`, pem);
        // Its event is what the page waits for.
        await fleet.fire(
          "salt/auth",
          new Map<string, string | boolean>([["act", "pend"], ["id", id], ["pub", pem], ["result", true]]),
        );
      }
      await untilPanel(page, "keys", /late3\s+unaccepted/);
      for (const [id, what] of [["late1", "Accept"], ["late2", "Reject"], ["late3", "Delete"]]) {
        await useMenu(page, id, `${what} key`);
        await pressRun(page, `key.${what.toLowerCase()}`);
        await page.click("#cmd-close-button");
      }
      // The word of Salt 3008's event, "accepted", is not the one that SaltGUI 1.35 knows: the page is shown again.
      await page.evaluate(`document.getElementById("button-minions1").click()`);
      await untilPanel(page, "minions", /late1/);
      await page.evaluate(`document.getElementById("button-keys1").click()`);
      await untilPanel(page, "keys", /late1\s+accepted/);
      await untilPanel(page, "keys", /late2\s+rejected/);
      assertEquals(fleet.keys.list("accepted"), ["db1", "late1", "web1"]);
      assertEquals([fleet.keys.list("rejected"), fleet.keys.list("pending")], [["late2"], []]);
    });

    await t.step("events are live, while another page than the first is shown", async () => {
      await page.evaluate(`document.getElementById("button-events1").click()`);
      await untilPanel(page, "events", /No events/);
      const play =
        `[...document.querySelectorAll("#page-events .panel > span")].find((one) => one.innerText.startsWith("\u2BC8"))`;
      await page.evaluate(`${play}.click()`);
      await fleet.fire("test/live", new Map([["word", "seen at once"]]));
      await untilPanel(page, "events", /test\/live[\s\S]*seen at once/);
    });

    await t.step("the console is on the same port, with a session of its own", async () => {
      const answer = await fetch(site.url("/console/"));
      assertMatch(await answer.text(), /<title>Salt/);
      assert(!(answer.headers.get("content-security-policy") ?? "").includes("unsafe-inline"));
    });

    // What the pages still ask when the session has ended is refused, as it should be.
    assertEquals(refused, []);
    await t.step("a log-out ends the session", async () => {
      const token = await page.evaluate(`sessionStorage.getItem("token")`);
      await page.evaluate(`document.getElementById("button-logout1").click()`);
      await page.waitForSelector("#login-button", { visible: true });
      const { status } = await site.ask("GET", "/minions", { token: String(token) });
      assertEquals(status, 401);
    });

    const absent = "console: Failed to load resource: the server responded with a status of 404 (Not Found)";
    assertEquals(problems.filter((problem) => problem !== absent), []);
  },
});

async function logIn(page: Page, name: string, password: string): Promise<void> {
  await page.waitForSelector("#login-button:not(:disabled)", { visible: true });
  for (const [field, text] of [["username", name], ["password", password]]) {
    await page.click(`#${field}`, { count: 3 });
    await page.type(`#${field}`, text);
  }
  await page.select("#login-panel select", "file");
  await page.click("#login-button");
}

/** Waits until the main panel of a page shows this, and is no longer loading. */
async function untilPanel(page: Page, name: string, expected: RegExp): Promise<void> {
  let text = "";
  await eventually(async () => {
    text = String(await page.evaluate(`document.querySelector("#page-${name} .panel").innerText`));
    return expected.test(text) && !text.includes("(loading)");
  }, { what: `${expected} on the page ${name}`, withinMs: 30_000, everyMs: 100 }).catch((error) => {
    throw new Error(`${error.message}; it says: ${text.slice(0, 2000)}`);
  });
}

/** Runs a command from the box that the key `c` opens; what it shows. */
async function runCommand(page: Page, target: string, command: string): Promise<string> {
  await page.keyboard.press("c");
  await page.waitForSelector("#run-command", { visible: true });
  for (const [field, text] of [["target", target], ["command", command]]) {
    await page.click(`#${field}`, { count: 3 });
    await page.keyboard.press("Backspace");
    await page.type(`#${field}`, text);
  }
  const shown = await pressRun(page, command.replace(/^(runners|wheel)\./, "").split(" ")[0]);
  await page.click("#cmd-close-button");
  return shown;
}

/** Presses the button of the box, and waits for the answer of this function; what is shown of it. */
async function pressRun(page: Page, fun: string): Promise<string> {
  const [response] = await Promise.all([
    page.waitForResponse((one) => one.request().postData()?.includes(`"${fun}"`) ?? false, { timeout: 30_000 }),
    page.click("#run-command"),
  ]);
  assertEquals(response.status(), 200);
  await page.waitForSelector("#run-command:not(:disabled)");
  return String(await page.evaluate(`document.querySelector(".run-command pre").innerText`));
}

/** Chooses an entry of a minion's menu, which is filled when the pointer comes. */
async function useMenu(page: Page, id: string, entry: string): Promise<void> {
  await page.evaluate(`(() => {
    const row = [...document.querySelectorAll("#page-keys tbody tr")].find((one) => one.innerText.includes(${
    JSON.stringify(id)
  }));
    const menu = row.querySelector(".run-command-button");
    menu.dispatchEvent(new MouseEvent("mouseenter"));
    [...menu.querySelectorAll(".menu-dropdown-content *")].find((one) => one.innerText.replace(/\\s/g, " ").startsWith(${
    JSON.stringify(entry)
  })).click();
  })()`);
  await page.waitForSelector("#run-command", { visible: true });
}
