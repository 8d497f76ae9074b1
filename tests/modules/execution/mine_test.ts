/**
 * The module `mine` on a minion: what it sends, and what it makes of the master's answers.
 * @module
 */

import type { Outside } from "#lib/plugins/job_context.ts";
import { map, repr, type Value, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import {
  answeringContext,
  resultOrError,
  type TestContext,
  testContext,
  testOpts,
} from "#tests/support/calls/job_context.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

/** A minion with these functions in configuration and pillar, whose master answers so. */
function minion(
  answer: (load: ValueMap) => Value,
  { config = null, pillar = {} }: { readonly config?: Value; readonly pillar?: Record<string, unknown> } = {},
): TestContext & { readonly requests: ValueMap[] } {
  const requests: ValueMap[] = [];
  const request: Outside["request"] = (load) => {
    requests.push(load);
    return Promise.resolve(answer(load));
  };
  const context = testContext({
    opts: testOpts({ master: "salt1", mine_functions: config }),
    pillar: map(pillar),
    outside: { ...testContext().outside, request },
  });
  return Object.assign(context, { requests });
}

const yes = () => true;

Deno.test("mine.update sends what configuration and pillar name, each value under its name", async () => {
  const config = map({
    "test.echo": ["from config"],
    alias: [{ mine_function: "test.echo" }, "by list"],
    secret: { mine_function: "test.echo", text: "s", allow_tgt: ["db1"], allow_tgt_type: "list" },
    open: { mine_function: "test.echo", text: "o", allow_tgt: "" },
  });
  const pillar = { mine_functions: { "test.echo": ["from pillar"], "test.true": [] } };
  const web = minion(yes, { config, pillar });
  assertEquals(await resultOrError(web, "mine.update"), true);
  assertEquals(
    repr(web.requests[0]),
    "{'cmd': '_mine', 'data': {'test.echo': 'from config', 'alias': 'by list', " +
      "'secret': {'__data__': 's', '__saltmine_acl__': 1, 'allow_tgt': ['db1'], 'allow_tgt_type': 'list'}, " +
      "'open': 'o', 'test.true': True}, 'id': 'web1', 'clear': False}",
  );
  assertEquals(web.logged, []);
});

Deno.test("a broken entry is left out with a reason, and the others are stored", async () => {
  const broken: readonly [name: Value, definition: Value, reason: string][] = [
    ["no.such", [], "Function no.such in mine_functions not available"],
    ["bad", map({ mine_function: "test.echo", nonsense: 1 }), "failed to execute"],
    ["raises", map({ mine_function: "test.exception", message: "boom" }), "boom"],
    ["nothing", null, "not available"],
    [5, [], "its name is int"],
    ["odd", map({ mine_function: 5 }), "mine_function is int"],
    ["reader", map({ mine_function: "test.true", allow_tgt: 5 }), "allow_tgt is 5, not a target"],
    ["type", map({ mine_function: "test.true", allow_tgt: "*", allow_tgt_type: 5 }), "allow_tgt_type is 5"],
  ];
  const functions = new Map<Value, Value>([...broken.map(([name, definition]): [Value, Value] => [name, definition]), [
    "test.true",
    [],
  ]]);
  const web = minion(yes, { config: functions });
  assertEquals(await resultOrError(web, "mine.update"), true);
  assertEquals(repr(web.requests[0].get("data") ?? null), "{'test.true': True}");
  for (const [i, [, , reason]] of broken.entries()) assertStringIncludes(web.logged[i], reason);
});

Deno.test("without functions, or with only broken ones, nothing is sent", async () => {
  const web = minion(yes);
  assertEquals(await resultOrError(web, "mine.update"), null);
  assertEquals(await resultOrError(web, "mine.update", [], { mine_functions: "text" }), null);
  assertEquals(await resultOrError(web, "mine.update", [], { mine_functions: ["no.such"], clear: true }), false);
  assertEquals(web.requests, []);
  const odd = minion(yes, { config: ["test.ping"], pillar: { mine_functions: { "test.true": [] } } });
  assertEquals(await resultOrError(odd, "mine.update"), true);
  assertStringIncludes(odd.logged[0], "mine_functions of the configuration has no effect: it is list");
  assertStringIncludes(repr(await resultOrError(odd, "mine.update", ["maybe"])), "clear must be True or False");
});

Deno.test("functions that write say what the master said", async () => {
  const calls: readonly [string, Value[]][] = [
    ["mine.update", [false, ["test.ping"]]],
    ["mine.send", ["test.ping"]],
    ["mine.delete", ["test.ping"]],
    ["mine.flush", []],
  ];
  for (const [fun, args] of calls) {
    for (const [answer, result] of [[true, true], [false, false], ["", false], [new Map(), false]] as const) {
      const web = minion(() => answer);
      assertEquals(await resultOrError(web, fun, [...args]), result, `${fun} ${repr(answer)}`);
      assertEquals(web.logged.length, result ? 0 : 1);
    }
  }
});

Deno.test("clear on a master that cannot do it removes the old values first", async () => {
  const web = minion((load) => load.get("clear") === true ? "" : true);
  assertEquals(await resultOrError(web, "mine.update", [true, ["test.ping"]]), true);
  assertEquals(web.requests.map((load) => load.get("cmd")), ["_mine", "_mine_flush", "_mine"]);
});

Deno.test("mine.send passes on arguments, but not those of the job", async () => {
  const web = minion(yes);
  const result = await resultOrError(web, "mine.send", ["x", 1], {
    mine_function: "test.arg",
    k: "v",
    __pub_jid: "1",
    allow_tgt: "db1",
  });
  assertEquals(result, true);
  const stored = "{'x': {'__data__': {'args': (1,), 'kwargs': {'k': 'v'}}, '__saltmine_acl__': 1, 'allow_tgt': 'db1'}}";
  assertEquals(repr(web.requests[0].get("data") ?? null), stored);
  for (const given of [["no.such"], ["test.echo"]]) {
    assertEquals(await resultOrError(minion(yes), "mine.send", given), false);
  }
});

Deno.test("mine.get asks the master, and asks for ages only where it is told to", async () => {
  const values = map({ web1: 1, db1: 2 });
  const web = minion(() => values);
  assertEquals(await resultOrError(web, "mine.get", ["*", "f"]), values);
  assertEquals(await resultOrError(web, "mine.get", ["*", "f", "glob", true]), map({ db1: 2 }));
  assertEquals(
    repr(web.requests[0]),
    "{'cmd': '_mine_get', 'id': 'web1', 'tgt': '*', 'fun': 'f', 'tgt_type': 'glob'}",
  );
  const named = minion(() => map({ f: { web1: 1, db1: 2 } }));
  assertEquals(repr(await resultOrError(named, "mine.get", ["*", ["f"], "glob", true])), "{'f': {'db1': 2}}");
  const ours = minion(() => map({ __mine_aged__: 1, ret: { db1: { value: 2, age: 3 } } }));
  assertEquals(
    repr(await resultOrError(ours, "mine.get", ["*", "f"], { with_age: true, max_age: 60 })),
    "{'db1': {'value': 2, 'age': 3}}",
  );
  assertEquals([ours.requests[0].get("with_age"), ours.requests[0].get("max_age")], [true, 60]);
  assertStringIncludes(
    repr(await resultOrError(web, "mine.get", ["*", "f"], { max_age: 60 })),
    "this master does not know",
  );
  assertStringIncludes(repr(await resultOrError(web, "mine.get", ["*", "f"], { max_age: "x" })), "number of seconds");
  assertEquals(await resultOrError(minion(() => "too large"), "mine.get", ["*", "f"]), "too large");
});

Deno.test("mine.valid shows the entries whose functions exist, as Salt shows them", async () => {
  const config = map({
    "test.ping": [],
    listed: [{ mine_function: "test.arg" }, 1, { k: "v" }],
    mapped: { mine_function: "test.kwarg", a: 1, allow_tgt: "x" },
    "test.echo": { text: "t", allow_tgt: "x" },
    "no.such": [],
  });
  assertEquals(
    repr(await resultOrError(minion(yes, { config }), "mine.valid")),
    "{'test.ping': [], 'listed': {'test.arg': [1, {'k': 'v'}]}, 'mapped': {'test.kwarg': [{'a': 1}]}, 'test.echo': {'text': 't'}}",
  );
  assertEquals(await resultOrError(minion(yes), "mine.valid"), null);
});

Deno.test("mine.get_docker lists the addresses of the exposed ports by image", async () => {
  const host = {
    interfaces: {
      eth0: { inet: [{ address: "192.0.2.1" }] },
      eth1: { inet: [{ address: "198.51.100.1" }] },
      lo: {},
    },
  };
  const container = (id: string, ports: unknown[]) => ({ Image: "web:1", Info: { Id: id }, Ports: ports });
  const docker = map({
    db1: {
      host,
      c1: container("one", [{ IP: "0.0.0.0", PrivatePort: 80, PublicPort: 8080 }, { PrivatePort: 81 }, "odd"]),
      c2: container("two", [{ IP: "203.0.113.9", PrivatePort: 80, PublicPort: 9 }]),
    },
    odd: "x",
  });
  const of = async (kwargs: Record<string, unknown>) =>
    repr(await resultOrError(answeringContext({ "mine.get": docker }), "mine.get_docker", [], kwargs));
  assertEquals(await of({}), "{'web:1': {'ipv4': {80: ['192.0.2.1:8080', '198.51.100.1:8080', '203.0.113.9:9']}}}");
  assertEquals(await of({ interfaces: "eth1" }), "{'web:1': {'ipv4': {80: ['198.51.100.1:8080', '203.0.113.9:9']}}}");
  assertEquals(await of({ cidrs: ["192.0.2.0/24"] }), "{'web:1': {'ipv4': {80: ['192.0.2.1:8080', '203.0.113.9:9']}}}");
  assert((await of({ with_container_id: true, cidrs: "192.0.2.0/24" })).includes("('192.0.2.1:8080', 'one')"));
});

Deno.test("mine.send refuses what is no function, and stops with its job", async () => {
  const web = minion(yes);
  assertStringIncludes(
    String(await resultOrError(web, "mine.send", ["x"], { mine_function: 5 })),
    "mine_function is int",
  );
  const stopped = new AbortController();
  Object.assign(web, { signal: stopped.signal });
  stopped.abort();
  const failing = { mine_function: "test.exception", message: "boom" };
  assertStringIncludes(String(await resultOrError(web, "mine.send", ["x"], failing)), "boom");
  assertEquals(web.requests, []);
});

Deno.test("a minion without a master has no ages, and deletes nothing of a mine that it has not", () =>
  withTemporaryDirectory(async (root) => {
    const context = testContext({ opts: testOpts({ root_dir: root, file_client: "local" }) });
    for (const kwargs of [{ with_age: true }, { max_age: 5 }]) {
      const answer = await resultOrError(context, "mine.get", ["*", "test.ping"], kwargs);
      assertEquals(answer, "with_age and max_age need a master: a minion's own store has no times");
    }
    assertEquals(await resultOrError(context, "mine.delete", ["test.ping"]), false);
  }));

Deno.test("a minion without a master keeps its own mine", () =>
  withTemporaryDirectory(async (root) => {
    const opts = testOpts({ root_dir: root, file_client: "local" });
    Deno.mkdirSync(opts.cachedir, { recursive: true });
    const context = testContext({ opts });
    const call = async (fun: string, args: Value[], kwargs: Record<string, unknown> = {}) =>
      repr(await resultOrError(context, fun, args, kwargs));
    assertEquals(await call("mine.send", ["test.echo", "a"]), "True");
    const guarded = { mine_function: "test.echo", text: "s", allow_tgt: "db1" };
    assertEquals(await call("mine.send", ["secret"], guarded), "True");
    assertEquals(await call("mine.get", ["*", "test.echo"]), "{'web1': 'a'}");
    assertEquals(
      await call("mine.get", ["*", ["test.echo", "secret", "none"]]),
      "{'test.echo': {'web1': 'a'}, 'secret': {'web1': 's'}}",
    );
    assertEquals([await call("mine.get", ["*", "none"]), await call("mine.get", ["db1", "test.echo"])], ["{}", "{}"]);
    assertEquals(await call("mine.delete", ["test.echo"]), "True");
    assertEquals(await call("mine.get", ["*", "test.echo,secret"]), "{'secret': {'web1': 's'}}");
    assertEquals([await call("mine.flush", []), await call("mine.get", ["*", "secret"])], ["True", "{}"]);
  }));
