import { CommandError } from "#lib/errors.ts";
import { map, repr, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals, assertRejects } from "#tests/support/assert.ts";
import { withRunnerFixture } from "#tests/support/fleet/runner_services.ts";

Deno.test("salt.cmd runs a function on the master's host, salt.execute runs it on minions", () =>
  withRunnerFixture(async ({ call, done, answers }) => {
    assertEquals(
      await call("salt.cmd", ["test.arg", 1, "a=b"], { k: 2, __pub_jid: "x" }),
      "test.arg[1, 'a=b']{'k': 2}",
    );
    assertEquals(await call("salt.cmd", ["test.ping"], { with_pillar: true }), "test.ping[]{} with pillar");
    answers.set("web1", { return: true, retcode: 0 });
    const args = ["web*", "test.arg", [1]];
    assertEquals(await call("salt.execute", args, { tgt_type: "pcre", kwarg: { a: 1 }, b: 2 }), map({ web1: true }));
    assertEquals(done, ["test.arg[1]{'a': 1, 'b': 2} on 'web*' (pcre)"]);
    await assertRejects(() => call("salt.execute", ["*", "test.ping"], { ret: "redis" }), CommandError, "returners");
  }));

const JID = "20250102030405000001";

Deno.test("salt.returns runs a job on a subset of minions, in batches, until one fails", () =>
  withRunnerFixture(async ({ call, context, answers, done, gone }) => {
    const ids = ["a1", "a2", "a3", "a4", "a5"];
    const targets: string[][] = [];
    const failing = new Set<string>();
    context.local.job = (tgt, fun) => {
      const meant = Array.isArray(tgt) ? tgt.map(String) : ids;
      if (fun !== "test.ping") targets.push(meant);
      const returns = new Map(meant.map((id) => [id, { return: true, retcode: failing.has(id) ? 1 : 0 }]));
      return Promise.resolve({ jid: JID, returns, silent: [...gone] });
    };
    const returned = async (kwargs: Record<string, unknown>) =>
      [...(await call("salt.returns", ["*", "test.arg"], kwargs) as ValueMap).keys()].map(String).sort();
    assertEquals(await returned({}), ids);
    for (const [subset, size] of [[2, 2], [4, 4], [true, 1]] as const) {
      const some = await returned({ subset });
      assertEquals([some.length, some.every((id) => ids.includes(id))], [size, true]);
    }
    await assertRejects(() => returned({ subset: "2" }), CommandError, "subset: '2' is no number");
    targets.length = 0;
    assertEquals(await returned({ batch: "40%" }), ids);
    assertEquals(targets, ids.map((id) => [id]));
    failing.add("a2");
    assertEquals(await returned({ batch: 1, failhard: true }), ["a1", "a2"]);
    assertEquals(await returned({ batch: 1 }), ids);
    await assertRejects(() => returned({ batch: "some" }), CommandError, "Data must be in the form of %10, 10% or 3");
    gone.add("b1");
    assertEquals(
      repr((await call("salt.returns", ["*", "test.arg"], { expect_minions: true }) as ValueMap).get("b1") ?? null),
      "{'failed': True}",
    );
    await assertRejects(() => call("salt.execute", ["*", "test.ping"], { jid: JID }), CommandError, "makes the job id");
    assertEquals([answers.size, done], [0, []]);
  }));

Deno.test("the order of minions of a subset is random", () =>
  withRunnerFixture(async ({ call, context }) => {
    const ids = Array.from({ length: 50 }, (_, i) => `m${i}`);
    context.local.job = (tgt) => {
      const meant = Array.isArray(tgt) ? tgt.map(String) : ids;
      return Promise.resolve({ returns: new Map(meant.map((id) => [id, { return: true, retcode: 0 }])), silent: [] });
    };
    const some = async () => [...(await call("salt.returns", ["*", "test.ping"], { subset: 10 }) as ValueMap).keys()];
    // The probability of the same ten of fifty twice is one in ten thousand million.
    assert(repr(await some()) !== repr(await some()));
  }));
