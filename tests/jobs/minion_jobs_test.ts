/** @module */
import { cacheMinionJob } from "#lib/jobs/minion_jobs.ts";
import { decode } from "#lib/values/msgpack.ts";
import { isMap, map } from "#lib/values/value.ts";
import { assert, assertEquals, assertMatch } from "#tests/support/assert.ts";
import { fleetTest } from "#tests/support/fleet/fleet.ts";
import { runOn, startJob } from "#tests/support/fleet/jobs.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const mode = (path: string) => ((Deno.statSync(path).mode ?? 0) & 0o777).toString(8);

fleetTest(
  "with cache_jobs a minion keeps a copy of each return",
  { minions: ["web1"], minion: { cache_jobs: true } },
  async (fleet) => {
    const { jid, done } = await startJob(fleet, "test.arg", { tgt: "web1", arg: ["one"] });
    await done;
    const directory = `${fleet.minionOpts("web1").cachedir}/minion_jobs`;
    assertEquals([mode(directory), mode(`${directory}/${jid}/return.p`)], ["700", "600"]);
    const kept = decode(Deno.readFileSync(`${directory}/${jid}/return.p`), "disk");
    assert(isMap(kept));
    const fields = ["jid", "fun", "fun_args", "success", "retcode", "cmd", "id"].map((name) => kept.get(name));
    assertEquals(fields, [jid, "test.arg", ["one"], true, 0, undefined, undefined]);
    assertEquals(await runOn(fleet, "web1", "saltutil.find_cached_job", jid), kept);

    const called = await fleet.saltCall("web1", "--metadata", "--out=json", "test.echo", "two");
    const shown: { local: { jid: string } } = JSON.parse(called.out);
    const copy = await runOn(fleet, "web1", "saltutil.find_cached_job", shown.local.jid);
    assert(isMap(copy), called.out);
    assertEquals(["return", "fun", "retcode"].map((name) => copy.get(name)), ["two", "test.echo", 0]);
  },
);

fleetTest("without cache_jobs it keeps none", { minions: ["web1"] }, async (fleet) => {
  await runOn(fleet, "web1", "test.ping");
  const names = Array.from(Deno.readDirSync(fleet.minionOpts("web1").cachedir), ({ name }) => name);
  assertEquals([names.includes("proc"), names.includes("minion_jobs")], [true, false]);
});

Deno.test("a copy that cannot be kept is a line of the log, and an id that is none leads nowhere", () =>
  withTemporaryDirectory((root) => {
    const { log, lines } = memoryLog();
    const cachedir = `${root}/cache`;
    cacheMinionJob("../../20261128044411235656", map({ return: 1 }), { cachedir, log });
    Deno.writeTextFileSync(cachedir, "");
    cacheMinionJob("20261128044411235656", map({ return: 1 }), { cachedir, log });
    assertEquals(Array.from(Deno.readDirSync(root), ({ name }) => name), ["cache"]);
    assertEquals(lines.length, 2);
    assertMatch(lines[0], /of job \.\.\/\.\.\/20261128044411235656 is not in the job cache .*its id is no job id/);
    assertMatch(lines[1], /of job 20261128044411235656 is not in the job cache of this minion \(cache_jobs\): /);
  }));
