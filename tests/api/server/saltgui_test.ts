/**
 * The requests of SaltGUI's pages, as Chromium sends them: JSON as text/plain, the token in a header, and what the
 * pages read of the answers. Its files are not needed for that; a page of our own stands for them.
 */

import { assert, assertEquals, assertMatch } from "#tests/support/assert.ts";
import { API_PASSWORD, apiMasterOptions, ApiSite } from "#tests/support/fleet/api_site.ts";
import { type Fleet, startFleet } from "#tests/support/fleet/fleet.ts";
import { testKey } from "#tests/support/fleet/scripted_minion.ts";
import { SALT_VERSION } from "#lib/version.ts";

const JSON_TYPE = "application/json";

/** A client that asks as SaltGUI does. */
class SaltGui {
  readonly #site: ApiSite;
  #token = "";

  constructor(site: ApiSite) {
    this.#site = site;
  }

  async logIn(): Promise<Record<string, unknown>> {
    const answer = await this.#ask("/login", { username: "alice", password: API_PASSWORD, eauth: "file" });
    const session = first(answer);
    this.#token = String(session.token);
    return session;
  }

  /** The result of one chunk. */
  async run(low: Readonly<Record<string, unknown>>): Promise<Record<string, unknown>> {
    return first(await this.#ask("/", low));
  }

  /** What a wheel function returns. */
  async wheel(fun: string, fields: Readonly<Record<string, unknown>> = {}): Promise<Record<string, unknown>> {
    const { data } = await this.run({ client: "wheel", fun, ...fields });
    const { success, return: value } = recordOf(data);
    assertEquals(success, true, fun);
    return recordOf(value);
  }

  async #ask(path: string, body: unknown): Promise<Record<string, unknown>> {
    const response = await fetch(this.#site.url(path), {
      method: "POST",
      headers: {
        Accept: JSON_TYPE,
        "Cache-Control": "no-cache",
        "Content-Type": "text/plain;charset=UTF-8",
        // Empty before the log-in.
        "X-Auth-Token": this.#token,
      },
      body: JSON.stringify(body),
    });
    assertEquals(response.status, 200, `${path} ${JSON.stringify(body)}`);
    return await response.json();
  }
}

function recordOf(value: unknown): Record<string, unknown> {
  assert(typeof value === "object" && value !== null, `a map, and not ${JSON.stringify(value)}`);
  return { ...value };
}

function first(answer: Record<string, unknown>): Record<string, unknown> {
  assert(Array.isArray(answer.return));
  return recordOf(answer.return[0]);
}

/** A fleet with what the pages show, the API, and a page with its files. */
async function start(stack: AsyncDisposableStack): Promise<{ fleet: Fleet; site: ApiSite; gui: SaltGui }> {
  const directory = Deno.makeTempDirSync({ prefix: "saltgui_" });
  stack.defer(() => Deno.removeSync(directory, { recursive: true }));
  for (const folder of ["gui/static/images", "pillar"]) Deno.mkdirSync(`${directory}/${folder}`, { recursive: true });
  Deno.writeTextFileSync(`${directory}/gui/index.html`, "<!doctype html><title>SaltGUI</title>");
  Deno.writeTextFileSync(`${directory}/gui/static/page.js`, "export {};");
  Deno.writeTextFileSync(`${directory}/pillar/top.sls`, "base:\n  '*': [data]\n");
  Deno.writeTextFileSync(
    `${directory}/pillar/data.sls`,
    "motto: x\nschedule:\n  pings: {function: test.ping, minutes: 60}\nmine_functions:\n  test.ping: []\n",
  );
  const fleet = stack.use(
    await startFleet({
      minions: ["db1", "web1"],
      master: {
        ...apiMasterOptions(directory, { alice: [".*", "@runner", "@wheel"] }),
        pillar_roots: { base: [`${directory}/pillar`] },
        nodegroups: { webs: "web*" },
        reactor: [{ "test/x": ["/x.sls"] }],
        saltgui_templates: { ping: { target: "*", command: "test.ping" } },
      },
    }),
  );
  Deno.mkdirSync(`${fleet.root}/srv`, { recursive: true });
  Deno.writeTextFileSync(`${fleet.root}/srv/web.sls`, "one:\n  test.succeed_with_changes\n");
  const section = { app: `${directory}/gui/index.html`, static: `${directory}/gui/static`, collect_stats: true };
  const site = stack.use(await ApiSite.start(fleet, section));
  return { fleet, site, gui: new SaltGui(site) };
}

