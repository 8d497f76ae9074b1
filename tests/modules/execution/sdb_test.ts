/**
 * Execution module `sdb`: recorded cases, and the drivers that store values. A server on loopback stands for Consul: it
 * has the part of Consul's API that the driver uses.
 * @module
 */

import { DatabaseSync } from "node:sqlite";
import { type Catalogue, fn, type JobContext } from "#lib/plugins/job_context.ts";
import { type ModuleFunction, p } from "#lib/plugins/module.ts";
import { map, type Value } from "#lib/values/value.ts";
import { assert, assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { resultOrError, testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";
import { SearchPath } from "#tests/support/search_path.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

testRecordedCases("execution", "sdb");

/** Calls functions with these profiles. */
function caller(profiles: Readonly<Record<string, Value>>) {
  const context = testContext({ opts: testOpts(profiles) });
  return (fun: string, ...args: Value[]) => resultOrError(context, fun, args);
}

Deno.test("env: what a job sets is there for this job alone, and never replaces a variable", async () => {
  const profiles = { osenv: map({ driver: "env" }) };
  const call = caller(profiles);
  const address = "sdb://osenv/SALT_TEST_SDB";
  assertEquals(await call("sdb.set", address, "one"), "one");
  assertEquals(await call("sdb.set", address, "two"), "one");
  assertEquals(await call("sdb.get", address), "one");
  assertEquals(await caller(profiles)("sdb.get", address), null);
  assertEquals(await call("sdb.set", "sdb://osenv/PATH", "no"), Deno.env.get("PATH") ?? "");
  assertEquals(await call("sdb.set", address, 1), "str expected, not int");
  assertEquals(await call("sdb.delete", address), "The driver 'env' of sdb removes nothing");
});

Deno.test("sqlite3: values are MessagePack in a table, as Salt writes them; a made secret stays", () =>
  withTemporaryDirectory(async (root) => {
    const path = `${root}/sdb.sqlite`;
    const own = {
      driver: "sqlite3",
      database: path,
      create_statements: ["CREATE TABLE advanced (a text PRIMARY KEY, d blob)"],
      get_query: "SELECT d FROM advanced WHERE a=:key",
      set_query: "INSERT OR REPLACE INTO advanced (a, d) VALUES (:key, :value)",
    };
    const call = caller({ store: map({ driver: "sqlite3", database: path, table: 'a"b' }), own: map(own) });
    assertEquals(await call("sdb.get", "sdb://store/x"), null);
    assertEquals(await call("sdb.set", "sdb://store/x", map({ a: 1 })), true);
    assertEquals(await call("sdb.get", "sdb://store/x"), map({ a: 1 }));
    assertEquals(await call("sdb.set", "sdb://own/x/y", "z"), true);
    assertEquals(await call("sdb.get", "sdb://own/x/y"), "z");
    const made = await call("sdb.get_or_set_hash", "sdb://store/secret", 40, "ab");
    assert(typeof made === "string" && /^[ab]{40}$/.test(made));
    assertEquals(await call("sdb.get_or_set_hash", "sdb://store/secret"), made);
    using database = new DatabaseSync(path);
    const row = database.prepare('SELECT hex(value) AS hex FROM "a""b" WHERE key = ?').get("x");
    assertEquals(row?.hex, "81A16101");
  }));

Deno.test("sqlite3: a profile without a database, and a file that is none, are errors with a reason", () =>
  withTemporaryDirectory(async (root) => {
    Deno.writeTextFileSync(`${root}/text`, "no database, but text".repeat(100));
    const call = caller({
      none: map({ driver: "sqlite3" }),
      text: map({ driver: "sqlite3", database: `${root}/text` }),
      strange: map({ driver: "nothing" }),
    });
    assertEquals(await call("sdb.get", "sdb://none/x"), "The profile of sdb names no database");
    assertStringIncludes(String(await call("sdb.get", "sdb://text/x")), "file is not a database");
    assertEquals(await call("sdb.get", "sdb://strange/x"), "There is no driver 'nothing' of sdb");
  }));

Deno.test("consul: keys are read and written over HTTP, with the token; what the server refuses is told", async () => {
  const stored = new Map<string, Uint8Array>();
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, async (request) => {
    const { pathname, searchParams } = new URL(request.url);
    if (request.headers.get("X-Consul-Token") !== "t0ken") return new Response("Permission denied", { status: 403 });
    const key = `${pathname} ${searchParams.get("dc")}`;
    if (request.method === "PUT") {
      stored.set(key, new Uint8Array(await request.arrayBuffer()));
      return new Response("true\n");
    }
    const value = stored.get(key);
    if (value === undefined) return new Response("", { status: 404 });
    return Response.json([{ Key: key, Flags: 0, Value: value.toBase64() }]);
  });
  const place = { driver: "consul", host: "127.0.0.1", port: server.addr.port, dc: "dev" };
  const call = caller({ consul: map({ ...place, token: "t0ken" }), refused: map(place) });
  assertEquals(await call("sdb.get", "sdb://consul/web/ä b?c"), null);
  assertEquals(await call("sdb.set", "sdb://consul/web/ä b?c", "wért"), true);
  assertEquals(await call("sdb.get", "sdb://consul/web/ä b?c"), "wért");
  assertEquals([...stored.keys()], ["/v1/kv/web/%C3%A4%20b%3Fc dev"]);
  assertEquals(await call("sdb.get", "sdb://consul/../agent"), "Invalid key: ../agent");
  assertEquals(await call("sdb.get", "sdb://refused/x"), "Consul answered 403 Forbidden: Permission denied");
});

Deno.test("what a driver cannot do, and a text that cannot be made, are errors with a reason", async () => {
  const own: Readonly<Record<string, ModuleFunction<JobContext>>> = {
    "sdb/reads.get": fn({ doc: "", params: { key: p.str() }, varKwargs: "kwargs", run: () => null }),
    "sdb/all.get": fn({ doc: "", params: { key: p.str() }, varKwargs: "kwargs", run: () => "value" }),
    "sdb/all.delete": fn({ doc: "", params: { key: p.str() }, varKwargs: "kwargs", run: ({ key }) => `no ${key}` }),
  };
  const base = testContext();
  const catalogue: Catalogue = Object.assign(Object.create(base.catalogue), {
    get: (name: string) => Object.hasOwn(own, name) ? Promise.resolve(own[name]) : base.catalogue.get(name),
  });
  const profiles = { reads: map({ driver: "reads" }), all: map({ driver: "all" }) };
  const context = testContext({ opts: testOpts(profiles), catalogue });
  const call = (fun: string, ...args: Value[]) => resultOrError(context, `sdb.${fun}`, args);
  assertEquals(await call("set", "sdb://reads/x", 1), "The driver 'reads' of sdb sets nothing");
  assertEquals(await call("delete", "sdb://reads/x"), "The driver 'reads' of sdb removes nothing");
  assertEquals(await call("delete", "sdb://all/x"), "no x");
  assertEquals(await call("get_or_set_hash", "sdb://reads/x", 65_537), "length is at most 65536");
  assertEquals(await call("get_or_set_hash", "sdb://reads/x", 8, ""), "chars is empty");
  assertEquals(await call("get_or_set_hash", "sdb://reads/x"), "The driver 'reads' of sdb sets nothing");
});

Deno.test("consul: a value may be bytes, nothing or read from any server; what is no answer of Consul's is told", async () => {
  const asked: string[] = [];
  const answers: Readonly<Record<string, string>> = {
    "/v1/kv/bytes": JSON.stringify([{ Value: Uint8Array.of(255, 0).toBase64() }]),
    "/v1/kv/empty": JSON.stringify([{ Value: null }]),
    "/v1/kv/page": "<html>",
    "/v1/kv/plain": JSON.stringify([{ Value: "<none>" }]),
  };
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, (request) => {
    const { pathname, search } = new URL(request.url);
    asked.push(`${request.method} ${pathname}${search}`);
    return new Response(answers[pathname] ?? "true");
  });
  const place = { driver: "consul", port: server.addr.port, consistency: "stale" };
  const call = caller({
    consul: map(place),
    closed: map({ ...place, port: 1 }),
    twice: map({ ...place, host: "127.0.0.1:80" }),
    numberless: map({ ...place, port: "http" }),
    other: map({ ...place, scheme: "gopher" }),
  });
  assertEquals(await call("sdb.get", "sdb://consul/bytes"), Uint8Array.of(255, 0));
  assertEquals(await call("sdb.get", "sdb://consul/empty"), null);
  assertStringIncludes(String(await call("sdb.get", "sdb://consul/page")), "Consul's answer is no JSON: ");
  const plain = await call("sdb.get", "sdb://consul/plain");
  assertEquals(plain, "Consul's answer has a value that is no base64 for the key plain");
  assertEquals(await call("sdb.set", "sdb://consul/a", "b"), true);
  assertEquals(asked, [
    "GET /v1/kv/bytes?stale=1",
    "GET /v1/kv/empty?stale=1",
    "GET /v1/kv/page?stale=1",
    "GET /v1/kv/plain?stale=1",
    "PUT /v1/kv/a",
  ]);
  assertStringIncludes(String(await call("sdb.get", "sdb://closed/a")), "Consul at 127.0.0.1:1: ");
  // A wrong address is no reason to send the token to another one.
  for (
    const [profile, address] of [["twice", "http://127.0.0.1:80:"], ["numberless", ":http"], ["other", "gopher://"]]
  ) {
    const text = String(await call("sdb.get", `sdb://${profile}/a`));
    assertStringIncludes(text, "The profile of sdb names no server of Consul: ");
    assertStringIncludes(text, address);
  }
  assertEquals(asked.length, 5);
});

