import { map, repr } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { withRunnerFixture } from "#tests/support/fleet/runner_services.ts";

Deno.test("pillar.show_pillar compiles with the cached grains, or with given ones", () =>
  withRunnerFixture(async ({ call, context }) => {
    context.data.setGrains("web1", new Map([["os", "Debian"]]));
    const show = async (...args: Parameters<typeof call>) => repr(await call(...args));
    assertEquals(
      await show("pillar.show_pillar", ["web1"]),
      "{'id': 'web1', 'pillarenv': None, 'grains': {'os': 'Debian', 'id': 'web1'}}",
    );
    assertEquals(
      await show("pillar.show_pillar", ["new1"], { os: "Arch", pillarenv: "dev", saltenv: "dev", __pub_jid: "1" }),
      "{'id': 'new1', 'pillarenv': 'dev', 'grains': {'fqdn': 'new1', 'os': 'Arch', 'id': 'new1'}}",
    );
    assertEquals(await show("pillar.show_top", ["web1"]), "{'base': {'*': ['web1']}}");
  }));

Deno.test("pillar.show_pillar_cache and clear_pillar_cache show and clear the master's pillar cache, by id and environment", () =>
  withRunnerFixture(async ({ call, context }) => {
    for (const id of ["web1", "db1"]) {
      context.keys.put(id, "accepted", "PEM");
      context.data.setPillar(id, new Map([["of", id]]));
    }
    context.data.setPillar("web1:dev", new Map([["of", "dev"]]));
    const cachedPillars = async (...args: [string?, Record<string, unknown>?]) =>
      repr(await call("pillar.show_pillar_cache", args[0] === undefined ? [] : [args[0]], args[1] ?? {}));
    assertEquals(await cachedPillars(), "{'db1': {'of': 'db1'}, 'web1': {'of': 'web1'}}");
    assertEquals(await cachedPillars("web*", { pillarenv: "dev" }), "{'web1': {'of': 'dev'}}");
    assertEquals(await call("pillar.clear_pillar_cache", ["web*"]), true);
    assertEquals(await cachedPillars(), "{'db1': {'of': 'db1'}}");
    assertEquals(await cachedPillars("web1", { pillarenv: "dev" }), "{'web1': {'of': 'dev'}}");
  }));

Deno.test("pillar.show_pillar_cache returns False on a master without a pillar cache", () =>
  withRunnerFixture(async ({ call }) => {
    assertEquals(await call("pillar.show_pillar_cache"), false);
    assertEquals(await call("pillar.clear_pillar_cache"), false);
  }, "minion_data_cache: False\n"));

Deno.test("pillar.show_top uses the grains of the first known minion, and shows errors of top files", () =>
  withRunnerFixture(async ({ call, context, done }) => {
    assertEquals(repr(await call("pillar.show_top")), "{'base': {'*': ['*']}}");
    context.data.setGrains("web1", map({ os: "Debian" }));
    assertEquals(repr(await call("pillar.show_top")), "{'base': {'*': ['web1']}}");
    context.pillar.top = () => Promise.resolve({ top: new Map(), errors: ["wrong"] });
    assertEquals(await call("pillar.show_top"), ["wrong"]);
    assertEquals(done, ["{'data': ['wrong'], 'outputter': 'nested'}"]);
  }));

Deno.test("pillar.show_top on a master without a minion data cache finds no minion", () =>
  withRunnerFixture(async ({ call, context }) => {
    context.data.setGrains("web1", map({ os: "Debian" }));
    assertEquals(repr(await call("pillar.show_top")), "{'base': {'*': ['*']}}");
  }, "minion_data_cache: False\n"));
