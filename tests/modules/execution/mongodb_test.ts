/**
 * The module `mongodb` and its states against a server: the same calls, one after the other, have the results that
 * Python Salt had. The server is one of the tests, because no distribution here has mongod; where the host has one, the
 * module is used with that too.
 * @module
 */

import { BSON } from "mongodb";
import { CommandError } from "#lib/errors.ts";
import { fromBson } from "#lib/host/mongodb/documents.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { listOrEmpty, mapOrEmpty } from "#lib/values/shape.ts";
import { float, int, isMap, map, str, type Value, type ValueMap } from "#lib/values/value.ts";
import { assert, assertEquals, assertRejects, assertStringIncludes } from "#tests/support/assert.ts";
import { type TestContext, testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { callState, scriptedState } from "#tests/support/calls/state_call.ts";
import { serverProgram, startMongod } from "#tests/support/database_servers.ts";
import { MongoServer } from "#tests/support/servers/mongo_server.ts";

const PASSWORD = "s3cret/ä%,=";

/** A job whose options say where a server is, and who logs in. */
function contextFor(port: number, options: Readonly<Record<string, Value>> = {}): TestContext {
  const here = { "mongodb.host": "127.0.0.1", "mongodb.port": int(BigInt(port)) };
  return testContext({ opts: testOpts({ ...here, ...options }) });
}

const ADMIN = { "mongodb.user": "admin", "mongodb.password": PASSWORD };

/** A value in which every text is changed. */
function withTexts(value: Value, change: (text: string) => Value): Value {
  if (typeof value === "string") return change(value);
  if (Array.isArray(value)) return value.map((item) => withTexts(item, change));
  return isMap(value) ? new Map([...value].map(([key, item]) => [key, withTexts(item, change)])) : value;
}

/** A text as the corpus has it: without ids that are new in each run. */
function recorded(text: string, port: number): string {
  return text.replaceAll(`127.0.0.1:${port}`, "127.0.0.1:{port}").replaceAll(/\b[0-9a-f]{24}\b/g, "{id}")
    .replaceAll(/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, "{uuid}");
}

async function runStep(step: ValueMap, context: TestContext, port: number): Promise<Value> {
  const within = (value: Value) => withTexts(value, (text) => text === "{port}" ? int(BigInt(port)) : text);
  const [fun, kwargs] = [str(step.get("fun") ?? ""), mapOrEmpty(within(step.get("kwargs") ?? null))];
  const given = fun.startsWith("mongodb.")
    ? await context.call(fun, listOrEmpty(within(step.get("args") ?? null)), kwargs)
    : await callState(fun, kwargs, { job: context, test: step.get("test") === true });
  return withTexts(given, (text) => recorded(text, port));
}

Deno.test("mongodb and its states do as Python Salt's, call by call", async () => {
  const corpus = mapOrEmpty(parseJson(Deno.readTextFileSync(new URL("../../corpus/mongodb.json", import.meta.url))));
  assertEquals(corpus.get("password"), PASSWORD);
  await using server = new MongoServer({ password: PASSWORD });
  const logged: string[] = [];
  for (const [i, step] of listOrEmpty(corpus.get("steps")).entries()) {
    assert(isMap(step));
    const context = contextFor(server.port, ADMIN);
    const label = `${i}: ${["fun", "args", "kwargs", "test"].map((key) => str(step.get(key) ?? null)).join(" ")}`;
    const expected = step.has("ours") ? step.get("ours") : step.get("result");
    assertEquals(await runStep(step, context, server.port), expected, label);
    logged.push(...context.logged);
  }
  for (const password of [PASSWORD, "wrong", "s3'c\\ret", "ä✓ ", encodeURIComponent(PASSWORD)]) {
    assert(!logged.some((line) => line.includes(password)), `no log line has ${password}`);
  }
});

/** A port of this host on which nothing listens. */
function closedPort(): number {
  using listener = Deno.listen({ hostname: "127.0.0.1", port: 0 });
  return listener.addr.port;
}

Deno.test("mongodb names the server that does not answer, and no password", async () => {
  const port = closedPort();
  const secret = "p4ssw0rd";
  const url = (more = "") => `mongodb://fred:${secret}@127.0.0.1:${port}/?serverSelectionTimeoutMS=300${more}`;
  const cases: readonly (readonly [options: Readonly<Record<string, Value>>, shown: string])[] = [
    [{}, `127.0.0.1:${port}`],
    [{ "mongodb.user": "fred", "mongodb.password": secret }, `127.0.0.1:${port}`],
    [{ "mongodb.host": url() }, `127.0.0.1:${port}`],
    [{ "mongodb.host": url("&appName=a@b") }, "the server of the given URL"],
    [{ "mongodb.host": url("&noSuchOption=true") }, `127.0.0.1:${port}`],
    [{ "mongodb.host": `mongodb://fred:${secret}/x@127.0.0.1:${port}` }, "the server of the given URL"],
  ];
  await Promise.all(cases.map(async ([options, shown]) => {
    const context = contextFor(port, options);
    const [found, absent] = await Promise.all([
      context.call("mongodb.user_find", ["fred"]),
      callState("mongodb_database.absent", { name: "shop" }, { job: context }),
    ]);
    assertEquals(absent.get("result"), false);
    const [isFound, text] = listOrEmpty(found);
    assertEquals(isFound, false);
    for (const one of [str(text), ...context.logged]) {
      assertStringIncludes(one, shown);
      assert(!one.includes(secret), one);
    }
  }));
});

Deno.test("mongodb refuses an address that is none, and does not show what may be a password", async () => {
  const call = (host: string, port: Value = null) => contextFor(1).call("mongodb.db_list", [], map({ host, port }));
  for (const host of ["a b", "h/x", "h?tls=true", "::1", "[::1", "h:123456", "/tmp/x", "h,"]) {
    await assertRejects(() => call(host), CommandError, "is no host", host);
  }
  const error = await assertRejects(() => call("fred:s3cret@host"), CommandError);
  assertEquals(error.message, "The address of MongoDB is no host");
  for (const port of [0.5, 65_536, "x"]) await assertRejects(() => call("h", port), CommandError, "is not a port");
});

Deno.test("mongodb never runs a text: a query is JSON or it is refused", async () => {
  await using server = new MongoServer();
  const context = contextFor(server.port);
  for (const text of ["__import__('os').system('id')", "{$where: 'sleep(1)'}", "new Date()", "", "'a'"]) {
    const found = await context.call("mongodb.find", ["goods", text]);
    assertStringIncludes(str(found), "line 1 column", text);
  }
  assertEquals(server.commands, []);
  for (const query of [1, true, ["x"], '"x"']) {
    await assertRejects(() => context.call("mongodb.find", ["goods", query]), CommandError, "A query must be a dict");
  }
});

Deno.test("mongodb keeps the types and the order of a document", async () => {
  await using server = new MongoServer();
  const context = contextFor(server.port);
  const nested = new Map<Value, Value>([["z", 1], ["a", int(2n ** 62n)]]);
  const document = new Map<Value, Value>([["_id", "x"], ["m", nested], ["b", new Uint8Array([0, 255])], ["f", 0.5]]);
  assertEquals(await context.call("mongodb.insert", [[document], "goods"]), true);
  const [found] = listOrEmpty(await context.call("mongodb.find", ["goods"]));
  assertEquals(found, document);
  assertEquals([...mapOrEmpty(mapOrEmpty(found).get("m") ?? null).keys()], ["z", "a"]);
  for (
    const [bad, text] of [[int(2n ** 63n), "8-byte ints"], [new Map([[1, 2]]), "only string keys"], [
      map({ "a\0": 1 }),
      "NULL byte",
    ]] as const
  ) {
    const one = [[map({ bad })], "goods"];
    await assertRejects(() => context.call("mongodb.insert", one), CommandError, text);
  }
});

Deno.test("mongodb shows types that Salt's values have not as texts, and a field is never taken for one of them", () => {
  const read = (document: unknown) => {
    const bytes = BSON.serialize(new Map([["v", document]]));
    return mapOrEmpty(fromBson(BSON.deserialize(bytes, { promoteValues: false, bsonRegExp: true }))).get("v");
  };
  const uuid = "01234567-89ab-cdef-0123-456789abcdef";
  const cases: readonly (readonly [unknown, Value])[] = [
    [new BSON.ObjectId("0123456789abcdef01234567"), "0123456789abcdef01234567"],
    [new BSON.UUID(uuid), uuid],
    [new Date("2026-01-02T03:04:05.678Z"), "2026-01-02 03:04:05.678000"],
    [new Date("2026-01-02T03:04:05Z"), "2026-01-02 03:04:05"],
    [BSON.Decimal128.fromString("1.50"), "1.50"],
    [BSON.Timestamp.fromBits(2, 1), "Timestamp(1, 2)"],
    [new BSON.BSONRegExp("^a", "i"), "^a"],
    [new BSON.Code("return 1"), "return 1"],
    [new BSON.MinKey(), "MinKey()"],
    [
      new BSON.DBRef("goods", new BSON.ObjectId("0123456789abcdef01234567")),
      "DBRef('goods', '0123456789abcdef01234567')",
    ],
    [new BSON.Binary(new Uint8Array([1, 2]), 128), new Uint8Array([1, 2])],
    [new BSON.Double(2), float(2)],
    [new BSON.Int32(2), 2],
    [BSON.Long.fromBigInt(2n ** 60n), int(2n ** 60n)],
    [new Map([["_bsontype", "Long"], ["__proto__", "x"]]), new Map([["_bsontype", "Long"], ["__proto__", "x"]])],
  ];
  for (const [document, value] of cases) assertEquals(read(document), value);
  // What the library may give in place of its classes.
  for (
    const [own, value] of [[1.5, float(1.5)], [5n, int(5n)], [Symbol("x"), "Symbol(x)"], [new Date(NaN), ""]] as const
  ) {
    assertEquals(fromBson(own), value);
  }
});

Deno.test("mongodb reads all documents of a cursor, and stops at a number of bytes", async () => {
  await using server = new MongoServer();
  const context = contextFor(server.port);
  const documents = Array.from({ length: 250 }, (_, i) => map({ _id: i }));
  assertEquals(await context.call("mongodb.insert", [documents, "many"]), true);
  assertEquals((listOrEmpty(await context.call("mongodb.find", ["many"]))).length, 250);
  const text = "x".repeat(8_000_000);
  for (let i = 0; i < 9; i++) {
    assertEquals(await context.call("mongodb.insert", [[map({ _id: i, text })], "large"]), true);
  }
  assertStringIncludes(str(await context.call("mongodb.find", ["large"])), "the query must be narrower");
});

Deno.test("mongodb ends with its job while the server does not answer", async () => {
  await using server = new MongoServer({ delayMs: 3_000 });
  const job = new AbortController();
  const context = testContext({
    opts: testOpts({ "mongodb.host": "127.0.0.1", "mongodb.port": int(BigInt(server.port)) }),
    signal: job.signal,
  });
  const startMs = performance.now();
  const called = context.call("mongodb.user_list", []);
  const timer = setTimeout(() => job.abort(), 500);
  const outcome = await called.then(str, (error) => String(error));
  clearTimeout(timer);
  assert(performance.now() - startMs < 2_500, outcome);
});

Deno.test("mongodb_user.absent and mongodb_user.present say so if the server refuses a change", async () => {
  await using server = new MongoServer({ password: PASSWORD });
  const admin = contextFor(server.port, ADMIN);
  assertEquals(await admin.call("mongodb.user_create", ["reader", "pw"], map({ roles: ["read"] })), true);
  const here = { host: "127.0.0.1", port: server.port };
  const refused = await callState(
    "mongodb_user.present",
    { name: "reader", passwd: "pw", roles: ["nothing"], ...here },
    {
      job: admin,
    },
  );
  assertEquals(refused.get("result"), false);
  assertStringIncludes(
    str(refused.get("comment") ?? null),
    "Failed to change the roles of user reader: Could not find",
  );
  const answers: Readonly<Record<string, Value>> = { "mongodb.user_exists": true, "mongodb.user_remove": false };
  const call = (fun: string): Promise<Value> => Promise.resolve(answers[fun]);
  const kept = await callState("mongodb_user.absent", { name: "reader" }, { state: { call } });
  assertEquals([kept.get("result"), kept.get("comment")], [false, "Failed to remove user reader"]);
});

Deno.test("mongodb_user.present grants what is missing, takes what is too much, and asks for nothing else", async () => {
  const user = () =>
    map({ user: "reader", roles: [{ role: "a", db: "admin" }, { role: "b", db: "admin" }, { role: "c", db: "x" }] });
  for (
    const [roles, changing] of [
      [["a", "b"], []],
      [["b", "a", "c"], ["mongodb.user_grant_roles reader c admin"]],
      [["b"], ["mongodb.user_revoke_roles reader a admin"]],
      [["b", "c"], ["mongodb.user_grant_roles reader c admin", "mongodb.user_revoke_roles reader a admin"]],
    ]
  ) {
    const given = await scriptedState("mongodb_user.present", { name: "reader", passwd: "pw", roles }, {
      "mongodb.user_find": () => [user()],
      "mongodb.user_grant_roles": true,
      "mongodb.user_revoke_roles": true,
    });
    assertEquals([given.result, given.calls.slice(1)], [true, changing]);
  }
});

const MONGOD = serverProgram("mongod");

Deno.test({
  name: `mongodb works with a real mongod${MONGOD === undefined ? " (skipped: there is no mongod)" : ""}`,
  ignore: MONGOD === undefined,
  async fn() {
    await using server = await startMongod();
    const open = contextFor(server.port);
    const root = { database: "admin", roles: ["root"] };
    assertEquals(await open.call("mongodb.user_create", ["admin", PASSWORD], map(root)), true);
    const context = contextFor(server.port, ADMIN);
    const here = { host: "127.0.0.1", port: server.port, user: "admin", password: PASSWORD, authdb: "admin" };
    const frank = { name: "frank", passwd: "pw", database: "shop", ...here };
    for (const roles of [["readWrite"], ["read", "dbAdmin"]]) {
      for (const changed of [true, false]) {
        const present = await callState("mongodb_user.present", { ...frank, roles }, { job: context });
        assertEquals([present.get("result"), mapOrEmpty(present.get("changes") ?? null).size > 0], [true, changed]);
      }
      const has = await context.call("mongodb.user_roles_exists", ["frank", roles, "shop"], map({ authdb: "admin" }));
      assertEquals(has, true);
    }
    const shop = map({ database: "shop", authdb: "admin" });
    assertEquals(await context.call("mongodb.insert", [[map({ _id: 1, n: 1 })], "goods"], shop), true);
    assertEquals(await context.call("mongodb.find", ["goods"], shop), [map({ _id: 1, n: 1 })]);
    assertEquals(await context.call("mongodb.update_one", ['{"_id": 1} {"n": 2}', "goods"], shop), "1 objects updated");
    assertEquals(await context.call("mongodb.remove", ["goods", "{}"], shop), "1 objects removed");
    const { passwd: _, ...gone } = frank;
    assertEquals((await callState("mongodb_user.absent", gone, { job: context })).get("result"), true);
    assertEquals(await context.call("mongodb.db_remove", ["shop"]), true);
  },
});

Deno.test("mongodb.version and the names of collections tell why there is no answer", async () => {
  await using server = new MongoServer({ password: PASSWORD });
  const context = contextFor(server.port, ADMIN);
  const version = (job: TestContext, kwargs: Record<string, unknown> = {}) =>
    job.call("mongodb.version", [], map(kwargs));
  const refused = str(await version(context, { database: "a b" }));
  assertEquals(refused, "database names cannot contain the character ' '");
  assertEquals(await version(context, { database: "" }), "database name cannot be the empty string");
  assertEquals(await version(contextFor(server.port, { ...ADMIN, "mongodb.password": "wrong" })), [
    false,
    `Failed to connect to MongoDB database 127.0.0.1:${server.port}`,
  ]);
  assertEquals(
    await context.call("mongodb.collections_list", [], map({ database: "a.b", authdb: "admin" })),
    "database names cannot contain the character '.'",
  );
  for (const objects of ["[]", map({ a: 1 }), []]) {
    const inserting = () => context.call("mongodb.insert", [objects, "goods"]);
    await assertRejects(inserting, CommandError, "documents must be a non-empty list");
  }
  for (const objects of ["[1]", [map({ a: 1 }), "b"]]) {
    const inserting = () => context.call("mongodb.insert", [objects, "goods"]);
    await assertRejects(inserting, CommandError, "A document must be a dict");
  }
});
