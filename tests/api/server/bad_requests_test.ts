/** What clients send wrongly, or with bad intent: each is answered, and the next honest request is served. */

import { API_PASSWORD, apiMasterOptions, ApiSite } from "#tests/support/fleet/api_site.ts";
import { assert, assertEquals, assertMatch, assertRejects } from "#tests/support/assert.ts";
import { apiRoutes } from "#lib/api/server/routes.ts";
import { apiSettings } from "#lib/api/endpoints/api_settings.ts";
import { auditPath } from "#lib/auth/audit_log.ts";
import { PreflightError } from "#lib/errors.ts";
import { eventually } from "#tests/support/eventually.ts";
import { fleetTest } from "#tests/support/fleet/fleet.ts";
import { sendRaw } from "#tests/support/raw_http.ts";
import { withReplaced } from "#tests/support/replaced.ts";
import { map } from "#lib/values/value.ts";

const directory = Deno.makeTempDirSync({ prefix: "api_bad_" });
globalThis.addEventListener("unload", () => Deno.removeSync(directory, { recursive: true }));

const master = apiMasterOptions(directory, { alice: [".*", "@runner", "@wheel"] });

fleetTest("limits of a body, of its depth and of headers hold", { master }, async (fleet) => {
  await using site = await ApiSite.start(fleet, { max_request_body_size: 2_000 });
  const token = await site.logIn("alice");
  const post = async (body: BodyInit, headers: Record<string, string> = {}) => {
    const all = { "Content-Type": "application/json", "X-Auth-Token": token, ...headers };
    const response = await fetch(site.url("/"), { method: "POST", headers: all, body });
    return { status: response.status, text: await response.text() };
  };
  const cases: [what: string, BodyInit, Record<string, string>, number][] = [
    ["too long", " ".repeat(2_001), {}, 413],
    [
      "too long, without a length",
      ReadableStream.from([new TextEncoder().encode(" ".repeat(1_500)), new Uint8Array(1_000)]),
      {},
      413,
    ],
    ["nested", "[".repeat(70) + "]".repeat(70), {}, 400],
    ["broken JSON", "{", {}, 400],
    ["broken YAML", "a: [", { "Content-Type": "application/x-yaml" }, 400],
    [
      "YAML that multiplies",
      "a: &a [x,x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: &d [*c,*c,*c,*c,*c,*c,*c,*c,*c,*c]\ne: [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\nf: [*d,*d,*d,*d,*d,*d,*d,*d,*d,*d]\n",
      { "Content-Type": "text/yaml" },
      400,
    ],
    ["not UTF-8", new Uint8Array([0x22, 0xff, 0x22]), {}, 400],
    ["texts for chunks", '["local"]', {}, 400],
    ["too many chunks", JSON.stringify(Array(101).fill(1)), {}, 400],
    ["headers", "[]", { "X-Long": "x".repeat(17_000) }, 431],
  ];
  for (const [what, body, headers, status] of cases) {
    const answer = await post(body, headers);
    assertEquals(answer.status, status, `${what}: ${answer.text}`);
    assertEquals(JSON.parse(answer.text).error.status, status);
    assertEquals((await post("[]")).text, '{"return": []}');
  }
  // An address may have five hundred requests at a time, whose bodies come slowly.
  const { port } = site.server;
  const slow = await Promise.all(Array.from({ length: 500 }, () => Deno.connect({ hostname: "127.0.0.1", port })));
  const head = "POST /run HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 2\r\n\r\n[";
  await Promise.all(slow.map((connection) => connection.write(new TextEncoder().encode(head))));
  const welcome = async () => {
    const answer = await fetch(site.url("/"));
    await answer.body?.cancel();
    return [answer.status, answer.headers.get("retry-after")];
  };
  await eventually(async () => (await welcome())[0] === 429, { what: "the bound of an address" });
  assertEquals(await welcome(), [429, "1"]);
  for (const connection of slow) connection.close();
  await eventually(async () => (await welcome())[0] === 200, { what: "room again" });
  // A body in pieces without a length is read.
  const pieces = ReadableStream.from(["[", "]"].map((text) => new TextEncoder().encode(text)));
  assertEquals((await post(pieces)).text, '{"return": []}');
});

