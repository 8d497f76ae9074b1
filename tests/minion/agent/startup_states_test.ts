import { startupJob } from "#lib/minion/agent/startup_states.ts";
import { isMap, str, type Value } from "#lib/values/value.ts";
import { lexistsOrThrow } from "#lib/os/file_kind.ts";
import { assert, assertEquals, assertMatch } from "#tests/support/assert.ts";
import { eventually, WITHIN_MS } from "#tests/support/eventually.ts";
import { fleetTest } from "#tests/support/fleet/fleet.ts";
import { testOpts } from "#tests/support/calls/job_context.ts";
import { jobStore } from "#tests/support/fleet/job_store.ts";

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

fleetTest(
  "with master_type: disable a minion applies its startup_states, and looks for no master",
  {},
  async (fleet) => {
    const roots = `${fleet.root}/local`, motd = `${fleet.root}/motd`;
    Deno.mkdirSync(`${roots}/pillar`, { recursive: true });
    Deno.writeTextFileSync(`${roots}/pillar/top.sls`, "base: {'*': [a]}\n");
    Deno.writeTextFileSync(`${roots}/pillar/a.sls`, "greeting: hello\n");
    Deno.writeTextFileSync(
      `${roots}/t.sls`,
      `${motd}:\n  file.managed:\n    - contents: {{ pillar.greeting }}\n    - fire_event: true\n`,
    );
    const startup = { startup_states: "sls", sls_list: ["t"], master_type: "disable" };
    const local = { file_client: "local", file_roots: { base: [roots] }, pillar_roots: { base: [`${roots}/pillar`] } };
    const minion = await fleet.startMinion("web1", { ...startup, ...local });
    await eventually(() => lexistsOrThrow(motd), { what: "the file of the startup states" });
    await eventually(() => fleet.logs.some((line) => line.includes("state.sls ended with return code 0")), {
      what: "the end of the job",
    });
    assertEquals(Deno.readTextFileSync(motd), "hello\n");
    assertEquals(await minion.fireMaster(new Map([["tag", "t"]])), false);
    assertMatch((await minion.describeThreads())[0], /^Main: without a master/);
    await fleet.stopMinion("web1");
    await minion.closed;
    // It has not even made a key.
    assertEquals(lexistsOrThrow(`${fleet.minionOpts("web1").pki_dir}/minion.pem`), false);
  },
);

fleetTest("with master_type: disable and files of a master startup_states are skipped", {}, async (fleet) => {
  await fleet.startMinion("web1", { startup_states: "highstate", master_type: "disable" });
  await eventually(() => fleet.logs.some((line) => line.includes("Cannot run startup_states")), {
    what: "the warning",
  });
  await fleet.stopMinion("web1");
});
