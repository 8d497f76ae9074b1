/** API tokens: fewer rights, an end, no usable secret in a file; and the log-out everywhere. */

import { apiMasterOptions, ApiSite } from "#tests/support/fleet/api_site.ts";
import { ApiTokens } from "#lib/api/endpoints/api_tokens.ts";
import { assert, assertEquals, assertMatch } from "#tests/support/assert.ts";
import { EndWatches } from "#lib/api/endpoints/end_watches.ts";
import { EventReader } from "#tests/support/event_reader.ts";
import { fleetTest } from "#tests/support/fleet/fleet.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";
import { AT_ONCE_MS } from "#tests/support/time.ts";

const directory = Deno.makeTempDirSync({ prefix: "api_tokens_" });
globalThis.addEventListener("unload", () => Deno.removeSync(directory, { recursive: true }));

const master = apiMasterOptions(directory, {
  alice: ["test.*", "grains.*", "@runner", "@wheel"],
  ops: ["test.*"],
});

async function makeToken(site: ApiSite, token: string, body: unknown): Promise<{ secret: string; id: string }> {
  const made = await site.ask("POST", "/api/v1/tokens", { token, body });
  assertEquals(made.status, 201, JSON.stringify(made.body));
  const { secret, token: row } = made.body as { secret: string; token: { id: string } };
  return { secret, id: row.id };
}

fleetTest(
  "an API token may do what both its own rules and its user's allow",
  { master, minions: ["m1"] },
  async (fleet) => {
    await using site = await ApiSite.start(fleet);
    const alice = await site.logIn("alice");
    const { secret } = await makeToken(site, alice, { name: "ping only", days: 7, rights: ["test.ping", "pkg.*"] });
    const run = async (low: unknown, token: string) => (await site.ask("POST", "/", { token, body: [low] })).status;
    const on = (fun: string) => ({ client: "local", tgt: "m1", fun });
    assertEquals(await run(on("test.ping"), secret), 200);
    for (const fun of ["grains.items", "pkg.version"]) assertEquals(await run(on(fun), secret), 401, fun);
    assertEquals(await run(on("grains.items"), alice), 200);
    for (const client of ["runner", "wheel"]) {
      const fun = client === "runner" ? "test.arg" : "key.list_all";
      assertEquals(await run({ client, fun }, secret), 401, client);
      assertEquals(await run({ client, fun }, alice), 200, client);
    }
    // Without own rules it may do all that its user may.
    const all = await makeToken(site, alice, { name: "all", days: 1 });
    assertEquals(await run({ client: "wheel", fun: "key.list_all" }, all.secret), 200);
    // It is no cookie, and it makes no tokens.
    const byCookie = await site.ask("GET", "/api/v1/tokens", { headers: { Cookie: `session_id=${all.secret}` } });
    assertEquals(byCookie.status, 401);
    const body = { name: "successor", days: 1 };
    assertEquals((await site.ask("POST", "/api/v1/tokens", { token: all.secret, body })).status, 403);
    // Its log-out is its end, and no other's.
    assertEquals((await site.ask("POST", "/logout", { token: all.secret })).status, 200);
    assertEquals((await site.ask("GET", "/api/v1/tokens", { token: all.secret })).status, 401);
    const left = (await site.ask("GET", "/api/v1/tokens", { token: secret })).body.tokens as Record<string, unknown>[];
    assertEquals(left.map(({ name }) => name), ["ping only"]);
  },
);

fleetTest("an API token that is deleted ends at once, and its streams within a second", { master }, async (fleet) => {
  await using site = await ApiSite.start(fleet);
  const [alice, ops] = [await site.logIn("alice"), await site.logIn("ops")];
  const { secret, id } = await makeToken(site, alice, { name: "reader", days: 1 });
  using reader = new EventReader(site.url("/events"), { "X-Auth-Token": secret });
  assertEquals(await reader.status(), 200);
  const listed = await site.ask("GET", "/api/v1/tokens", { token: alice });
  const [row] = listed.body.tokens as Record<string, unknown>[];
  assertEquals([row.id, row.name, row.user, row.rights, row.address], [id, "reader", "alice", null, "127.0.0.1"]);
  assert(!JSON.stringify(listed.body).includes(secret));
  // Another user neither sees nor ends it.
  assertEquals((await site.ask("GET", "/api/v1/tokens", { token: ops })).body, { tokens: [] });
  assertEquals((await site.ask("DELETE", `/api/v1/tokens/${id}`, { token: ops })).status, 404);

  const saltTokens = () => [...Deno.readDirSync(fleet.masterOpts.token_dir)].length;
  const before = saltTokens();
  assertEquals((await site.ask("DELETE", `/api/v1/tokens/${id}`, { token: alice })).status, 200);
  const started = performance.now();
  while (await reader.next() !== undefined);
  assert(performance.now() - started < AT_ONCE_MS);
  assertEquals((await site.ask("GET", "/api/v1/tokens", { token: secret })).status, 401);
  assertEquals(saltTokens(), before - 1);
});

