/** What protects users with a browser: names, origins, headers; and proxies that say who a client is. */

import { API_PASSWORD, apiMasterOptions, ApiSite } from "#tests/support/fleet/api_site.ts";
import { assert, assertEquals, assertMatch } from "#tests/support/assert.ts";
import { clientOrigin } from "#lib/api/http/client_origin.ts";
import { fleetTest } from "#tests/support/fleet/fleet.ts";
import { sendRaw } from "#tests/support/raw_http.ts";

const directory = Deno.makeTempDirSync({ prefix: "api_browsers_" });
globalThis.addEventListener("unload", () => Deno.removeSync(directory, { recursive: true }));

const master = apiMasterOptions(directory, { alice: ["test.*", "@wheel"] });

fleetTest("a name that is not ours gets no answer, whatever it resolves to", { master }, async (fleet) => {
  await using site = await ApiSite.start(fleet, { api_hosts: ["salt.example"] });
  const status = async (host: string) =>
    (await sendRaw({ port: site.server.port, method: "GET", path: "/", headers: { Host: host } })).status;
  for (const host of ["evil.example", "evil.example:8000", "127.0.0.1.evil.example", "salt.example.evil"]) {
    assertEquals(await status(host), 421, host);
  }
  const own = ["127.0.0.1", "127.0.0.1:8000", "[::1]:8000", "localhost:1", "salt.example", "SALT.example.:80"];
  for (const host of [...own, Deno.hostname()]) assertEquals(await status(host), 200, host);
});

fleetTest("other sites read answers only if cors_origins names them", { master }, async (fleet) => {
  await using site = await ApiSite.start(fleet, { cors_origins: ["https://good.example"] });
  const ask = async (origin: string, method = "GET") => {
    const response = await fetch(site.url("/"), {
      method,
      headers: { Origin: origin, ...method === "OPTIONS" && { "Access-Control-Request-Method": "POST" } },
    });
    await response.body?.cancel();
    return response;
  };
  const good = await ask("https://good.example");
  assertEquals(good.headers.get("access-control-allow-origin"), "https://good.example");
  assertEquals(good.headers.get("access-control-allow-credentials"), null);
  assertEquals(good.headers.get("vary"), "Origin");
  for (const origin of ["https://evil.example", "https://good.example.evil", "null", "http://good.example"]) {
    assertEquals((await ask(origin)).headers.get("access-control-allow-origin"), null, origin);
  }
  const preflight = await ask("https://good.example", "OPTIONS");
  assertEquals(preflight.status, 204);
  assertMatch(preflight.headers.get("access-control-allow-headers") ?? "", /X-Auth-Token/);
  assertEquals((await ask("https://evil.example", "OPTIONS")).headers.get("access-control-allow-headers"), null);
});

fleetTest("pages have the headers that bind them, and a cookie alone sends JSON", { master }, async (fleet) => {
  Deno.writeTextFileSync(`${directory}/index.html`, "<!doctype html>\n");
  await using site = await ApiSite.start(fleet, { app: `${directory}/index.html` });
  const page = await fetch(site.url("/app"));
  await page.body?.cancel();
  const error = await fetch(site.url("/app"), { method: "POST", headers: { Accept: "text/html" } });
  await error.body?.cancel();
  for (const { headers } of [page, error]) {
    assertMatch(headers.get("content-security-policy") ?? "", /^default-src 'none';.*frame-ancestors 'none'$/);
    assertEquals(headers.get("referrer-policy"), "no-referrer");
    assertEquals(headers.get("cross-origin-opener-policy"), "same-origin");
    assertEquals(headers.get("x-content-type-options"), "nosniff");
  }
  assert(!(page.headers.get("content-security-policy") ?? "").includes("script-src 'self' 'unsafe"));
  const token = await site.logIn("alice");
  const own = { Cookie: `session_id=${token}`, Origin: new URL(site.url("/")).origin };
  const form = await fetch(site.url("/hook/x"), {
    method: "POST",
    headers: own,
    body: new URLSearchParams({ a: "b" }),
  });
  await form.body?.cancel();
  assertEquals(form.status, 403);
  assertEquals((await site.post("/hook/x", {}, own)).status, 200);
});

fleetTest("a trusted proxy says who the client is; nobody else is believed", { master }, async (fleet) => {
  const logIn = { username: "alice", password: API_PASSWORD, eauth: "file" };
  const forwarded = {
    "X-Forwarded-For": "192.0.2.9",
    "X-Forwarded-Proto": "https",
    "X-Forwarded-Host": "evil.example",
  };
  await using open = await ApiSite.start(fleet, { authorized_ips: ["192.0.2.9"] });
  assertEquals((await open.post("/login", logIn, forwarded)).status, 403);

  const section = { trusted_proxies: ["127.0.0.1"], authorized_ips: ["192.0.2.9"], root_prefix: "/salt" };
  await using behind = await ApiSite.start(fleet, { ...section, api_hosts: ["salt.example"] });
  assertEquals((await behind.post("/salt/login", logIn, forwarded)).status, 421);
  const named = { ...forwarded, "X-Forwarded-Host": "salt.example" };
  const answer = await behind.post("/salt/login", logIn, named);
  assertEquals(answer.status, 200, JSON.stringify(answer.body));
  assertMatch(answer.headers.get("set-cookie") ?? "", /; Secure$/);
  // The prefix itself is the root, and outside of it there is nothing.
  const root = await fetch(behind.url("/salt"), { headers: named });
  assertEquals([root.status, (await root.json()).return], [200, "Welcome"]);
  assertEquals((await behind.post("/login", logIn, named)).status, 404);
  // The cookie's own site is the one that the browser sees.
  const cookie = { ...named, Cookie: `session_id=${answer.headers.get("x-auth-token")}` };
  assertEquals((await behind.post("/salt/", [], { ...cookie, Origin: "https://salt.example" })).status, 200);
  assertEquals((await behind.post("/salt/", [], { ...cookie, Origin: "http://salt.example" })).status, 403);
});

Deno.test("the client is the last address that no trusted proxy has", () => {
  const of = (headers: Record<string, string>) =>
    clientOrigin(new Headers(headers), { address: "10.0.0.1", isSecure: false }, ["10.0.0.1", "10.0.0.2"]).address;
  assertEquals(of({ "X-Forwarded-For": "6.6.6.6, 192.0.2.5, 10.0.0.2" }), "192.0.2.5");
  assertEquals(of({ "X-Forwarded-For": "192.0.2.5:4711" }), "192.0.2.5");
  assertEquals(of({ Forwarded: 'for="[2001:db8::7]:4711";proto=https, for=10.0.0.2' }), "2001:db8::7");
  assertEquals(of({ Forwarded: "for=unknown" }), "10.0.0.1");
  assertEquals(of({ "X-Forwarded-For": "<script>" }), "10.0.0.1");
  assertEquals(of({}), "10.0.0.1");
});
