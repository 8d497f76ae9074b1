import { CommandError } from "#lib/errors.ts";
import { Mine } from "#lib/fleet/mine.ts";
import { restricted } from "#lib/fleet/mine_form.ts";
import { isMap, map, repr, toNumber } from "#lib/values/value.ts";
import { assert, assertEquals, assertRejects } from "#tests/support/assert.ts";
import { type RunnerFixture, withRunnerFixture } from "#tests/support/fleet/runner_services.ts";

/** Three minions, of which the last one has no mine. */
function fill({ context }: RunnerFixture): Mine {
  const mine = new Mine(context.opts.cachedir, {
    maxBytes: context.opts.mine_max_bytes,
    log: context.log.bind(null, "error"),
  });
  for (const id of ["db1", "web1", "web2"]) context.keys.put(id, "accepted", "PEM");
  mine.store("web1", map({ f: 1, secret: restricted("s", "*", null) }));
  mine.store("db1", map({ f: 2 }));
  return mine;
}

Deno.test("mine.get reads the mine as the master, which is no minion", () =>
  withRunnerFixture(async (fixture) => {
    fill(fixture);
    assertEquals(await fixture.call("mine.get", ["*", "f"]), map({ db1: 2, web1: 1 }));
    assertEquals(await fixture.call("mine.get", ["*", "secret"]), new Map());
    assertEquals(repr(await fixture.call("mine.get", ["*", "f,secret"])), "{'f': {'db1': 2, 'web1': 1}}");
    assertEquals(await fixture.call("mine.get", ["web* and", "f", "compound"]), new Map());
    const aged = await fixture.call("mine.get", ["web*", "f"], { with_age: true });
    const of = isMap(aged) ? aged.get("web1") : undefined;
    assert(isMap(of) && of.get("value") === 1 && (toNumber(of.get("age")) ?? 99) < 60, repr(aged));
  }));

Deno.test("mine.get obeys mine_get for the master's own id", () =>
  withRunnerFixture(async (fixture) => {
    fill(fixture);
    assertEquals(await fixture.call("mine.get", ["*", "f"]), new Map());
    assertEquals(await fixture.call("mine.get", ["*", "g"]), new Map());
  }, "mine_get: {web: ['.*'], host: [g]}\n"));

Deno.test("mine.get says that an answer would be too large", () =>
  withRunnerFixture(async (fixture) => {
    const mine = fill(fixture);
    for (const id of ["db1", "web1"]) mine.store(id, map({ large: "x".repeat(40_000_000) }));
    await assertRejects(() => fixture.call("mine.get", ["*", "large"]), CommandError, "64 MiB");
  }, "mine_max_bytes: 67108864\n"));

Deno.test("mine.update runs mine.update on the minions", () =>
  withRunnerFixture(async (fixture) => {
    fixture.answers.set("web1", { return: true, retcode: 0 });
    assertEquals(await fixture.call("mine.update", ["web*"], { clear: true }), map({ web1: true }));
    assertEquals(fixture.done, ["mine.update[]{'clear': True, 'mine_functions': None} on 'web*' (glob)"]);
  }));

Deno.test("mine.stale names old values with their ages, and minions without any", () =>
  withRunnerFixture(async (fixture) => {
    const mine = fill(fixture);
    assertEquals(repr(await fixture.call("mine.stale")), "{'stale': {}, 'missing': ['web2']}");
    const long = Date.now() / 1000 - 10_000;
    Deno.utimeSync(`${fixture.context.opts.cachedir}/mine/web1.p`, long, long);
    mine.store("web1", map({ young: 1 }));
    const found = await fixture.call("mine.stale");
    const stale = isMap(found) ? found.get("stale") : undefined;
    const ages = isMap(stale) ? stale.get("web1") : undefined;
    assert(isMap(stale) && isMap(ages), repr(found));
    assertEquals([[...stale.keys()], [...ages.keys()]], [["web1"], ["f", "secret"]]);
    assert(Math.abs((toNumber(ages.get("f")) ?? 0) - 10_000) < 60, repr(found));
    assertEquals(repr(await fixture.call("mine.stale", [20_000], { tgt: "web1" })), "{'stale': {}, 'missing': []}");
  }));

Deno.test("cache.mine and the functions that clear find files of every Salt version, and nothing for nobody", () =>
  withRunnerFixture(async (fixture) => {
    const mine = fill(fixture);
    assertEquals(await fixture.call("cache.mine", ["nobody"]), new Map());
    assertEquals(repr(await fixture.call("cache.mine", ["db1"])), "{'db1': {'f': 2}}");
    assertEquals(await fixture.call("cache.clear_mine_func", ["web1"], { clear_mine_func_flag: "f" }), true);
    assertEquals([...mine.get("web1")?.keys() ?? []], ["secret"]);
    assertEquals([await fixture.call("cache.clear_mine", ["web1"]), mine.get("web1")], [true, undefined]);
    assertEquals([await fixture.call("cache.clear_all", ["*"]), mine.get("db1")], [true, undefined]);
    assertEquals([await fixture.call("cache.clear_mine"), await fixture.call("cache.clear_mine_func", ["*"])], [
      false,
      false,
    ]);
  }));

Deno.test("mine.stale takes a mine that cannot be read for none, and says so", () =>
  withRunnerFixture(async (fixture) => {
    fill(fixture);
    Deno.writeTextFileSync(`${fixture.context.opts.cachedir}/mine/web1.p`, "\xc1");
    assertEquals(repr(await fixture.call("mine.stale")), "{'stale': {}, 'missing': ['web1', 'web2']}");
    assertEquals(
      fixture.done.filter((line) => line.startsWith("warning: The mine of web1 cannot be read: ")).length,
      1,
    );
  }));
