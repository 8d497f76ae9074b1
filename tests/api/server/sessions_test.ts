/** Sessions: they survive a restart, end when they should, and leave no secret in a file. */

import { API_PASSWORD, apiMasterOptions, ApiSite } from "#tests/support/fleet/api_site.ts";
import { assert, assertEquals, assertNotEquals } from "#tests/support/assert.ts";
import { fleetTest } from "#tests/support/fleet/fleet.ts";
import { EndWatches } from "#lib/api/endpoints/end_watches.ts";
import { LoginAttempts } from "#lib/api/endpoints/login_attempts.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { Sessions } from "#lib/api/endpoints/sessions.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const directory = Deno.makeTempDirSync({ prefix: "api_sessions_" });
globalThis.addEventListener("unload", () => Deno.removeSync(directory, { recursive: true }));

const master = apiMasterOptions(directory, { alice: [".*", "@runner", "@wheel"], ops: ["test.*"] });

fleetTest(
  "a session survives a restart of the API; its file holds nothing that opens anything",
  { master },
  async (fleet) => {
    let token: string;
    {
      await using site = await ApiSite.start(fleet);
      token = await site.logIn("alice");
    }
    await using site = await ApiSite.start(fleet);
    const asked = await site.post("/", { client: "runner", fun: "test.arg" }, { "X-Auth-Token": token });
    assertEquals(asked.status, 200, JSON.stringify(asked.body));
    const place = `${fleet.masterOpts.cachedir}/api_sessions`;
    const names = [...Deno.readDirSync(place)].map(({ name }) => name);
    assertEquals(names.length, 1);
    const held = new TextDecoder("latin1").decode(Deno.readFileSync(`${place}/${names[0]}`)) + names[0];
    const salts = [...Deno.readDirSync(fleet.masterOpts.token_dir)].map(({ name }) => name.replace(/\.p$/, ""));
    for (const secret of [token, ...salts, API_PASSWORD, "alice"]) assert(!held.includes(secret), secret);
    assertEquals(Deno.statSync(`${place}/${names[0]}`).mode! & 0o777, 0o600);
    // The tokens of the master must be where this process looks for them.
    const elsewhere = { masterOpts: { ...fleet.masterOpts, token_dir: `${directory}/none` } };
    await using astray = await ApiSite.start(elsewhere);
    const lost = await astray.post("/login", { username: "alice", password: API_PASSWORD, eauth: "file" });
    assertEquals(Object(lost.body.error).message, "The token of the master is not in its cache directory");
    assertEquals([lost.status, lost.headers.get("set-cookie")], [500, null]);
    // A file that was changed is no session.
    Deno.writeFileSync(`${place}/${names[0]}`, Deno.readFileSync(`${place}/${names[0]}`).map((byte) => byte ^ 1));
    await using third = await ApiSite.start(fleet);
    assertEquals((await third.post("/", [], { "X-Auth-Token": token })).status, 401);
  },
);

fleetTest("each log-in has a new session, and the one that it came with ends", { master }, async (fleet) => {
  await using site = await ApiSite.start(fleet);
  const first = await site.logIn("alice");
  const again = await site.post("/login", { username: "alice", password: API_PASSWORD, eauth: "file" }, {
    Cookie: `session_id=${first}`,
  });
  assertEquals(again.status, 200);
  assertNotEquals(again.headers.get("x-auth-token"), first);
  assertEquals((await site.post("/", [], { "X-Auth-Token": first })).status, 401);
  assert(
    /; HttpOnly; SameSite=Strict$/.test(again.headers.get("set-cookie") ?? ""),
    again.headers.get("set-cookie") ?? "",
  );
});

fleetTest("a cookie alone changes nothing for a page of another site", { master }, async (fleet) => {
  await using site = await ApiSite.start(fleet);
  const token = await site.logIn("ops");
  const body = [{ client: "local", tgt: "*", fun: "test.ping" }];
  const cookie = { Cookie: `session_id=${token}` };
  const foreigners: Record<string, string>[] = [
    { Origin: "https://evil.example" },
    { "Sec-Fetch-Site": "cross-site" },
    { Origin: "null" },
  ];
  for (const foreign of foreigners) {
    const { status } = await site.post("/", body, { ...cookie, ...foreign });
    assertEquals(status, 403, JSON.stringify(foreign));
  }
  const own = new URL(site.url("/")).origin;
  const ours: Record<string, string>[] = [{}, { Origin: own }, { "Sec-Fetch-Site": "same-origin" }];
  for (const same of ours) {
    assertEquals((await site.post("/", body, { ...cookie, ...same })).status, 200, JSON.stringify(same));
  }
  const answer = await fetch(site.url("/"), { headers: { Origin: "https://evil.example" } });
  await answer.body?.cancel();
  assertEquals(answer.headers.get("access-control-allow-origin"), null);
});

