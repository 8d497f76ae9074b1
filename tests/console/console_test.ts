/** The console in Chromium, beside a real master with minions: each page, by mouse and by keyboard. */

import { assert, assertEquals, assertMatch } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { CHROMIUM, setView, VIEWS, WITHOUT_CHROMIUM } from "#tests/support/browser.ts";
import { checkViews, ConsoleSite, logIn, SHOTS, tabTo, textOf, untilText } from "./console_page.ts";
import { testKey } from "#tests/support/fleet/scripted_minion.ts";

const IDS = ["db1.eu.example.net", "web1.eu.example.net", "web2.eu.example.net"];

Deno.test({
  name: `the console, in Chromium${WITHOUT_CHROMIUM}`,
  ignore: CHROMIUM === undefined,
  async fn(t) {
    await using desk = await ConsoleSite.start(IDS);
    const { fleet } = desk;
    writeStates(desk);
    Deno.mkdirSync(`${fleet.masterOpts.pki_dir}/minions_pre`, { recursive: true });
    const waiting = `${fleet.masterOpts.pki_dir}/minions_pre/web3.eu.example.net`;
    Deno.writeTextFileSync(waiting, (await testKey("web3")).publicKey.pem);
    const { page, problems } = await desk.open("#/keys");
    let hasFailed = false;
    // Each step goes on where the one before ended.
    const step = async (name: string, run: () => Promise<void>) => {
      if (!hasFailed) hasFailed = !await t.step(name, run);
    };

    await step("a log-in that fails says why, and one that works comes to the page that was asked for", async () => {
      await checkViews(page, "log in");
      await logIn(page, "alice", "wrong");
      await untilText(page, "The name or the password is wrong.");
      await logIn(page, "mute");
      await untilText(page, "mute may log in, but no rule of external_auth gives this user anything to do.");
      await logIn(page, "alice");
      await untilText(page, "Compare a fingerprint");
      assertEquals(await page.evaluate("document.cookie"), "");
    });

    await step("by keyboard alone: a key is accepted", async () => {
      await untilText(page, "web3.eu.example.net");
      await checkViews(page, "keys waiting");
      await tabTo(page, "Accept web3.eu.example.net");
      await page.keyboard.press("Enter");
      await eventually(() => fleet.keys.list("accepted").includes("web3.eu.example.net"), {
        what: "the accepted key",
        withinMs: 30_000,
      });
    });

    await step("by keyboard alone: test.ping runs on the minions that were shown", async () => {
      await page.keyboard.press("r");
      await untilText(page, "minions match");
      await eventually(async () => /\b4\s*minions match/.test(await textOf(page)), {
        what: "four minions",
        withinMs: 30_000,
      });
      await page.waitForSelector("#start:not(:disabled)");
      await tabTo(page, "start");
      await page.keyboard.press("Enter");
      await untilText(page, "Output of all");
      await eventually(async () => /3 unchanged/.test((await textOf(page)).replace(/\s+/g, " ")), {
        what: "three returns",
        withinMs: 30_000,
      });
      await checkViews(page, "job");
    });

    await step("a job that another has started appears by itself", async () => {
      await page.keyboard.press("j");
      // New rows wait while the pointer is in the list.
      await page.mouse.move(1, 1);
      await page.waitForSelector(".r.jobs");
      await fleet.salt("web1*", "test.echo", "seen at once");
      await untilText(page, "seen at once");
      await checkViews(page, "jobs");
    });

    await step("a command is confirmed before it runs, shows its output as it comes, and stop ends it", async () => {
      const query = {
        kind: "list",
        tgt: IDS[1],
        fun: "cmd.run",
        arg: '"printf live; sleep 1; echo -$((40+2)); sleep 60"',
      };
      await desk.goTo(page, `#/run?${new URLSearchParams(query)}`, "#start:not(:disabled)");
      await untilText(page, "Any command.");
      await page.waitForSelector(".doc");
      // What a link brings stands in the field of its parameter.
      assertEquals(
        await page.evaluate(
          "[...document.querySelectorAll('label.f')].find((label) => label.textContent.startsWith('cmd')).querySelector('input').value",
        ),
        "printf live; sleep 1; echo -$((40+2)); sleep 60",
      );
      await checkViews(page, "run");
      await page.click("#start");
      await untilText(page, "cmd.run on 1 minion?");
      await checkViews(page, "question");
      await page.focus("dialog[open] button[type=submit]");
      await page.keyboard.press("Enter");
      await untilText(page, "Output of all");
      // Both pieces of the line, while the command runs.
      await untilText(page, "live-42");
      await clickText(page, "Stop the job");
      await clickText(page, "Stop");
      await eventually(async () => /1\s+failed/.test(await textOf(page)), {
        what: "the end of the job",
        withinMs: 30_000,
      });
    });

    await step("a minion that stops turns, without a reload", async () => {
      await desk.goTo(page, "#/fleet", ".vl .r");
      await fleet.stopMinion(IDS[0]);
      // web3 has a key, and was never there. Stopping a job is no job: the one that was stopped has failed.
      await eventually(async () => /1\s+failed\s+2\s+not connected/.test(await textOf(page)), {
        what: "the stopped minion",
        withinMs: 30_000,
      });
      await checkViews(page, "fleet");
    });

    await step("a key that was exchanged between the look and the click is refused", async () => {
      const path = `${fleet.masterOpts.pki_dir}/minions_pre/late.example.net`;
      Deno.writeTextFileSync(path, (await testKey("first")).publicKey.pem);
      await desk.goTo(page, "#/keys", "main");
      await page.reload();
      await untilText(page, "late.example.net");
      Deno.writeTextFileSync(path, (await testKey("second")).publicKey.pem);
      await clickText(page, "Accept late.example.net");
      await untilText(page, "has sent another key meanwhile");
      assertEquals(fleet.keys.list("accepted").includes("late.example.net"), false);
      await checkViews(page, "keys");
    });

    await step(
      "by keyboard alone: a plan is applied; a minion that has changed meanwhile is skipped and named",
      async () => {
        await desk.goTo(page, "#/states?tgt=web1*+or+web2*&mods=web", "#plan");
        await tabTo(page, "plan");
        await page.keyboard.press("Enter");
        await untilText(page, "minions change", 30_000);
        await checkViews(page, "states");
        Deno.writeTextFileSync(`${fleet.root}/${IDS[2]}/motd`, "by hand\n");
        await tabTo(page, "apply");
        await page.keyboard.press("Enter");
        await untilText(page, "Apply to 2");
        await page.keyboard.press("Enter");
        await untilText(page, "What was done", 30_000);
        assertMatch(await textOf(page), /1 skipped, 1 applied/);
        assertMatch(await textOf(page), /web2\.eu\.example\.net skipped/);
        assertEquals(Deno.readTextFileSync(`${fleet.root}/${IDS[1]}/motd`), "hello\n");
        assertEquals(Deno.readTextFileSync(`${fleet.root}/${IDS[2]}/motd`), "by hand\n");
      },
    );

    await step(
      "a schedule is set up that watches for drift; its findings are shown by day, minion and state",
      async () => {
        await page.keyboard.press("c");
        await untilText(page, "No minion has a schedule");
        await page.type("#setup input.mono", " and not db*");
        await clickText(page, "Set the schedule up");
        await untilText(page, "Plan the states of 2 minions every 24 hours?");
        await page.keyboard.press("Enter");
        await untilText(page, "1 minion of 2 differs from the states, by the last plans", 120_000);
        await untilText(page, `file.managed ${fleet.root}/${IDS[2]}/motd`);
        await page.waitForSelector("details summary", { timeout: 30_000 });
        await page.click("details summary");
        await eventually(async () => /Next: \d{4}-\d\d-\d\d \d\d:\d\d/.test(await textOf(page)), {
          what: "the next run",
          withinMs: 30_000,
        });
        await checkViews(page, "schedules");
        await clickText(page, "Disable");
        await untilText(page, "Disable drift?");
        await page.keyboard.press("Enter");
        await untilText(page, "disabled");
        await desk.goTo(page, `#/minion/${IDS[2]}?tab=drift`, ".inset");
        await checkViews(page, "minion drift");
        await desk.goTo(page, "#/fleet", ".strip .f-chg");
        // Its newest plan differs, whatever has run well since.
        await eventually(async () => /\b1\s+drifted/.test(await textOf(page)), {
          what: "the minion that differs",
          withinMs: 30_000,
        });
      },
    );

    await step("what the console asks by itself is no minion's last job", async () => {
      await fleet.salt(IDS[1], "test.version");
      await desk.goTo(page, `#/minion/${IDS[1]}?tab=schedule`, ".kv");
      await untilText(page, "state.plan");
      await desk.goTo(page, "#/fleet", ".vl .r");
      for (const again of [false, true]) {
        if (again) await page.reload();
        await page.waitForSelector(".vl .r");
        await eventually(async () => /test\.version/.test(await textOf(page)), {
          what: "the last job",
          withinMs: 30_000,
        });
        assert(!(await textOf(page)).includes("schedule.list"), await textOf(page));
      }
    });

    await step("on a phone, every page is two taps away", async () => {
      await setView(page, VIEWS[2]);
      for (
        const [title, words] of [
          ["Schedules", "Queues of the master"],
          ["Events", "salt/"],
          ["Audit", "audit.verify"],
          ["Account", "API token"],
        ]
      ) {
        await page.click("#more-pages");
        await page.waitForSelector("dialog.sheet[open]");
        if (title === "Events" && SHOTS !== undefined) await page.screenshot({ path: `${SHOTS}/more_light_390.png` });
        await page.evaluate(
          `[...document.querySelectorAll(".sheet .nav")].find((link) => link.textContent === ${
            JSON.stringify(title)
          }).click()`,
        );
        await untilText(page, words);
        assertEquals(await page.evaluate("document.querySelector('dialog[open]')"), null);
      }
      await setView(page, VIEWS[0]);
    });

    await step("pillar is not in the page before it is asked for", async () => {
      await desk.goTo(page, `#/minion/${IDS[1]}?tab=pillar`, "h1");
      await untilText(page, "Pillar is hidden");
      assert(!String(await page.evaluate("document.documentElement.outerHTML")).includes("motto"));
      await clickText(page, `Reveal the pillar of ${IDS[1]}`);
      await untilText(page, "motto");
      await clickText(page, "Grains");
      await untilText(page, "osfinger");
      await checkViews(page, "minion");
    });

    await step("events come, are filtered, and wait while they are paused", async () => {
      await desk.goTo(page, "#/events?since=5m", ".r.evts");
      await untilText(page, "salt/job/");
      await checkViews(page, "events");
      await clickText(page, "Pause");
      await fleet.fire("test/paused", new Map());
      await untilText(page, "new");
      assert(!(await textOf(page)).includes("test/paused"));
      await page.click("button[aria-pressed=true]");
      await untilText(page, "test/paused");
    });

    await step("the audit log names what was refused, and what was done", async () => {
      await page.keyboard.press("a");
      await page.waitForSelector(".r.audit");
      await page.focus(".vl");
      await page.keyboard.press("End");
      await untilText(page, "wheel key.accept");
      await page.click(".keyl .chip");
      await checkViews(page, "audit");
    });

    await step("an API token is made, shown once, works, and is ended", async () => {
      await page.keyboard.press("u");
      await untilText(page, "No API token");
      await page.type("input[name=name]", "deploy");
      await page.click("#make");
      await page.waitForSelector("#secret");
      const secret = String(await page.evaluate("document.getElementById('secret').textContent"));
      const ask = () => fetch(desk.site.url("/api/v1/minions"), { headers: { "X-Auth-Token": secret } });
      const answer = await ask();
      assertEquals([answer.status, (await answer.json()).total], [200, 4]);
      await checkViews(page, "account");
      await clickText(page, "End");
      await clickText(page, "End it");
      await untilText(page, "No API token");
      const refused = await ask();
      await refused.body?.cancel();
      assertEquals(refused.status, 401);
    });

    await step("a master that stops is said on the open page, and one that is back is followed again", async () => {
      await desk.goTo(page, "#/fleet", ".vl .r");
      await fleet.stopMaster();
      await untilText(page, "The connection to the master is lost.", 30_000);
      assert((await textOf(page)).includes("Not connected"));
      await fleet.startMaster();
      await untilText(page, "Live,", 60_000);
      await eventually(async () => !(await textOf(page)).includes("The connection to the master is lost."), {
        what: "the end of the line about the connection",
        withinMs: 20_000,
      });
    });

    assertEquals(problems, []);
  },
});