Deno.test("SaltGUI's pages have what they ask for", async (t) => {
  await using stack = new AsyncDisposableStack();
  const { fleet, site, gui } = await start(stack);
  const both = { tgt: "*", tgt_type: "glob" };
  const ids = (answer: Record<string, unknown>) => Object.keys(answer).sort();

  await t.step("the page, and its files; what is not there is no page", async () => {
    const page = await fetch(site.url("/"), { headers: { Accept: "text/html,application/xhtml+xml,*/*;q=0.8" } });
    assertMatch(await page.text(), /<title>SaltGUI/);
    // A browser that kept the page when it is left would keep its stream of events open too.
    assertEquals(page.headers.get("cache-control"), "no-store");
    const file = await fetch(site.url("/static/page.js"));
    assertEquals([file.status, file.headers.get("content-type")], [200, "text/javascript"]);
    await file.body?.cancel();
    for (const [name, type] of [["salt-auth.txt", "text/plain"], ["salt-motd.html", "text/html"]]) {
      const absent = await fetch(site.url(`/static/${name}`), { headers: { Accept: type } });
      assertEquals(absent.status, 404, name);
      await absent.body?.cancel();
    }
  });

  await t.step("log-in", async () => {
    const { perms, user } = await gui.logIn();
    assertEquals([user, perms], ["alice", [".*", "@runner", "@wheel"]]);
    const values = await gui.wheel("config.values");
    for (const name of ["saltgui_templates", "nodegroups", "reactor", "file_roots"]) assert(name in values, name);
  });

  await t.step("minions", async () => {
    assertEquals((await gui.wheel("key.list_all")).minions, ["db1", "web1"]);
    assertEquals(Object.values(await gui.wheel("minions.connected")), ["db1", "web1"]);
    // The version is looked up among those of Salt that have holes.
    assertEquals((await gui.run({ client: "runner", fun: "manage.versions" })).Master, SALT_VERSION);
    const grains = await gui.run({ client: "local", fun: "grains.items", ...both });
    assertEquals(recordOf(grains.web1).saltversion, SALT_VERSION);
    assertEquals(ids(await gui.run({ client: "runner", fun: "cache.grains", tgt: "*" })), ["db1", "web1"]);
  });

  await t.step("pillar, schedules, beacons, mine, nodegroups", async () => {
    const lists = { return_yaml: false };
    const schedules = await gui.run({ client: "local", fun: "schedule.list", kwarg: lists, ...both });
    assertEquals(recordOf(recordOf(schedules.db1).pings).function, "test.ping");
    assertEquals((await gui.run({ client: "local", fun: "beacons.list", kwarg: lists, ...both })).db1, {});
    for (const fun of ["pillar.obfuscate", "pillar.items", "beacons.list_available", "mine.valid"]) {
      assertEquals(ids(await gui.run({ client: "local", fun, ...both })), ["db1", "web1"], fun);
    }
    const webs = { client: "local", fun: "test.version", tgt: "N@webs", tgt_type: "compound", full_return: true };
    assertEquals(recordOf((await gui.run(webs)).web1).retcode, 0);
  });

  await t.step("keys: accept, reject, delete", async () => {
    const pending = `${fleet.masterOpts.pki_dir}/minions_pre`;
    Deno.mkdirSync(pending, { recursive: true });
    const text = (await testKey("late")).publicKey.pem;
    for (const id of ["late1", "late2", "late3"]) Deno.writeTextFileSync(`${pending}/${id}`, text);
    assertMatch(
      String(recordOf((await gui.wheel("key.finger", { match: "*" })).minions_pre).late1),
      /^([0-9a-f]{2}:)+/,
    );
    await gui.wheel("key.accept", { match: "late1" });
    await gui.wheel("key.reject", { match: "late2" });
    await gui.wheel("key.accept", { match: "late2", include_rejected: true });
    await gui.wheel("key.delete", { match: "late3" });
    assertEquals(fleet.keys.list("accepted"), ["db1", "late1", "late2", "web1"]);
    assertEquals(fleet.keys.list("pending"), []);
    await gui.wheel("key.delete", { match: "late1" });
    await gui.wheel("key.delete", { match: "late2" });
  });

  await t.step("commands, jobs, states, orchestrations", async () => {
    const applied = await gui.run({ client: "local", fun: "state.apply", arg: ["web"], full_return: true, ...both });
    const { jid } = recordOf(applied.web1);
    const searched = await gui.run({
      client: "runner",
      fun: "jobs.list_jobs",
      kwarg: { search_function: ["state.highstate", "state.apply"] },
    });
    assertEquals(Object.keys(searched), [jid]);
    const job = await gui.run({ client: "runner", fun: "jobs.list_job", kwarg: { jid } });
    assertEquals(ids(recordOf(job.Result)), ["db1", "web1"]);
    assertEquals(await gui.run({ client: "runner", fun: "jobs.active" }), {});
    const shown = await gui.run({ client: "runner", fun: "state.orchestrate_show_sls", arg: ["*"] });
    assertEquals(recordOf(recordOf(Object.values(shown)[0]).one).__sls__, "web");
    const started = await gui.run({ client: "local_async", fun: "test.ping", ...both });
    assertEquals(started.minions, ["db1", "web1"]);
    const unknown = await gui.run({ client: "local", fun: "no.such", ...both });
    assertEquals(unknown.web1, "'no.such' is not available.");
  });
});