fleetTest("after ten wrong passwords in a minute a user must wait, and others need not", { master }, async (fleet) => {
  await using site = await ApiSite.start(fleet);
  const guess = (n: number) => site.post("/login", { username: "ops", password: `guess ${n}`, eauth: "file" });
  const statuses: number[] = [];
  for (let n = 0; n < 11; n++) statuses.push((await guess(n)).status);
  assertEquals(statuses, [...Array(10).fill(401), 429]);
  const refused = await guess(12);
  assert(Number(refused.headers.get("retry-after")) > 0);
  await site.logIn("alice");
});

fleetTest("passwords are guessed by no other path: /run and /keys count too", { master }, async (fleet) => {
  await using site = await ApiSite.start(fleet);
  const wrong = { username: "ops", password: "guess", eauth: "file" };
  const paths: [string, unknown][] = [
    ["/run", [{ ...wrong, client: "local", tgt: "*", fun: "test.ping" }]],
    ["/run", [{ ...wrong, client: "runner", fun: "manage.up" }]],
    ["/keys", { ...wrong, mid: "m1" }],
    ["/token", [wrong]],
  ];
  for (let n = 0; n < 10; n++) {
    const [path, body] = paths[n % paths.length];
    assertEquals((await site.post(path, body)).status, 401, path);
  }
  for (const [path, body] of paths) assertEquals((await site.post(path, body)).status, 429, path);
  // Nor is a token of Salt's.
  for (const [given, says] of [["x", "Invalid token"], ["ab".repeat(32), "Authentication error occurred."]]) {
    const asked = await site.post("/run", [{ client: "local", tgt: "*", fun: "test.ping", token: given }]);
    assertEquals([asked.status, Object(asked.body.error).message], [401, says]);
  }
  const right = {
    client: "local",
    tgt: "*",
    fun: "test.ping",
    username: "alice",
    password: API_PASSWORD,
    eauth: "file",
  };
  assertEquals((await site.post("/run", [right])).status, 200);
});

Deno.test("wrong passwords from one address keep a user out from no other address", () => {
  const attempts = new LoginAttempts(() => 0);
  for (let n = 0; n < 20; n++) attempts.failed({ address: `192.0.2.${n}`, user: "alice" });
  for (let n = 0; n < 20; n++) attempts.failed({ address: "192.0.2.100", user: "alice" });
  assertEquals(attempts.waitS({ address: "198.51.100.1", user: "alice" }), 0);
  assert(attempts.waitS({ address: "192.0.2.100", user: "alice" }) > 0);
});

Deno.test("a user with more sessions than one may have ends own ones, not those of others", () =>
  withTemporaryDirectory((root) => {
    const sessions = new Sessions({
      directory: `${root}/s`,
      idleMs: 3_600_000,
      ends: new EndWatches(),
      log: SILENT_LOGGER,
    });
    const fields = { token: "t", eauth: "file", expireS: Date.now() / 1000 + 3_600 };
    const alice = sessions.start({ ...fields, user: "alice" });
    const first = sessions.start({ ...fields, user: "ops" });
    for (let n = 0; n < 1_000; n++) sessions.start({ ...fields, user: "ops" });
    assertEquals(sessions.use(first.id), undefined);
    assertEquals(sessions.use(alice.id)?.user, "alice");
  }));

Deno.test("five failures in a minute are the limit of an address, and a minute later it may try again", () => {
  let now = 0;
  const attempts = new LoginAttempts(() => now);
  const at = (address: string, user: string) => ({ address, user });
  for (let n = 0; n < 5; n++) attempts.failed(at("192.0.2.7", `user${n}`));
  assertEquals(attempts.waitS(at("192.0.2.7", "alice")), 60);
  assertEquals(attempts.waitS(at("192.0.2.8", "alice")), 0);
  now = 59_000;
  assertEquals(attempts.waitS(at("192.0.2.7", "alice")), 1);
  now = 60_001;
  assertEquals(attempts.waitS(at("192.0.2.7", "alice")), 0);
});

Deno.test("a session ends when it was not used for its time, and when its token ends", () =>
  withTemporaryDirectory((root) => {
    const ends = new EndWatches();
    const sessions = new Sessions({ directory: `${root}/s`, idleMs: 3_600_000, ends, log: SILENT_LOGGER });
    const fields = { token: "t", user: "alice", eauth: "file" };
    const soon = sessions.start({ ...fields, expireS: Date.now() / 1000 - 1 });
    assertEquals(sessions.use(soon.id), undefined);
    const idle = sessions.start({ ...fields, expireS: Date.now() / 1000 + 1e6 });
    let ended = 0;
    ends.watch(idle.id, () => ended++);
    assertEquals(sessions.use(idle.id)?.user, "alice");
    idle.usedMs -= 3_600_001;
    assertEquals([sessions.use(idle.id), ended], [undefined, 1]);
    assertEquals([...Deno.readDirSync(`${root}/s`)], []);
    for (const bad of ["", "../../x", "0".repeat(40), null, undefined]) assertEquals(sessions.use(bad), undefined);
  }));