/** States for `web`, and a pillar with a secret. */
function writeStates({ fleet }: ConsoleSite): void {
  for (const folder of ["srv", "master/srv/pillar"]) Deno.mkdirSync(`${fleet.root}/${folder}`, { recursive: true });
  const state = `motd:\n  file.managed:\n    - name: ${fleet.root}/{{ grains.id }}/motd\n    - contents: hello\n`;
  Deno.writeTextFileSync(`${fleet.root}/srv/web.sls`, state);
  Deno.writeTextFileSync(`${fleet.root}/srv/top.sls`, "base:\n  '*': [web]\n");
  const pillar = fleet.masterOpts.pillar_roots;
  const base = pillar.get("base");
  const directory = Array.isArray(base) ? String(base[0]) : "";
  Deno.mkdirSync(directory, { recursive: true });
  Deno.writeTextFileSync(`${directory}/top.sls`, "base:\n  '*':\n    - secret\n");
  Deno.writeTextFileSync(`${directory}/secret.sls`, "motto: s3cret\n");
}

/** Clicks the button with this text. */
async function clickText(page: import("puppeteer-core").Page, text: string): Promise<void> {
  await eventually(async () =>
    await page.evaluate(
      `(() => { const found = [...document.querySelectorAll("button")].filter((button) =>
         button.textContent.replace(/\\s+/g, " ").trim() === ${JSON.stringify(text)} && !button.disabled &&
         (document.querySelector("dialog[open]")?.contains(button) ?? true));
         found[0]?.click(); return found.length > 0; })()`,
    ) === true, { what: `the button ${text}`, withinMs: 30_000 }).catch(async (error) => {
      throw new Error(`${error.message}; the page says: ${await textOf(page)}`);
    });
}
