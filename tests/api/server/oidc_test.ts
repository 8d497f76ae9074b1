/** Log-ins by a provider of OpenID Connect: `oidc-provider` in a process of its own, and everything that is wrong. */

import { apiMasterOptions, ApiSite } from "#tests/support/fleet/api_site.ts";
import { assert, assertEquals, assertMatch, assertNotEquals } from "#tests/support/assert.ts";
import { type Fleet, startFleet } from "#tests/support/fleet/fleet.ts";
import { BareBrowser, OidcServer } from "#tests/support/servers/oidc_server.ts";
import { sendRaw } from "#tests/support/raw_http.ts";
import { freePort } from "#scripts/fleet/free_port.ts";

const GROUPS = { alice: ["admins", "staff"], bob: ["staff"], eve: [], root: ["admins"], sudo_alice: ["admins"] };
const RULES = { "admins%": ["test.*", "@runner"], bob: ["test.ping"] };

/** A fleet, its API, and the provider of its users. */
class Desk implements AsyncDisposable {
  private constructor(
    readonly fleet: Fleet,
    readonly site: ApiSite,
    readonly provider: OidcServer,
    readonly callback: string,
    readonly stack: AsyncDisposableStack,
  ) {}

  /** @param section Options of `rest_cherrypy`. */
  static async start(
    options: Readonly<Record<string, unknown>> = {},
    section: Readonly<Record<string, unknown>> = {},
  ): Promise<Desk> {
    await using stack = new AsyncDisposableStack();
    const directory = Deno.makeTempDirSync({ prefix: "api_oidc_" });
    stack.defer(() => Deno.removeSync(directory, { recursive: true }));
    const port = freePort(), callback = `http://127.0.0.1:${port}/login/oidc/callback`;
    const provider = stack.use(new OidcServer(callback, GROUPS));
    await provider.start();
    const { external_auth, ...others } = apiMasterOptions(directory, { carol: ["test.*"] });
    const oidc = { ...provider.options, ...RULES, ...options };
    const fleet = stack.use(
      await startFleet({ master: { ...others, external_auth: { ...Object(external_auth), oidc } } }),
    );
    const site = stack.use(await ApiSite.start(fleet, { port, ...section }));
    return new Desk(fleet, site, provider, callback, stack.move());
  }

  /** Logs in at the provider; where it sends the browser back to. */
  async atProvider(browser: BareBrowser, name: string): Promise<string> {
    return await browser.logIn(name, { beginning: this.site.url("/login/oidc"), callback: this.callback });
  }

  /** The newest entry of the audit log: what, why, outcome, user. */
  audited(): Record<string, unknown> {
    const lines = Deno.readTextFileSync(`${this.fleet.masterOpts.cachedir}/api_audit.jsonl`).trimEnd().split("\n");
    return JSON.parse(lines[lines.length - 1]);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stack.disposeAsync();
  }
}

Deno.test("a user of a provider logs in, and has the rights of the name and of the groups", async () => {
  await using desk = await Desk.start();
  const { site } = desk;
  const browser = new BareBrowser();
  const back = await desk.atProvider(browser, "alice");
  const cookie = browser.cookies.get("oidc_log_in") ?? "";
  assertNotEquals(cookie, "");
  const asked = new URL(back);
  for (const secret of [asked.searchParams.get("state") ?? "", "alice"]) assert(!cookie.includes(secret), secret);

  const { status, text, headers } = await browser.go(back, { accept: "application/json" });
  assertEquals(status, 200, text);
  const [session] = JSON.parse(text).return;
  assertEquals([session.user, session.eauth, session.perms], ["alice", "oidc", ["@runner", "test.*"]]);
  // No longer than the ID token of the provider, which lasts an hour.
  assert(session.expire - session.start <= 3600 && session.expire - session.start > 3000, text);
  assertMatch(headers.get("cache-control") ?? "", /no-store/);
  assertEquals(browser.cookies.get("session_id"), session.token);
  const ran = await site.post("/", { client: "runner", fun: "test.arg", arg: [1] }, { "X-Auth-Token": session.token });
  assertEquals(ran.status, 200, JSON.stringify(ran.body));
  const wheel = await site.post("/", { client: "wheel", fun: "key.list_all" }, { "X-Auth-Token": session.token });
  assertEquals(wheel.status, 401);
  const { user, what, target, outcome } = desk.audited();
  assertEquals([user, what, target, outcome], ["alice", "wheel key.list_all", "", "refused"]);

  // A new log-in ends the session of the browser.
  const again = await desk.atProvider(browser, "alice");
  assertEquals((await browser.go(again)).status, 200);
  assertNotEquals(browser.cookies.get("session_id"), session.token);
  assertEquals((await site.post("/", [], { "X-Auth-Token": session.token })).status, 401);
});

