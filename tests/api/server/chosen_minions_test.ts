/** `local_subset` and `local_batch`: a user learns by them of no minion that the rules do not reach. */

import { apiMasterOptions, ApiSite } from "#tests/support/fleet/api_site.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { fleetTest } from "#tests/support/fleet/fleet.ts";

const directory = Deno.makeTempDirSync({ prefix: "api_chosen_" });
globalThis.addEventListener("unload", () => Deno.removeSync(directory, { recursive: true }));

const master = apiMasterOptions(directory, {
  alice: [".*"],
  web: [{ "web*": ["test.ping"] }],
  nobody: ["@jobs"],
});

fleetTest("local_subset and local_batch tell nobody which minions there are, and publish nothing before", {
  master,
  minions: ["web1", "web2", "db1"],
}, async (fleet) => {
  await using site = await ApiSite.start(fleet);
  const tokens: Record<string, string> = {};
  for (const user of ["alice", "web", "nobody"]) tokens[user] = await site.logIn(user);
  using events = await fleet.listen("salt/job/");
  const ask = async (user: string, low: Record<string, unknown>) => {
    const { status, body } = await site.post("/", { fun: "test.ping", ...low }, { "X-Auth-Token": tokens[user] });
    if (status === 200) return body.return;
    const { message } = body.error as Record<string, unknown>;
    return `${status} ${message}`;
  };
  for (const client of ["local", "local_subset", "local_batch"]) {
    // A minion that is there, one that is not, and all: the same answer.
    const answers = [];
    for (const [user, tgt] of [["web", "db1"], ["web", "db9"], ["web", "*"], ["nobody", "web1"], ["nobody", "x9"]]) {
      answers.push(await ask(user, { client, tgt, subset: 1, batch: "1" }));
    }
    assertEquals([...new Set(answers)], ["401 Authorization error occurred."], client);
  }
  assertEquals(await events.next(0), undefined);
  assertEquals(await ask("web", { client: "local_batch", tgt: "web*", batch: "1" }), [{ web1: true }, { web2: true }]);
  assertEquals(await ask("web", { client: "local_subset", tgt: "web*", subset: 9 }), [{ web1: true, web2: true }]);
  assertEquals(await ask("alice", { client: "local_batch", tgt: "none" }), []);
  assertEquals(await ask("alice", { client: "local_subset", tgt: "none" }), [{}]);
});
