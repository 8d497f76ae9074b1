import { startupJob } from "../../lib/minion/startup_states.ts";
import { isMap, str, type Value } from "../../lib/values/value.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { WITHIN_MS } from "../support/eventually.ts";
import { fleetTest } from "../support/fleet/fleet.ts";
import { testOpts } from "../support/calls/job_context.ts";
import { jobStore } from "../support/fleet/job_store.ts";

const CALLS: readonly [Record<string, Value>, string | undefined, Value[]?][] = [
  [{}, undefined],
  [{ startup_states: "highstate" }, "state.highstate", []],
  [{ startup_states: "sls", sls_list: ["a", "b.c"] }, "state.sls", [["a", "b.c"]]],
  [{ startup_states: "top", top_file: "other.sls" }, "state.top", ["other.sls"]],
];

for (const [options, fun, arg] of CALLS) {
  Deno.test(`startup_states of ${JSON.stringify(options)} is ${fun ?? "nothing"}`, () => {
    const job = startupJob(testOpts(options));
    assertEquals([job?.get("fun"), job?.get("arg")], [fun, arg]);
  });
}

fleetTest("a minion applies its startup_states, and the master has the return as a job of its own", {
  minions: ["web1"],
}, async (fleet) => {
  const motd = `${fleet.root}/motd`;
  Deno.mkdirSync(`${fleet.root}/srv`, { recursive: true });
  Deno.writeTextFileSync(`${fleet.root}/srv/t.sls`, `${motd}:\n  file.managed:\n    - contents: hello\n`);
  await fleet.stopMinion("web1");
  using events = await fleet.listen("salt/job/");
  const returned = (async () => {
    for (let event; (event = await events.next()) !== undefined;) {
      if (event.data.get("fun") === "state.sls" && event.data.has("return")) return event.data;
    }
  })();
  await fleet.startMinion("web1", { startup_states: "sls", sls_list: ["t"] });
  const timer = setTimeout(() => events.close(), WITHIN_MS);
  const data = await returned;
  clearTimeout(timer);
  assertEquals([data?.get("id"), data?.get("success"), data?.get("fun_args")], ["web1", true, [["t"]]]);
  assertEquals(Deno.readTextFileSync(motd), "hello\n");
  const jid = str(data?.get("jid") ?? "");
  const { cachedir, hash_type } = fleet.masterOpts;
  const stored = jobStore(cachedir, { hashType: hash_type }).getReturn(jid, "web1")?.return;
  assert(isMap(stored) && stored.has(`file_|-${motd}_|-${motd}_|-managed`));
  const notes = [...Deno.readDirSync(`${fleet.minionConfigDir("web1")}/var/cache/salt/minion/proc`)];
  assertEquals(notes.map(({ name }) => name), []);
});