Deno.test("a user without rules, without the right address or by password does not log in", async () => {
  await using desk = await Desk.start({}, { api_acl: { users: { bob: ["192.0.2.1"], "*": ["127.0.0.1"] } } });
  const refused = async (name: string) => {
    const browser = new BareBrowser();
    const { status, text } = await browser.go(await desk.atProvider(browser, name));
    assertEquals(browser.cookies.get("session_id"), undefined);
    return { status, text, ...desk.audited() };
  };
  const eve = await refused("eve");
  assertEquals([eve.status, "user" in eve && eve.user], [403, "eve"]);
  assertMatch(eve.text, /no rule of external_auth gives eve anything to do/);
  const bob = await refused("bob");
  assertEquals([bob.status, "target" in bob && bob.target], [403, "bob may not log in from 127.0.0.1"]);
  // Names that mean something else in external_auth.
  for (const name of ["*", "^issuer", "admins%"]) {
    const { status, text } = await refused(name);
    assertEquals(status, 401, text);
    assertMatch(text, /the claim preferred_username is no name of a user/);
  }
  // The jobs of users on the master's host are not those of whoever chooses their name.
  for (const name of ["root", "sudo_alice"]) {
    const { status, text } = await refused(name);
    assertEquals(status, 403, text);
    assertMatch(text, new RegExp(`${name} is a user of the master`));
  }
  const { status } = await desk.site.post("/login", { username: "alice", password: "any", eauth: "oidc" });
  assertEquals(status, 401);
});

Deno.test("a log-in by a provider ends in the browser that began it, once", async () => {
  await using desk = await Desk.start();
  const why = async (browser: BareBrowser, url: string, expected: RegExp) => {
    const { status, text, headers } = await browser.go(url);
    assertEquals(status, 401, text);
    assertMatch(text, expected);
    assertMatch(headers.get("content-security-policy") ?? "", /^default-src 'none'/);
    const { what, target, outcome, user } = desk.audited();
    assertEquals([what, outcome, user], ["log in by oidc", "refused", ""]);
    assertMatch(String(target), expected);
    assertEquals(browser.cookies.get("session_id"), undefined);
  };
  const victim = new BareBrowser(), thief = new BareBrowser();
  const back = await desk.atProvider(victim, "alice");
  // Whoever reads the address of the callback has no use for it.
  await why(thief, back, /it was not begun in this browser/);
  // Nor does the victim end a log-in that the thief has begun: it would be the thief's.
  const trap = await desk.atProvider(thief, "bob");
  await why(victim, trap, /its state is not that of the log-in that this browser has begun/);
  const wrong = new URL(back);
  wrong.searchParams.set("state", "x".repeat(43));
  await why(victim, wrong.href, /its state is not that/);
  wrong.searchParams.delete("state");
  await why(victim, wrong.href, /its state is not that/);
  // A changed cookie is none.
  const cookie = victim.cookies.get("oidc_log_in") ?? "";
  const changed = new BareBrowser();
  changed.cookies.set("oidc_log_in", cookie.slice(0, -2) + (cookie.endsWith("AA") ? "BB" : "AA"));
  await why(changed, back, /it was not begun in this browser/);
  // None of it has used up the log-in.
  const keeper = new BareBrowser();
  keeper.cookies.set("oidc_log_in", cookie);
  assertEquals((await victim.go(back)).status, 200);
  await why(keeper, back, /it has ended before, and comes again/);
  // Another process of the API has another key.
  await using other = await ApiSite.start(desk.fleet);
  const elsewhere = new URL(await desk.atProvider(keeper, "alice"));
  await why(keeper, other.url(`${elsewhere.pathname}${elsewhere.search}`), /it was not begun in this browser/);
});

