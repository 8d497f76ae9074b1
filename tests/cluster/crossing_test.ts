/**
 * What passes between real masters over one database: a job of one reaches the minions of the other, and its returns,
 * events and presence come back.
 * @module
 */

import { readPeersPresence } from "#lib/fleet/presence_file.ts";
import { map } from "#lib/values/value.ts";
import { assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { answerOf, clusterTest } from "#tests/support/cluster/cluster_site.ts";

clusterTest(
  "a job published at either master reaches the minions of both, and each prints all returns",
  {},
  async ({ masters: [a, b] }) => {
    await a.untilServing(["web1"], () => a.startMinion("web1"));
    await b.untilServing(["web2"], () => b.startMinion("web2", { master: "127.0.0.2" }));
    for (const fleet of [a, b]) {
      await eventually(() => fleet.keys.list("accepted").length === 2, { what: "the keys of both" });
      assertEquals(await fleet.saltJson("*", "test.echo", "hello"), map({ web1: "hello", web2: "hello" }));
      await eventually(async () => String(await answerOf(fleet, "manage.present")) === "web1,web2", {
        what: "both are present",
      });
    }
    const { out } = await a.salt("web2", "test.ping", "--out=txt");
    assertStringIncludes(out, "web2: True");
  },
);

clusterTest(
  "with the database away a job reaches the minions of its own master, names the others, and reaches them when it is back",
  { master: { job_ttl: 300 } },
  async ({ masters: [a, b], server }) => {
    await a.untilServing(["web1"], () => a.startMinion("web1"));
    await b.untilServing(["web2"], () => b.startMinion("web2", { master: "127.0.0.2" }));
    await eventually(() => a.keys.list("accepted").length === 2, { what: "the keys of both" });
    await eventually(async () => String(await answerOf(a, "manage.present")) === "web1,web2", { what: "presence" });
    using events = await b.listen("salt/job/");
    await server.crash();
    await eventually(() => readPeersPresence(a.masterOpts.cachedir).away, { what: "the database is away" });
    const { code, out } = await a.salt("*", "test.echo", "away", "-t", "3", "--out=txt");
    assertStringIncludes(out, "web1: away");
    assertStringIncludes(out, "web2: Minion did not return. [Connected to another master; the database is away]");
    assertEquals(code, 1);
    await server.restart();
    await eventually(async () => {
      const event = await events.next(60_000);
      return event?.tag.endsWith("/ret/web2") && event.data.get("return") === "away";
    }, { what: "the return of the other's minion" });
  },
);

clusterTest(
  "a job that is ended at one master is ended for the minions of both that wait for their turn",
  { master: { flow: [{ fun: "cmd.run", running: 2 }] } },
  async ({ masters: [a, b] }) => {
    for (const id of ["web1", "web3"]) await a.untilServing([id], () => a.startMinion(id));
    for (const id of ["web2", "web4"]) {
      await b.untilServing([id], () => b.startMinion(id, { master: "127.0.0.2" }));
    }
    await eventually(async () => String(await answerOf(a, "manage.present")) === "web1,web2,web3,web4", {
      what: "presence",
    });
    const path = `${a.root}/begun`;
    Deno.writeTextFileSync(path, "");
    const begun = () => Deno.readTextFileSync(path).split("\n").length - 1;
    const { out } = await a.salt("--async", "*", "cmd.run", `echo x >> ${path}; sleep 60`);
    const jid = /\d{20}/.exec(out)?.[0] ?? "";
    await eventually(() => begun() === 2, { what: "a minion of each master" });
    assertEquals((await b.salt("*", "saltutil.kill_job", jid)).code, 0);
    await eventually(async () => {
      const found = JSON.parse((await a.saltRun("jobs.outcomes", jid, "--out=json")).out);
      const words = Object.values<{ outcome: string }>(found).map(({ outcome }) => outcome);
      return words.filter((word) => word === "cancelled").length === 2 && !words.includes("running");
    }, { what: "the outcomes", withinMs: 20_000 });
    assertEquals((await a.salt("-t", "30", "*", "cmd.run", "/bin/true")).code, 0);
    assertEquals(begun(), 2);
  },
);