fleetTest("a log-out everywhere ends all sessions and streams, and no API token", { master }, async (fleet) => {
  await using site = await ApiSite.start(fleet);
  await using other = await ApiSite.start(fleet);
  const [first, second, ops] = [await site.logIn("alice"), await other.logIn("alice"), await site.logIn("ops")];
  const { secret } = await makeToken(site, first, { name: "stays", days: 1 });
  // Its stream is of another process's session, which hears of it by the token alone.
  using reader = new EventReader(other.url("/events"), { "X-Auth-Token": second });
  assertEquals(await reader.status(), 200);
  assertEquals((await site.ask("DELETE", "/api/v1/sessions", { token: first })).body, { ended: 2 });
  for (const token of [first, second]) {
    assertEquals((await site.ask("GET", "/api/v1/tokens", { token })).status, 401);
    assertEquals((await other.ask("GET", "/api/v1/tokens", { token })).status, 401);
  }
  const started = performance.now();
  while (await reader.next() !== undefined);
  assert(performance.now() - started < AT_ONCE_MS);
  for (const token of [secret, ops]) assertEquals((await site.ask("GET", "/api/v1/tokens", { token })).status, 200);
});

fleetTest("what is wrong in the request for a token is named", { master }, async (fleet) => {
  await using site = await ApiSite.start(fleet);
  const token = await site.logIn("ops");
  const cases: [unknown, RegExp][] = [
    [[], /must be a map/],
    [{ name: "x" }, /days/],
    [{ name: " ", days: 1 }, /name/],
    [{ name: "x", days: 0 }, /days/],
    [{ name: "x", days: 367 }, /days/],
    [{ name: "x", days: 1, rights: "test.*" }, /rights/],
    [{ name: "x", days: 1, rights: [1] }, /rights/],
    [{ name: "x", days: 1, user: "alice" }, /no field user/],
  ];
  for (const [body, message] of cases) {
    const answer = await site.ask("POST", "/api/v1/tokens", { token, body });
    assertEquals(answer.status, 400, JSON.stringify(body));
    assertMatch((answer.body.error as { message: string }).message, message);
  }
  const form = await fetch(site.url("/api/v1/tokens"), {
    method: "POST",
    headers: { "X-Auth-Token": token },
    body: new URLSearchParams({ name: "x", days: "1" }),
  });
  assertEquals(form.status, 406);
  await form.body?.cancel();

  // A user has a hundred of them, and others have theirs.
  const rows = new ApiTokens({
    directory: `${fleet.masterOpts.cachedir}/api_tokens`,
    ends: new EndWatches(),
    log: SILENT_LOGGER,
  });
  const row = { name: "n", user: "ops", eauth: "file", rules: null, token: "", expireS: Date.now() / 1000 + 600 };
  for (let n = 0; n < 99; n++) rows.make({ ...row, id: ApiTokens.newId() });
  await makeToken(site, token, { name: "last", days: 1 });
  const beyond = await site.ask("POST", "/api/v1/tokens", { token, body: { name: "beyond", days: 1 } });
  assertEquals([beyond.status, Object(beyond.body.error).message], [409, "A user has at most 100 API tokens"]);
  await makeToken(site, await site.logIn("alice"), { name: "first", days: 1 });
});

Deno.test("the file of an API token opens nothing, and one that was changed or is over is no token", () =>
  withTemporaryDirectory((root) => {
    const tokens = new ApiTokens({ directory: `${root}/t`, ends: new EndWatches(), log: SILENT_LOGGER });
    const salts = "a1".repeat(32);
    const fields = { name: "n", user: "alice", eauth: "file", rules: null, token: salts };
    const make = (expireS: number) => tokens.make({ ...fields, id: ApiTokens.newId(), expireS });
    const { secret, row } = make(Date.now() / 1000 + 60);
    assertEquals(tokens.use(secret, "192.0.2.1")?.token, salts);
    const path = `${root}/t/${row.id}`;
    assertEquals(Deno.statSync(path).mode! & 0o777, 0o600);
    const held = new TextDecoder("latin1").decode(Deno.readFileSync(path));
    for (const canary of [secret, secret.slice(-40), salts]) assert(!held.includes(canary), canary);
    assertEquals(tokens.use(`${secret.slice(0, -1)}${secret.endsWith("0") ? "1" : "0"}`, ""), undefined);
    assertEquals(tokens.use("salt_../../etc/passwd00_", ""), undefined);
    const over = make(Date.now() / 1000 - 1);
    assertEquals(tokens.use(over.secret, ""), undefined);
    assertEquals([...Deno.readDirSync(`${root}/t`)].length, 1);
    Deno.writeFileSync(path, Deno.readFileSync(path).map((byte, i, all) => i === all.length - 1 ? byte ^ 1 : byte));
    assertEquals(tokens.use(secret, ""), undefined);
  }));
