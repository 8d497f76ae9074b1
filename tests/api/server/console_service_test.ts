/** The console that a master serves itself: what the operator is told, and that both begin and end together. */

import { withConsole } from "#lib/api/server/console_service.ts";
import type { Service } from "#lib/commands/daemons/service.ts";
import { loadMasterConfig } from "#lib/config/load.ts";
import { TimeBudget } from "#lib/os/time_budget.ts";
import { dumpJson } from "#lib/values/json.ts";
import { toValue } from "#lib/values/value.ts";
import { freePort } from "#scripts/fleet/free_port.ts";
import { assert, assertEquals, assertMatch } from "#tests/support/assert.ts";
import { recordingLogger } from "#tests/support/fleet/services.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

/** What is told about a console beside a master with these options. */
async function start(root: string, options: Readonly<Record<string, unknown>>, port: number) {
  Deno.writeTextFileSync(`${root}/master`, dumpJson(toValue({ root_dir: root, salt_console: true, ...options })));
  const { opts } = loadMasterConfig({ configDir: root });
  const logged: string[] = [], said: string[] = [], ended: string[] = [];
  const master: Service = {
    closed: new Promise(() => {}),
    describeThreads: () => Promise.resolve(["Main: idle"]),
    // The console asks the master to the end.
    async close() {
      const answer = await fetch(`http://127.0.0.1:${port}/console/`).catch(() => undefined);
      await answer?.body?.cancel();
      ended.push(`master, ${answer === undefined ? "after" : "before"} the console`);
    },
  };
  const service = await withConsole(master, {
    opts,
    log: recordingLogger(logged),
    port,
    say: (line) => said.push(line),
  });
  return { service, master, said, logged, ended };
}

Deno.test("a master serves its console, says where, and ends it first", () =>
  withTemporaryDirectory(async (root) => {
    const port = freePort();
    const { service, said, ended } = await start(root, {}, port);
    assertEquals(said, [
      `Web console: http://127.0.0.1:${port}/console/\n`,
      "Nobody may log in yet: salt-run auth.first_user makes a user (docs/console.md)\n",
    ]);
    const page = await fetch(`http://127.0.0.1:${port}/console/`);
    assertMatch(await page.text(), /^<!doctype html>/i);
    assertEquals(await service.describeThreads(), ["Main: idle", "main: 0 requests are open"]);
    await service.close(new TimeBudget(5_000));
    assertEquals(ended, ["master, after the console"]);
  }));

Deno.test("a console that is served by salt-api, or by nobody, leaves the master as it is", () =>
  withTemporaryDirectory(async (root) => {
    using taken = Deno.listen({ hostname: "127.0.0.1", port: 0 });
    const users = { external_auth: { pam: { alice: [".*"] } } };
    const api = { port: 8443, ssl_crt: "/etc/api.crt", ssl_key: "/etc/api.key" };
    const cases: [options: Record<string, unknown>, says: RegExp][] = [
      [{}, /^The web console is not served: rest_cherrypy: cannot listen on port \d+ of 127\.0\.0\.1: /],
      [{ rest_cherrypy: { port: "x" } }, /^The web console is not served: rest_cherrypy: port must be an integer/],
      [
        { rest_cherrypy: { ...api, host: "::1" } },
        /^Web console: https:\/\/\[::1\]:8443\/console\/ as soon as salt-api/,
      ],
      [
        { rest_cherrypy: api },
        new RegExp(`^Web console: https://${Deno.hostname()}:8443/console/ as soon as salt-api`),
      ],
    ];
    for (const [options, says] of cases) {
      const { service, master, said, logged } = await start(root, { ...users, ...options }, taken.addr.port);
      assert(service === master);
      assertEquals(said.length, 1);
      assertMatch(said[0], says);
      assert(logged.some((line) => line.includes(said[0].trim())), logged.join("\n"));
    }
  }));
