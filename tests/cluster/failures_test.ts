/**
 * Masters of a cluster as processes that are killed and stopped, over a database that goes away: no job is lost, none
 * runs twice, and every target is named.
 * @module
 */

import { dumpJson } from "#lib/values/json.ts";
import { parseJson } from "#lib/values/json_read.ts";
import { isMap, map, type Value } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { FAILOVER, ProcessMasters } from "#tests/chaos/harness/process_masters.ts";
import { serverProgram } from "#tests/support/database_servers.ts";
import { eventually } from "#tests/support/eventually.ts";
import type { Ran } from "#tests/support/processes.ts";

const missing = serverProgram("postgres") === undefined;
const named = (what: string) => missing ? `${what} (skipped: there is no postgres)` : what;

/** The lines of a directory's files: who ran what. */
function runs(directory: string): string[] {
  return [...Deno.readDirSync(directory)].flatMap(({ name }) =>
    Deno.readTextFileSync(`${directory}/${name}`).split("\n").filter((line) => line !== "").map((id) => `${name} ${id}`)
  ).sort();
}

function parsed({ out, err }: Ran): Value {
  if (out === "") throw new Error(err);
  return parseJson(out);
}

Deno.test({
  name: named("kill -9 of one master amid twelve jobs: none is lost, none runs twice, and the other knows all returns"),
  ignore: missing,
  async fn() {
    await using masters = await ProcessMasters.start();
    const [a, b] = masters.all, ids = ["m1", "m2", "m3", "m4"];
    await masters.startMinions(["m1", "m2"], [b, a], FAILOVER);
    await masters.startMinions(["m3", "m4"], [a, b], {});
    const directory = `${b.root}/ran`;
    Deno.mkdirSync(directory);
    const clients = [await a.client(), await b.client()];
    const publish = async (n: number) => {
      const command = `sleep 1; echo x >> ${directory}/${n}`;
      const job = { tgt: ids, tgtType: "list", fun: "cmd.run", arg: [command], kwargs: map({ job_ttl: 120 }) };
      return (await clients[n % 2].publish(job)).jid;
    };
    const jids: string[] = [];
    for (let n = 0; n < 8; n++) jids.push(await publish(n));
    await a.killMaster();
    clients[0].close();
    clients[0] = clients[1];
    for (let n = 8; n < 12; n++) jids.push(await publish(n));
    const returned = async (jid: string) => parsed(await b.salt("salt-run", "jobs.lookup_jid", jid, "--out=json"));
    for (const [n, jid] of jids.entries()) {
      await eventually(async () => {
        const found = await returned(jid);
        if (isMap(found) && found.size === ids.length) return true;
        throw new Error(`${jid} (${n}): ${dumpJson(found)}; ${runs(directory)}${masters.lastWords()}`);
      }, { what: `all returns of ${jid}`, withinMs: 45_000, everyMs: 1_000 });
    }
    const expected = Array.from({ length: 12 }, (_, n) => ids.map(() => `${n} x`)).flat().sort();
    assertEquals(runs(directory), expected);
    clients[1].close();
  },
});
