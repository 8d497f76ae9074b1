/** What the audit log and the metrics say, and what they do not. */

import { eventually } from "#tests/support/eventually.ts";
import { API_PASSWORD, apiMasterOptions, ApiSite } from "#tests/support/fleet/api_site.ts";
import { assert, assertEquals, assertMatch } from "#tests/support/assert.ts";
import { fleetTest } from "#tests/support/fleet/fleet.ts";

const directory = Deno.makeTempDirSync({ prefix: "api_audit_" });
globalThis.addEventListener("unload", () => Deno.removeSync(directory, { recursive: true }));

const master = apiMasterOptions(directory, { alice: ["test.*", "@wheel"], ops: ["test.*"] });

fleetTest(
  "who did what, without passwords, tokens, arguments and results",
  { master, minions: ["m1"] },
  async (fleet) => {
    await using site = await ApiSite.start(fleet);
    const alice = await site.logIn("alice");
    await site.post("/login", { username: "ops", password: "wrong-canary", eauth: "file" });
    const run = (body: unknown) => site.ask("POST", "/", { token: alice, body });
    await run([{ client: "local", tgt: "m1", fun: "test.echo", arg: ["argument-canary"] }]);
    await run([{ client: "local", tgt: "m1", fun: "cmd.run", arg: ["id"] }]);
    await run([{ client: "wheel", fun: "key.finger", match: "m*" }]);
    const made = await site.ask("POST", "/api/v1/tokens", { token: alice, body: { name: "n", days: 1 } });
    const { secret, token: { id } } = made.body as { secret: string; token: { id: string } };
    await site.ask("POST", "/", { token: secret, body: [{ client: "local", tgt: "m1", fun: "test.ping" }] });
    await site.ask("DELETE", `/api/v1/tokens/${id}`, { token: alice });
    await site.post("/logout", {}, { "X-Auth-Token": alice });

    const path = `${fleet.masterOpts.cachedir}/api_audit.jsonl`;
    const text = Deno.readTextFileSync(path);
    const rows = text.trimEnd().split("\n").map((line) => JSON.parse(line));
    const own = rows.map(({ user, what, target, count, outcome }) => [user, what, target, count, outcome]);
    assertEquals(own, [
      ["alice", "log in", "", null, "done"],
      ["ops", "log in", "", null, "refused"],
      ["alice", "local test.echo", "m1", 1, "done"],
      ["alice", "local cmd.run", "m1", null, "refused"],
      ["alice", "wheel key.finger", "m*", null, "done"],
      ["alice", "make token", id, null, "done"],
      ["alice", "local test.ping", "m1", 1, "done"],
      ["alice", "delete token", id, null, "done"],
      ["alice", "log out", "", null, "done"],
    ]);
    assertEquals(rows[6].token, id);
    assertMatch(rows[2].token, /^[0-9a-f]{16}$/);
    assertEquals(rows[2].token, rows[3].token);
    assertEquals(new Set(rows.map(({ from }) => from)), new Set(["127.0.0.1"]));
    for (const canary of [API_PASSWORD, "wrong-canary", "argument-canary", alice, secret]) {
      assert(
        !text.includes(canary),
        canary,
      );
    }

    const verified = await fleet.saltRun("audit.verify");
    assertEquals(verified.code, 0, verified.err);
    assertMatch(verified.out, /lines:\n\s+9/);
    Deno.writeTextFileSync(path, text.replace("local cmd.run", "local cmd.ran"));
    const broken = await fleet.saltRun("audit.verify");
    assert(broken.code !== 0);
    assertMatch(broken.out + broken.err, /Line 4 of /);
  },
);

fleetTest(
  "metrics for this host, a session and a token, with no ids in them",
  { master, minions: ["m1"] },
  async (fleet) => {
    await using site = await ApiSite.start(fleet, { metrics_token: "metrics-secret" });
    const read = async (headers: Record<string, string> = {}) => {
      const response = await fetch(site.url("/metrics"), { headers });
      return { status: response.status, text: await response.text() };
    };
    assertEquals((await read()).status, 200);
    const foreign = { "X-Forwarded-For": "192.0.2.7" };
    assertEquals((await read(foreign)).status, 401);
    assertEquals((await read({ ...foreign, Authorization: "Bearer guess" })).status, 401);
    assertEquals((await read({ ...foreign, Authorization: "Bearer metrics-secret" })).status, 200);
    const alice = await site.logIn("alice");
    await site.post("/login", { username: "ops", password: "wrong", eauth: "file" });
    await site.ask("POST", "/", { token: alice, body: [{ client: "local", tgt: "m1", fun: "test.ping" }] });
    await fetch(site.url(`/minions/m1/${"x".repeat(20)}`)).then((response) => response.body?.cancel());
    const own = { ...foreign, "X-Auth-Token": alice };
    const isCounted = async () => (await read(own)).text.includes('salt_job_returns_total{outcome="returned"} 1\n');
    // Returns are counted as their events come.
    await eventually(isCounted, { what: "a counted return" });
    const { status, text } = await read(own);
    assertEquals(status, 200);
    for (
      const line of [
        'salt_api_requests_total{route="/login",method="POST",status="200"} 1',
        'salt_api_requests_total{route="/login",method="POST",status="401"} 1',
        'salt_api_requests_total{route="",method="GET",status="404"} 1',
        'salt_api_request_duration_seconds_bucket{route="/",method="POST",status="200",le="+Inf"} 1',
        'salt_api_logins_total{result="refused"} 1',
        'salt_minion_keys{state="accepted"} 1',
        "salt_minions_connected 1",
        "salt_master_up 1",
        'salt_job_returns_total{outcome="returned"} 1',
      ]
    ) assert(text.includes(`${line}\n`), `${line}\n${text}`);
    for (const word of ["m1", "alice", "xxxx"]) assert(!text.includes(word), word);
    // Every line is one of the format.
    for (const line of text.trimEnd().split("\n")) {
      assertMatch(line, /^(# (HELP|TYPE) [a-z_]+ .+|[a-z_]+(\{[a-z]+="[^"]*"(,[a-z]+="[^"]*")*\})? [0-9.e+-]+)$/);
    }
  },
);