fleetTest("without a master, health, jobs and events say that it does not run", { master }, async (fleet) => {
  await using site = await ApiSite.start(fleet);
  const token = await site.logIn("alice");
  const ask = async (path: string) => {
    const response = await fetch(site.url(path));
    return [response.status, await response.json()];
  };
  assertEquals(await ask("/health/ready"), [200, { status: "ok" }]);
  await fleet.stopMaster();
  assertEquals(await ask("/health/ready"), [503, { status: "unavailable", failed: ["master"] }]);
  assertEquals(await ask("/health/live"), [200, { status: "ok" }]);
  // At the same time: some wait five seconds for the master.
  const reading = ["/api/v1/jobs", "/api/v1/schedule/outcomes", "/api/v1/events", "/events"].map(async (path) => {
    const response = await fetch(site.url(path), { headers: { "X-Auth-Token": token, Accept: "application/json" } });
    return [path, response.status, (await response.json()).error.message];
  });
  const sending = Object.entries({ "/login": { username: "alice", password: "x", eauth: "file" }, "/hook/x": {} }).map(
    async ([path, body]) => {
      const { status, body: answer } = await site.post(path, body, { "X-Auth-Token": token });
      return [path, status, Object(answer.error).message];
    },
  );
  for (const [path, status, message] of await Promise.all([...reading, ...sending])) {
    assertEquals([status, message], [503, "Salt Master is not available."], path);
  }
});

fleetTest("methods, preflights and the language of errors", { master }, async (fleet) => {
  await using site = await ApiSite.start(fleet);
  const ask = async (method: string, path: string, accept: string) => {
    const response = await fetch(site.url(path), { method, headers: { Accept: accept } });
    return { status: response.status, allow: response.headers.get("allow"), text: await response.text() };
  };
  assertEquals(await ask("OPTIONS", "/minions", "*/*"), { status: 204, allow: "GET, HEAD, OPTIONS, POST", text: "" });
  const wrong = await ask("DELETE", "/logout", "application/json");
  assertEquals([wrong.status, wrong.allow], [405, "POST"]);
  const page = await ask("GET", "/no%3Cscript%3E", "text/html");
  assertEquals(page.status, 404);
  assertMatch(page.text, /^<!doctype html>/);
  assert(!page.text.includes("<script>"));
  const yaml = await ask("GET", "/nope", "application/x-yaml");
  assertMatch(yaml.text, /^error:\n {2}code: not_found\n/);
  assertEquals((await ask("HEAD", "/", "*/*")).text, "");

  // What a user did must be recorded: without the log nobody logs in, and the reason is the operator's to know.
  Deno.mkdirSync(auditPath(fleet.masterOpts.cachedir));
  const { status, body } = await site.post("/login", { username: "alice", password: API_PASSWORD, eauth: "file" });
  const { code, message, request } = Object(body.error);
  assertEquals([status, code, message], [500, "internal_server_error", "An unexpected error occurred"]);
  const line = site.logs.find((one) => one.startsWith("[ERROR") && one.includes(request));
  assertMatch(line ?? "", /api_audit\.jsonl|Is a directory/);
  await assertRejects(
    () => ApiSite.start(fleet, { port: site.server.port }),
    PreflightError,
    `rest_cherrypy: cannot listen on port ${site.server.port} of 127.0.0.1: `,
  );
});

