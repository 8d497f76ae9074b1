/**
 * A log-in by a provider of OpenID Connect with `salt-master` and `salt-api` as processes: the sources, or with
 * `SALT_DIST` the built executables, which must hold everything that it takes.
 */

import { ProcessFleet, programWords } from "#tests/chaos/harness/process_fleet.ts";
import { freePort } from "#scripts/fleet/free_port.ts";
import { assertEquals, assertMatch } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { Service } from "#tests/support/processes.ts";
import { BareBrowser, OidcServer } from "#tests/support/servers/oidc_server.ts";

Deno.test("a user of a provider logs in to the program salt-api, and runs a job", async () => {
  const port = freePort(), site = `http://127.0.0.1:${port}`, callback = `${site}/login/oidc/callback`;
  await using provider = new OidcServer(callback, { alice: ["admins"], eve: [] });
  await provider.start();
  await using fleet = await ProcessFleet.start({
    minions: 1,
    master: {
      external_auth: { oidc: { ...provider.options, "admins%": ["test.*"] } },
      netapi_enable_clients: ["local"],
      rest_cherrypy: { host: "127.0.0.1", port, disable_ssl: true },
      salt_console: true,
    },
  });
  const output = `${fleet.root}/salt-api.out`;
  const api = Service.start("salt-api", [...programWords("salt-api"), "-c", fleet.configDir], output);
  await using _ended = { [Symbol.asyncDispose]: () => api.stop() };
  await eventually(async () => {
    await (await fetch(site)).body?.cancel();
    return true;
  }, { what: `salt-api; it says: ${api.written}`, withinMs: 30_000 });

  const json = { accept: "application/json" };
  const browser = new BareBrowser();
  // The console offers it, and is where the log-in leads to: its files are in the executable too.
  const offered = await browser.go(`${site}/console/session.json`, json);
  assertMatch(offered.text, /"oidc"/);
  const back = await browser.logIn("alice", { beginning: `${site}/login/oidc`, callback });
  const arrived = await browser.go(back);
  assertEquals([arrived.status, new URL(arrived.url).pathname], [200, "/console/"]);
  const { user, perms } = JSON.parse((await browser.go(`${site}/console/session.json`, json)).text);
  assertEquals([user, perms], ["alice", ["test.*"]]);
  const token = browser.cookies.get("session_id") ?? "";
  const ran = await fetch(site, {
    method: "POST",
    headers: { "Content-Type": "application/json", "X-Auth-Token": token },
    body: JSON.stringify({ client: "local", tgt: "*", fun: "test.ping" }),
  });
  assertEquals([ran.status, await ran.json()], [200, { return: [{ [fleet.ids[0]]: true }] }]);

  // What the provider sends back is good once, and for those whom a rule names.
  assertEquals((await new BareBrowser().go(back, json)).status, 401);
  const other = new BareBrowser();
  const refused = await other.go(await other.logIn("eve", { beginning: `${site}/login/oidc`, callback }), json);
  assertEquals(refused.status, 403, refused.text);
  assertEquals(other.cookies.has("session_id"), false);
});