Deno.test("a code that was used, and another provider's answer, are refused", async () => {
  await using desk = await Desk.start();
  const first = new BareBrowser(), second = new BareBrowser();
  const used = new URL(await desk.atProvider(first, "alice"));
  assertEquals((await first.go(used.href)).status, 200);
  const swap = async (name: string, value: string) => {
    const back = new URL(await desk.atProvider(second, "bob"));
    back.searchParams.set(name, value);
    const { status, text } = await second.go(back.href);
    assertEquals(status, 401, text);
    return text;
  };
  // The code of another log-in does not fit the verifier of this one either.
  assertMatch(await swap("code", used.searchParams.get("code") ?? ""), /does not take the code: invalid_grant/);
  assertMatch(await swap("code", "<b>made up</b>"), /does not take the code: invalid_grant/);
  assertMatch(await swap("iss", "https://id.example"), /answer is not as it must be: .*iss/);
  assertMatch(await swap("error", "access_denied"), /the provider has refused: access_denied/);
  const text = await swap("error", "<script>alert(1)</script>");
  assertMatch(text, /the provider has refused: no reason is given/);
  assert(!text.includes("<script"), text);
  assertEquals(second.cookies.get("session_id"), undefined);
});

Deno.test("an ID token that is not the provider's, for us, now and for this log-in is refused", async () => {
  await using desk = await Desk.start();
  const cases = {
    "alg none": /alg/,
    "alg HS256": /alg/,
    "another nonce": /nonce/,
    "another audience": /audience/,
    "another issuer": /issuer/,
    "expired": /expired/,
    "another key": /signature/,
    "another user": /signature/,
  } as const;
  for (const how of Object.keys(cases).filter((name): name is keyof typeof cases => name in cases)) {
    const browser = new BareBrowser();
    await desk.provider.alter(how);
    const { status, text } = await browser.go(await desk.atProvider(browser, "alice"));
    assertEquals(status, 401, `${how}: ${text}`);
    assertMatch(text, cases[how], how);
    assertMatch(String(desk.audited().target), cases[how], how);
    assertEquals(browser.cookies.get("session_id"), undefined, how);
    assertEquals(browser.cookies.get("oidc_log_in"), undefined, how);
  }
  const browser = new BareBrowser();
  await desk.provider.alter("nothing");
  assertEquals((await browser.go(await desk.atProvider(browser, "alice"))).status, 200);
  // The provider changes its key: it is fetched when it is first seen.
  await desk.provider.alter("a new key");
  const { status, text } = await browser.go(await desk.atProvider(browser, "alice"));
  assertEquals(status, 200, text);
});

Deno.test("a forged Host goes nowhere, and a provider that is away is said", async () => {
  await using desk = await Desk.start();
  const { site, provider } = desk;
  const ask = (headers: Record<string, string>, path = "/login/oidc") =>
    sendRaw({ port: site.server.port, method: "GET", path, headers });
  assertEquals((await ask({ Host: "evil.example" })).status, 421);
  const forged: Record<string, string>[] = [
    { Host: "localhost:1" },
    { "X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "https" },
  ];
  for (const headers of forged) {
    const { status, headers: answered } = await ask(headers);
    assertEquals(status, 302);
    const sent = new URL(answered.get("location") ?? "");
    assertEquals(sent.origin, provider.issuer);
    assertEquals(sent.searchParams.get("redirect_uri"), desk.callback);
    assertEquals(sent.searchParams.get("code_challenge_method"), "S256");
    assertMatch(answered.get("set-cookie") ?? "", /^oidc_log_in=[\w-]+; Max-Age=600; Path=\/; HttpOnly; SameSite=Lax$/);
  }
  const browser = new BareBrowser();
  const back = await desk.atProvider(browser, "alice");
  await provider.stop();
  const { status, text } = await browser.go(back);
  assertEquals(status, 503, text);
  assert(!text.includes(provider.issuer), text);
  assertEquals(desk.audited().outcome, "failed");
  assert(site.logs.some((line) => /oidc: the provider does not answer \/token/.test(line)), site.logs.join("\n"));
  // An API that has not found the provider yet.
  await using other = await ApiSite.start(desk.fleet, {});
  const away = await fetch(other.url("/login/oidc"), { redirect: "manual" });
  assertEquals(away.status, 503, await away.text());
  // It is back: nothing needs a restart.
  await provider.start();
  const later = await fetch(other.url("/login/oidc"), { redirect: "manual" });
  await later.body?.cancel();
  assertEquals(later.status, 302);
  assertEquals((await browser.go(await desk.atProvider(browser, "alice"))).status, 200);
});