/** A gpg that returns the third line as the plain text. */
const GPG = '#!/bin/sh\nprintf "plain %s" "$(sed -n 3p)"\n';

Deno.test("yaml: with gpg the messages in all texts of a value are decrypted, whatever else is in them", () =>
  withTemporaryDirectory(async (root) => {
    Deno.writeTextFileSync(`${root}/gpg`, GPG, { mode: 0o755 });
    using _path = new SearchPath(root);
    const message = (text: string) => `-----BEGIN PGP MESSAGE-----\n\n${text}\n-----END PGP MESSAGE-----`;
    // Its first line would name a renderer, were it a template.
    const script = (secret: string) => `#!jinja\n{{ user }}: ${secret}`;
    const stored = { login: { user: "web", passwords: [message("one"), 5] }, script: script(message("two")) };
    Deno.writeTextFileSync(`${root}/secrets.yaml`, JSON.stringify(stored));
    const call = caller({
      plain: map({ driver: "yaml", files: [`${root}/secrets.yaml`] }),
      secrets: map({ driver: "yaml", files: [`${root}/secrets.yaml`], gpg: true }),
    });
    assertEquals(await call("sdb.get", "sdb://secrets/login"), map({ user: "web", passwords: ["plain one", 5] }));
    assertEquals(await call("sdb.get", "sdb://secrets/script"), script("plain two"));
    assertEquals(await call("sdb.get", "sdb://secrets/none"), null);
    assertEquals(await call("sdb.get", "sdb://plain/script"), script(message("two")));
  }));
