/** Jobs: started once for a key, listed by filters, followed and stopped; each user sees own jobs alone. */

import { apiMasterOptions } from "#tests/support/fleet/api_site.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { DocumentedSite } from "#tests/support/fleet/documented_site.ts";
import { eventually } from "#tests/support/eventually.ts";
import { fleetTest } from "#tests/support/fleet/fleet.ts";

const directory = Deno.makeTempDirSync({ prefix: "api_jobs_" });
globalThis.addEventListener("unload", () => Deno.removeSync(directory, { recursive: true }));

const master = apiMasterOptions(directory, {
  alice: [".*", "@runner", "@wheel"],
  ops: ["test.*", "saltutil.kill_job"],
  weak: ["test.*"],
});

type Row = Record<string, unknown>;

fleetTest(
  "jobs are started, listed by filters, and shown to whom they belong",
  { master, minions: ["m1", "m2"] },
  async (fleet) => {
    await using site = await DocumentedSite.start(fleet);
    const [alice, ops] = [await site.logIn("alice"), await site.logIn("ops")];
    const start = async (token: string, body: unknown) => await site.ask("POST", "/api/v1/jobs", { token, body });
    const jid = async (token: string, body: unknown) => String((await start(token, body)).body.jid);
    const echo = await jid(ops, { tgt: "*", fun: "test.echo", arg: ["needle in arguments"] });
    const retcode = await jid(alice, { tgt: "m1", fun: "test.retcode", kwarg: { code: 3 } });
    const whoami = await jid(alice, { tgt: "m1", fun: "cmd.run", arg: ["printf 'hay%s' stack"] });
    assertEquals((await start(ops, { tgt: "*", fun: "cmd.run", arg: ["id"] })).status, 401);
    assertEquals((await start(ops, { tgt: "nobody", fun: "test.ping" })).status, 404);
    for (const body of [{ tgt: "*" }, { fun: "test.ping" }, { tgt: "*", fun: "test.ping", client: "runner" }, []]) {
      assertEquals((await start(alice, body)).status, 400, JSON.stringify(body));
    }

    const list = async (token: string, query: string) => {
      const { status, body } = await site.ask("GET", `/api/v1/jobs${query}`, { token });
      assertEquals(status, 200, JSON.stringify(body));
      return (body.jobs as Row[]).map(({ jid }) => jid);
    };
    await eventually(async () => (await list(alice, "?outcome=running")).length === 0, {
      what: "the end of all jobs",
      withinMs: 30_000,
    });
    const all = [whoami, retcode, echo];
    assertEquals(await list(alice, ""), all);
    assertEquals(await list(ops, ""), [echo]);
    assertEquals(await list(alice, "?user=ops"), [echo]);
    assertEquals(await list(alice, "?fun=cmd.*"), [whoami]);
    assertEquals(await list(alice, "?outcome=failed"), [retcode]);
    assertEquals(await list(alice, "?outcome=returned"), [whoami, echo]);
    assertEquals(await list(alice, "?search=NEEDLE"), [echo]);
    assertEquals(await list(alice, "?output=haystack"), [whoami]);
    assertEquals(await list(ops, "?output=haystack"), []);
    assertEquals(await list(alice, `?since=${retcode}`), [whoami, retcode]);
    assertEquals(await list(alice, `?until=${retcode}`), [retcode, echo]);
    assertEquals(await list(alice, `?limit=1&after=${whoami}`), [retcode]);
    // A page of a search ends when it is full, and the next one goes on behind it.
    const search = async (query: string) => {
      const { body } = await site.ask("GET", `/api/v1/jobs?output=a&limit=1${query}`, { token: alice });
      return [(body.jobs as Row[]).map(({ jid }) => jid), body.next];
    };
    assertEquals(await search(""), [[whoami], whoami]);
    assertEquals(await search(`&after=${whoami}`), [[echo], null]);
    for (const query of ["?outcome=x", "?since=yesterdayish"]) {
      assertEquals((await site.ask("GET", `/api/v1/jobs${query}`, { token: alice })).status, 400, query);
    }

    const show = async (token: string, jid: string) => await site.ask("GET", `/api/v1/jobs/${jid}`, { token });
    const shown = (await show(ops, echo)).body;
    assertEquals([shown.fun, shown.user, shown.total, shown.outcomes], ["test.echo", "ops", 2, { returned: 2 }]);
    const [m1] = shown.minions as Row[];
    assertEquals([m1.id, m1.outcome, m1.return], ["m1", "returned", "needle in arguments"]);
    const pageOf = async (query: string) => {
      const { body } = await show(ops, `${echo}${query}`);
      return [(body.minions as Row[]).map(({ id }) => id), body.next, body.total];
    };
    assertEquals(await pageOf("?limit=1"), [["m1"], "m1", 2]);
    assertEquals(await pageOf("?limit=1&after=m1"), [["m2"], null, 2]);
    assertEquals((await show(alice, retcode)).body.outcomes, { failed: 1 });
    assertEquals((await show(ops, retcode)).status, 404);
    assertEquals((await site.ask("GET", `/api/v1/jobs/${retcode}/output`, { token: ops })).status, 404);
    assertEquals((await show(alice, "20000101000000000000")).status, 404);
    assertEquals((await show(alice, "..%2f..%2fetc")).status, 404);

    // The output of a watched job, piece by piece.
    const live = { client: "local_async", tgt: "m1", fun: "cmd.run", arg: ["echo one; echo two >&2"], live: true };
    const watched = (await site.post("/", live, { "X-Auth-Token": alice })).body.return as Row[];
    const read = async (query: string, token = alice) =>
      await site.ask("GET", `/api/v1/jobs/${watched[0].jid}/output${query}`, { token });
    const texts: unknown[] = [];
    let after: unknown = 0;
    await eventually(async () => {
      const { body } = await read(`?minion=m1&after=${after}`);
      texts.push(...body.output as Row[]);
      after = body.after;
      return texts.length >= 2;
    }, { what: "both lines", withinMs: 30_000 });
    const [out, err] = ["stdout", "stderr"].map((name) => (texts as Row[]).filter(({ stream }) => stream === name));
    assertEquals([out, err], [
      [{ command: 1, stream: "stdout", text: "one\n" }],
      [{ command: 1, stream: "stderr", text: "two\n" }],
    ]);
    assertEquals((await read(`?minion=m1&after=${after}`)).body, { minions: ["m1"], output: [], after });
    for (const query of ["", "?minion=m2", "?minion=..%2fm1"]) {
      assertEquals((await read(query)).body, { minions: ["m1"], output: [], after: 0 }, query);
    }
    assertEquals([(await read("?after=x")).status, (await read("", ops)).status], [400, 404]);
    await eventually(async () => (await list(alice, "?outcome=running")).length === 0, {
      what: "the end of the watched job",
      withinMs: 30_000,
    });

    // What the index was told by events is what it reads from the cache.
    await using later = await DocumentedSite.start(fleet);
    const again = (await later.ask("GET", "/api/v1/jobs", { token: alice })).body.jobs;
    assertEquals(again, (await site.ask("GET", "/api/v1/jobs", { token: alice })).body.jobs);
  },
);

