/**
 * A minion with a list of masters, all of which it serves.
 * @module
 */

import { fireEvent } from "#lib/bus/fire.ts";
import { minionBus } from "#lib/bus/paths.ts";
import { jobStore } from "#tests/support/fleet/job_store.ts";
import { runJob, startJob } from "#tests/support/fleet/jobs.ts";
import { mastersTest, untilLogged } from "#tests/support/fleet/masters.ts";
import { type Fleet, untilKey } from "#tests/support/fleet/fleet.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { map } from "#lib/values/value.ts";

function returnOf(fleet: Fleet, jid: string, id = "web1") {
  const { cachedir, hash_type } = fleet.masterOpts;
  return jobStore(cachedir, { hashType: hash_type }).getReturn(jid, id)?.return;
}

function write(fleet: Fleet, path: string, text: string): void {
  const full = `${fleet.root}/${path}`;
  Deno.mkdirSync(full.replace(/\/[^/]*$/, ""), { recursive: true });
  Deno.writeTextFileSync(full, text);
}

mastersTest("each master gives jobs, and gets their returns, and no other", 2, {}, async (site) => {
  const [a, b] = site.fleets;
  await site.serve("web1");
  for (const [own, other] of [[a, b], [b, a]]) {
    const { jid } = await startJob(own, "test.echo", { arg: ["hello"] });
    await eventually(() => returnOf(own, jid) === "hello", { what: "the return" });
    assertEquals(returnOf(other, jid), undefined);
  }
});

mastersTest("files of a job are those of its master, and the options name that master", 2, {}, async (site) => {
  for (const [name, fleet] of site.fleets.map((fleet, i) => ["AB"[i], fleet] as const)) {
    write(fleet, "srv/which.txt", name);
  }
  await site.serve("web1");
  for (const [i, fleet] of site.fleets.entries()) {
    const texts = await runJob(fleet, "cp.get_file_str", { arg: ["salt://which.txt"] });
    assertEquals(texts.get("web1"), "AB"[i]);
    const port = await runJob(fleet, "config.get", { arg: ["master_port"] });
    assertEquals(port.get("web1"), fleet.masterOpts.ret_port);
  }
});

mastersTest(
  "a master that is away at the start does not keep the minion from the others, and joins later",
  2,
  {},
  async (
    site,
  ) => {
    const [a, b] = site.fleets;
    await a.stopMaster();
    await site.serve("web1", {}, [b]);
    assertEquals((await runJob(b, "test.ping")).get("web1"), true);
    await a.startMaster();
    await untilLogged(site, `Signed in to the master at tcp://${site.list[0]}`);
    await eventually(async () => (await a.salt("web1", "test.ping", "-t", "5")).out.includes("True"), {
      what: "a return",
    });
  },
);

mastersTest("a return waits for its master, while the other one is served", 2, {}, async (site) => {
  const [a, b] = site.fleets, path = `${a.root}/go`;
  await site.serve("web1");
  const { jid } = await startJob(b, "cmd.run", {
    arg: [`for _ in $(seq 1500); do [ -e ${path} ] && break; sleep 0.02; done; echo late`],
    kwargs: { python_shell: true },
    signal: AbortSignal.abort(),
  });
  await eventually(async () => (await runJob(a, "saltutil.find_job", { arg: [jid] })).get("web1") instanceof Map, {
    what: "the job of the other master",
  });
  await b.stopMaster();
  Deno.writeTextFileSync(path, "");
  await untilLogged(site, `Returning information for job: ${jid}`);
  assertEquals((await runJob(a, "test.ping")).get("web1"), true);
  assertEquals(returnOf(a, jid), undefined);
  await b.startMaster();
  await eventually(() => returnOf(b, jid) === "late", { what: "the return at the master that asked" });
});

mastersTest("a job id that two masters publish runs once, for the first", 2, {}, async (site) => {
  const [a, b] = site.fleets, path = `${a.root}/runs`;
  await site.serve("web1");
  const { jid } = await startJob(a, "cmd.run", { arg: [`echo run >> ${path}`], kwargs: { python_shell: true } });
  await eventually(() => returnOf(a, jid) !== undefined, { what: "the first return" });
  await startJob(b, "cmd.run", {
    arg: [`echo run >> ${path}`],
    kwargs: { python_shell: true },
    jid,
    signal: AbortSignal.abort(),
  });
  await untilLogged(site, `Job ${jid} came again; it is run once`);
  assertEquals(Deno.readTextFileSync(path), "run\n");
});

mastersTest("events and the mine go to every master that is connected", 2, {}, async (site) => {
  const [a, b] = site.fleets;
  await site.serve("web1");
  using atA = await a.listen("my/tag"), atB = await b.listen("my/tag");
  const sent = await runJob(b, "event.send", { arg: ["my/tag", map({ n: 1 })] });
  assertEquals(sent.get("web1"), true);
  for (const events of [atA, atB]) assertEquals((await events.next(20_000))?.tag, "my/tag");
  await runJob(a, "mine.send", { arg: ["test.ping"] });
  for (const fleet of [a, b]) {
    const mine = await runJob(fleet, "mine.get", { arg: ["web1", "test.ping"] });
    assertEquals(mine.get("web1"), map({ web1: true }));
  }
});

mastersTest(
  "a master with another key is refused, and the others are served",
  2,
  { sharesKey: false },
  async (site) => {
    const [a, b] = site.fleets;
    await site.startMinion("web1");
    await untilLogged(
      site,
      /The master 127\.0\.0\.1:\d+ is not served, and tried again in 0.2 seconds: The master's key/,
    );
    const served = await Promise.all([a, b].map(async (fleet) => {
      const got = await fleet.salt("web1", "test.ping", "-t", "3");
      return got.out.includes("True");
    }));
    assertEquals(served.filter(Boolean).length, 1);
  },
);

mastersTest(
  "a master that refuses an event is left out, and serves again, also if no other one is there",
  2,
  {},
  async (site) => {
    const [a, b] = site.fleets;
    await site.serve("web1");
    await b.stopMaster();
    assertEquals((await a.saltKey("--reject", "web1", "--include-accepted", "--yes")).code, 0);
    await untilKey(a, "web1", "rejected");
    await fireEvent(minionBus(a.minionOpts("web1")), "fire_master", map({ tag: "my/tag", data: map({ n: 1 }) }));
    await untilLogged(site, `The master ${site.list[0]} is not served any more: `);
    await a.untilServing(["web1"], () => a.saltKey("--accept", "web1", "--include-rejected", "--yes"));
    assertEquals((await runJob(a, "test.ping")).get("web1"), true);
  },
);

mastersTest("an entry of the list with a slip is named, and the others are served", 1, {}, async (site) => {
  await site.serve("web1", { master: ["bad host", ...site.list] });
  assertEquals((await runJob(site.fleets[0], "test.ping")).get("web1"), true);
});

mastersTest("returns for a master that left the list go to one that is there", 2, {}, async (site) => {
  const [a, b] = site.fleets;
  await site.serve("web1");
  const { jid } = await startJob(b, "test.sleep", { arg: [2], signal: AbortSignal.abort() });
  await untilLogged(site, new RegExp(`web1: .*Job ${jid}, test.sleep`));
  await b.stopMaster();
  await untilLogged(site, `Returning information for job: ${jid}`);
  await a.stopMinion("web1");
  using events = await a.listen(`salt/job/${jid}/ret/`);
  await site.startMinion("web1", { master: [site.list[0]] });
  assert((await events.next(30_000)) !== undefined, "the return came to no master");
});
