import corpus from "#tests/corpus/cache_runner.json" with { type: "json" };
import type { RunnerContext } from "#lib/client/runner_context.ts";
import { CommandError, InvocationError } from "#lib/errors.ts";
import { BankFiles } from "#lib/fleet/bank_files.ts";
import { invoke } from "#lib/plugins/call.ts";
import { loadFamily } from "#lib/plugins/loader.ts";
import { map, repr, toValue, type Value } from "#lib/values/value.ts";
import { RUNNERS } from "#modules/runners/_built_in.ts";
import { assert, assertEquals, assertRejects } from "#tests/support/assert.ts";
import { withRunnerFixture } from "#tests/support/fleet/runner_services.ts";
import { type TestServices, testServices } from "#tests/support/fleet/services.ts";

/** Calls a runner of a master with these services. */
async function call(services: TestServices, name: string, args: unknown[], kwargs: object = {}): Promise<Value> {
  const fun = await loadFamily<RunnerContext>(RUNNERS).get(name);
  assert(fun !== undefined, `no runner ${name}`);
  // These functions use only these fields of the context.
  const { opts, auth: { keys }, minions: { data } } = services;
  const context = { opts, keys, data, log: () => {} } as unknown as RunnerContext;
  return await invoke(fun, { name, args: args.map(toValue), kwargs: map({ ...kwargs }), context });
}

function refuse(message: string): never {
  throw new Error(message);
}

async function filledMaster(overrides: Readonly<Record<string, Value>> = {}): Promise<TestServices> {
  const services = await testServices(overrides);
  for (const id of corpus.accepted) services.auth.keys.put(id, "accepted", "PEM");
  const banks = new BankFiles(services.opts.cachedir, { log: refuse });
  for (const [bank, key, data] of corpus.cache) banks.store(String(bank), String(key), toValue(data));
  return services;
}

Deno.test("the runners cache and match return the same as Salt's, one call after the other", async () => {
  using services = await filledMaster();
  for (const [name, args, kwargs, expected] of corpus.calls as [string, unknown[], object, unknown][]) {
    const expectedValue = toValue(expected);
    const got = await call(services, name, args, kwargs);
    assertEquals(got, expectedValue, `${name} ${repr(toValue(args))}`);
  }
});

Deno.test("the names of banks and keys cannot lead to other directories", async () => {
  using services = await filledMaster();
  for (const name of ["", ".", "..", "../x", "a/../../x", "/etc", "a//b", "a/", "a\0"]) {
    for (
      const [fun, args] of [["fetch", [name, "k"]], ["fetch", ["b", name]], ["store", [name, "k", 1]], ["flush", [
        name,
      ]]]
    ) {
      await assertRejects(() => call(services, `cache.${fun}`, args as unknown[]), CommandError, "is no");
    }
  }
  assertEquals(await call(services, "cache.list", ["grains"]), ["db1", "gone", "web1"]);
});

Deno.test("an expired value is removed", async () => {
  using services = await filledMaster();
  const now = Date.now() / 1000;
  for (const [key, until] of [["old", now - 60], ["new", now + 600]] as const) {
    await call(services, "cache.store", ["b", key, { data: "x", _expires: Math.round(until) }]);
  }
  assertEquals(await call(services, "cache.fetch", ["b", "old"]), new Map());
  assertEquals(await call(services, "cache.fetch", ["b", "new"]), "x");
});

Deno.test("a master without a minion data cache returns no data of minions", async () => {
  using services = await filledMaster({ minion_data_cache: false });
  assertEquals(await call(services, "cache.grains", ["web1"]), map({ web1: {} }));
  assertEquals(await call(services, "cache.pillar", []), new Map());
  assertEquals(await call(services, "match.compound_matches", ["web*", "web1"]), map({ res: false }));
});

Deno.test("an invalid target is an error of the runner", async () => {
  using services = await filledMaster();
  await assertRejects(() => call(services, "cache.grains", ["web1 and", "compound"]), CommandError, "compound");
});

Deno.test("cache.clear_git_lock accepts Salt's roles; targets of the cache are read by their given type", () =>
  withRunnerFixture(async ({ call, context }) => {
    await assertRejects(() => call("cache.clear_git_lock", ["gitea"]), InvocationError, "Invalid role 'gitea'");
    await assertRejects(() => call("cache.clear_git_lock", ["winrepo"]), CommandError, "winrepo is not built yet");
    context.keys.put("web1", "accepted", "PEM");
    const refused = () => call("cache.grains", ["web1"], { tgt_type: "nope" });
    await assertRejects(refused, CommandError, "nope");
  }));
