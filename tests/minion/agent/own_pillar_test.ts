/**
 * The pillar that a minion compiles itself.
 * @module
 */

import { OwnPillar } from "#lib/minion/agent/own_pillar.ts";
import { pillarRequest } from "#lib/minion/agent/pillar_request.ts";
import { TimeBudget } from "#lib/os/time_budget.ts";
import { WireError } from "#lib/errors.ts";
import { map } from "#lib/values/value.ts";
import { assert, assertEquals, assertMatch } from "#tests/support/assert.ts";
import { testOpts } from "#tests/support/calls/job_context.ts";
import { recordingLogger } from "#tests/support/fleet/services.ts";

Deno.test("a minion without pillar files has the given values, and starts no process", async () => {
  const root = Deno.makeTempDirSync({ prefix: "own_pillar_" });
  const logged: string[] = [];
  try {
    const opts = {
      ...testOpts({ file_client: "local", id: "web1", cachedir: root }),
      pillar_roots: map({ base: [`${root}/pillar`] }),
    };
    const own = new OwnPillar(opts, recordingLogger(logged));
    const grains = map({ id: "web1" });
    const request = pillarRequest(opts, grains, { override: map({ a: 1 }) });
    assertEquals(await own.compile(request), map({ a: 1 }));
    await own.close(new TimeBudget(1_000));
    assertEquals(logged, []);
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
});

Deno.test("a pillar calls functions without a master and a running minion; too many requests are rejected", async () => {
  const root = Deno.makeTempDirSync({ prefix: "own_pillar_" });
  const logged: string[] = [];
  try {
    Deno.mkdirSync(`${root}/pillar`);
    Deno.mkdirSync(`${root}/ext/modules`, { recursive: true });
    Deno.writeTextFileSync(
      `${root}/ext/modules/own.js`,
      `export const asks = { permissions: "all", run: async (_bound, { outside, jobs }) => {
         const reason = (error) => error.message;
         return [
           await outside.request(new Map([["cmd", "ping"]])).catch(reason),
           await outside.fire(new Map(), "tag"),
           await outside.refresh("modules"),
           (await outside.grains()).get("id"),
           (await jobs.running()).length,
           await jobs.signal("20260101000000000001", 15),
         ];
       } };`,
    );
    Deno.writeTextFileSync(`${root}/pillar/top.sls`, "base:\n  '*': [all]\n");
    Deno.writeTextFileSync(`${root}/pillar/all.sls`, "asked: {{ salt['own.asks']() | json }}\n");
    const opts = {
      ...testOpts({ file_client: "local", id: "web1", cachedir: root, extension_modules: `${root}/ext` }),
      pillar_roots: map({ base: [`${root}/pillar`] }),
    };
    const own = new OwnPillar(opts, recordingLogger(logged));
    const request = (n: number) => pillarRequest(opts, map({ id: "web1" }), { override: map({ n }) });
    const first = own.compile(request(0));
    const many = Array.from({ length: 9 }, (_, n) => own.compile(request(n + 1)).catch((error) => error));
    const refused = await Promise.race(many);
    assert(refused instanceof WireError);
    assertEquals(refused.message, "Too many requests for the pillar wait");
    const pillar = await first;
    assertEquals(pillar.get("asked"), [
      "There is no master to ask while pillar is compiled",
      false,
      false,
      "web1",
      0,
      false,
    ]);
    await own.close(new TimeBudget(1_000));
    const left = (await Promise.all(many)).filter((one) => one instanceof Error).map((one) => one.message);
    assertMatch(left.join("\n"), /The minion ends/);
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
});