fleetTest("no path leads out of the directory of static files", { master }, async (fleet) => {
  Deno.mkdirSync(`${directory}/www`, { recursive: true });
  Deno.writeTextFileSync(`${directory}/www/page.txt`, "page\n");
  Deno.writeTextFileSync(`${directory}/secret`, "secret\n");
  Deno.symlinkSync(`${directory}/secret`, `${directory}/www/link`);
  await using site = await ApiSite.start(fleet, { static: `${directory}/www` });
  const get = (path: string) => sendRaw({ port: site.server.port, method: "GET", path, headers: {} });
  for (
    const way of [
      "../secret",
      "%2e%2e/secret",
      "..%2fsecret",
      "%2e%2e%2fsecret",
      "a/../../secret",
      "..\\secret",
      "link",
      "x%00/../secret",
    ]
  ) {
    const { status, bytes } = await get(`/static/${way}`);
    assert([403, 404].includes(status), `${way}: ${status}`);
    assert(!new TextDecoder().decode(bytes).includes("secret\n"), way);
  }
  assertEquals(new TextDecoder().decode((await get("/static/page.txt")).bytes), "page\n");
  // A file that becomes shorter while it is sent: the connection ends, and the log says why.
  const { stat } = Deno.FsFile.prototype;
  const longer = async function (this: Deno.FsFile) {
    const known = await stat.call(this);
    return { ...known, size: known.size + 5 };
  };
  await withReplaced(Deno.FsFile.prototype, { name: "stat", by: longer }, async () => {
    await assertRejects(async () => await (await fetch(site.url("/static/page.txt"))).text(), TypeError);
  });
  assert(site.logs.some((line) => /^\[ERROR.*Request [\w-]+: .*has become shorter/.test(line)), site.logs.join("\n"));
});

fleetTest(
  "a hook's path becomes the tag of an event, and credentials are not among its headers",
  { master },
  async (fleet) => {
    await using site = await ApiSite.start(fleet);
    const token = await site.logIn("alice");
    using events = await fleet.listen("salt/netapi/");
    const sent = await sendRaw({
      port: site.server.port,
      method: "POST",
      path: "/hook/build/a%0Ab/../x",
      headers: {
        "X-Auth-Token": token,
        "Content-Type": "application/json",
        "X-Build": "7",
        "Authorization": "Basic c2VjcmV0",
      },
      body: '{"ok": true}',
    });
    assertEquals(sent.status, 200);
    const event = await events.next(10_000);
    assertEquals(event?.tag, "salt/netapi/hook/build/a_b/../x");
    assertEquals(event?.data.get("body"), '{"ok": true}');
    assertEquals(event?.data.get("post"), map({ ok: true }));
    const headers = event?.data.get("headers");
    assert(headers instanceof Map);
    assertEquals(headers.get("X-Build"), "7");
    assertEquals(["X-Auth-Token", "Authorization", "Cookie"].filter((name) => headers.has(name)), []);
  },
);

/** Small numbers from a seed. */
function* numbers(seed: number): Generator<number, never> {
  for (let state = seed;;) {
    state = Math.imul(state ^ (state >>> 15), 0x2c1b3c6d) + 0x9e3779b9 | 0;
    yield (state >>> 8) & 0xffff;
  }
}

fleetTest("no route answers 5xx to whatever a client sends", { master }, async (fleet) => {
  await using site = await ApiSite.start(fleet, { collect_stats: true });
  const token = await site.logIn("alice");
  const paths = apiRoutes(apiSettings(map({ port: 0, host: "127.0.0.1" })).settings).map(({ path }) => path)
    // Streams have no end, and the others would end the session.
    .filter((path) => !["/events", "/api/v1/events/stream", "/logout", "/api/v1/sessions"].includes(path));
  const random = numbers(20261128);
  const next = (count: number) => random.next().value % count;
  const values: unknown[] = [
    null,
    true,
    0,
    -1,
    1.5,
    "",
    "x",
    "*",
    [],
    {},
    [[]],
    ["a=b"],
    { a: null },
    "\u0000",
    "k=v",
    1e300,
  ];
  const names = [
    "client",
    "fun",
    "tgt",
    "arg",
    "kwarg",
    "tgt_type",
    "timeout",
    "jid",
    "batch",
    "subset",
    "token",
    "username",
    "password",
    "eauth",
    "mid",
    "keysize",
    "match",
    "days",
    "fingerprint",
    "name",
    "rights",
    "full_return",
    "ret",
  ];
  const clients = [
    "local",
    "local_async",
    "local_subset",
    "local_batch",
    "runner",
    "runner_async",
    "wheel",
    "wheel_async",
    "ssh",
  ];
  const bad: string[] = [];
  for (let n = 0; n < 400; n++) {
    const path = paths[n % paths.length].replace(
      /:\w+|\*\w+/,
      () => ["m1", "%00", "a%2Fb", "20260101000000000001", "*"][next(5)],
    );
    const chunk: Record<string, unknown> = {};
    for (let i = next(5); i > 0; i--) chunk[names[next(names.length)]] = values[next(values.length)];
    if (next(2) === 0) chunk.client = clients[next(clients.length)];
    if (next(2) === 0) chunk.fun = ["test.ping", "no.such", "key.list_all", "jobs.list_jobs", "x"][next(5)];
    const body = next(3) === 0 ? values[next(values.length)] : next(2) === 0 ? chunk : [chunk];
    const method = ["GET", "POST", "POST", "POST", "PUT", "DELETE"][next(6)];
    const { status, bytes } = await sendRaw({
      port: site.server.port,
      method,
      path,
      headers: { "X-Auth-Token": token, "Content-Type": "application/json" },
      ...!["GET"].includes(method) && { body: JSON.stringify(body) },
    });
    if (status >= 500) bad.push(`${method} ${path} ${JSON.stringify(body)}: ${new TextDecoder().decode(bytes)}`);
  }
  assertEquals(bad, []);
  assertEquals(site.logs.filter((line) => line.startsWith("[ERROR")), []);
});

fleetTest("requests for paths that nobody knows leave nothing in the counts", { master }, async (fleet) => {
  await using site = await ApiSite.start(fleet, { collect_stats: true, stats_disable_auth: true });
  const headers = { "X-Auth-Token": await site.logIn("alice") };
  const long = await fetch(site.url(`/hook/${"x".repeat(2_000)}`), { method: "POST", headers });
  assertEquals([long.status, (await long.text()).includes("too long")], [400, true]);
  const paths = [
    "/jobs",
    "/%6aobs",
    "/j%6Fbs",
    "/hook/a",
    "/hook/b",
    ...Array.from({ length: 50 }, (_, n) => `/x${n}/y`),
  ];
  for (const path of paths) await (await fetch(site.url(path))).body?.cancel();
  const stats: { "salt-api": { Routes: Record<string, number> } } = await (await fetch(site.url("/stats"))).json();
  assertEquals(Object.keys(stats["salt-api"].Routes).sort(), ["/hook", "/jobs", "/login", "other"]);
});