fleetTest(
  "the same Idempotency-Key answers the same job, also after a restart",
  { master, minions: ["m1"] },
  async (fleet) => {
    const body = { tgt: "m1", fun: "test.ping" };
    const send = async (site: DocumentedSite, token: string, key: string, what: unknown = body) =>
      await site.ask("POST", "/api/v1/jobs", { token, body: what, headers: { "Idempotency-Key": key } });
    let jid: unknown, token: string;
    {
      await using site = await DocumentedSite.start(fleet);
      token = await site.logIn("ops");
      const answers = await Promise.all([1, 2, 3].map(() => send(site, token, "one")));
      jid = answers[0].body.jid;
      assertEquals(answers.map((answer) => [answer.status, answer.body.jid]), Array(3).fill([202, jid]));
      assertEquals((await send(site, token, "one", { tgt: "m1", fun: "test.version" })).status, 409);
      // A key is a user's own, and a refusal is no job.
      assert((await send(site, await site.logIn("alice"), "one")).body.jid !== jid);
      assertEquals((await send(site, token, "two", { tgt: "m1", fun: "cmd.run" })).status, 401);
      assertEquals((await send(site, token, "two")).status, 202);
      assertEquals((await send(site, token, "x".repeat(256))).status, 400);
    }
    await using site = await DocumentedSite.start(fleet);
    assertEquals((await send(site, token, "one")).body.jid, jid);
    const jobs = (await site.ask("GET", "/api/v1/jobs", { token })).body.jobs as Row[];
    assertEquals(jobs.length, 2);
  },
);

fleetTest("a job is stopped by who may, where it still runs", { master, minions: ["m1"] }, async (fleet) => {
  await using site = await DocumentedSite.start(fleet);
  const [ops, weak] = [await site.logIn("ops"), await site.logIn("weak")];
  const body = { tgt: "m1", fun: "test.sleep", arg: [60] };
  const started = async (token: string) => String((await site.ask("POST", "/api/v1/jobs", { token, body })).body.jid);
  const [own, others] = [await started(ops), await started(weak)];
  const outcome = async (jid: string, token: string) =>
    ((await site.ask("GET", `/api/v1/jobs/${jid}`, { token })).body.minions as Row[])[0].outcome;
  await eventually(async () => await outcome(own, ops) === "running" && await outcome(others, weak) === "running", {
    what: "both jobs to run",
    withinMs: 30_000,
  });
  assertEquals((await site.ask("DELETE", `/api/v1/jobs/${others}`, { token: ops })).status, 404);
  assertEquals((await site.ask("DELETE", `/api/v1/jobs/${others}`, { token: weak })).status, 401);
  const stopped = await site.ask("DELETE", `/api/v1/jobs/${own}`, { token: ops });
  assertEquals([stopped.status, stopped.body.stopping], [202, ["m1"]]);
  await eventually(async () => await outcome(own, ops) !== "running", { what: "the stop", withinMs: 30_000 });
  assertEquals(await outcome(others, weak), "running");
  const again = await site.ask("DELETE", `/api/v1/jobs/${own}`, { token: ops });
  assertEquals([again.status, again.body.by], [202, null]);
  const alice = await site.logIn("alice");
  await site.ask("DELETE", `/api/v1/jobs/${others}`, { token: alice });
});
