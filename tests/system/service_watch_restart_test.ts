/**
 * The common trap, with real processes: a highstate changes the minion's configuration, and `service.running: salt-minion` watches it.
 * @module
 */

import { ProcessFleet } from "../chaos/process_fleet.ts";
import { DENO_RUN } from "../../lib/process/self_command.ts";
import { isMap, map, repr, str, type Value } from "../../lib/values/value.ts";
import { toWireArgs } from "../../lib/yaml/arguments.ts";
import { assert, assertEquals } from "../support/assert.ts";
import { eventually } from "../support/eventually.ts";

const ID = "m00";

function result(returned: Value, id: string): Value | undefined {
  assert(isMap(returned), repr(returned));
  const found = [...returned].find(([tag]) => str(tag).split("_|-")[1] === id)?.[1];
  return isMap(found) ? found.get("result") : undefined;
}

Deno.test("service.running of salt-minion restarts it in the middle of a run, once, and the run goes on to its end", async () => {
  const bin = Deno.makeTempDirSync({ prefix: "watch_restart_" });
  const path = Deno.env.get("PATH") ?? "";
  Deno.env.set("PATH", `${bin}:${path}`);
  let next: number | undefined;
  try {
    await using fleet = await ProcessFleet.start({
      minions: 1,
      minion: { grains: { init: "systemd", systemd: { version: "252" } } },
    });
    const { root } = fleet;
    const srv = `${root}/master/srv/salt`;
    Deno.mkdirSync(srv, { recursive: true });
    fleet.configure("master", { file_roots: { base: [srv] } });
    await fleet.stopMaster();
    await fleet.startMaster();
    await fleet.allPresent();
    const start = [
      Deno.execPath(),
      ...DENO_RUN,
      new URL("../../minion.ts", import.meta.url).pathname,
      "-c",
      `${root}/${ID}/etc/salt`,
    ];
    const pid = fleet.minion(ID).pid;
    // What systemd does for `systemctl --no-block restart salt-minion`: it answers at once, and ends the minion a moment later.
    Deno.writeTextFileSync(
      `${bin}/restart`,
      `#!/bin/sh\nsleep 0.3\nkill ${pid}\nwhile kill -0 ${pid} 2> /dev/null; do sleep 0.05; done\nexec ${
        start.map((word) => `'${word}'`).join(" ")
      } -d\n`,
      { mode: 0o755 },
    );
    Deno.writeTextFileSync(
      `${bin}/systemctl`,
      `#!/bin/sh\necho "$*" >> ${bin}/calls\ncase "$*" in *restart*) setsid ${bin}/restart > ${bin}/log 2>&1 < /dev/null & ;; ` +
        `*) echo '     Loaded: loaded (/x)\n     Active: active' ;; esac\n`,
      { mode: 0o755 },
    );
    Deno.writeTextFileSync(
      `${bin}/systemd-run`,
      '#!/bin/sh\n[ "$1" = --scope ] && shift\nexec "$@"\n',
      { mode: 0o755 },
    );
    const high = {
      conf: { "file.managed": [{ name: `${root}/made.conf` }, { contents: "x: 1" }] },
      "salt-minion": { "service.running": [{ watch: [{ file: "conf" }] }] },
      slow: { "cmd.run": [{ name: `echo slow >> ${root}/ran; sleep 2` }, { require: [{ service: "salt-minion" }] }] },
      after: { "cmd.run": [{ name: `echo after >> ${root}/ran` }, { require: [{ cmd: "slow" }] }] },
    };
    Deno.writeTextFileSync(`${srv}/trap.sls`, `#!json\n${JSON.stringify(high)}\n`);
    const client = await fleet.client();
    const { jid } = await client.publish({
      tgt: ID,
      tgtType: "glob",
      fun: "state.apply",
      arg: toWireArgs(["trap"], map({})),
      kwargs: map({}),
    }).finally(() => client.close());
    const all = await eventually(() => fleet.jobs.getReturn(jid, ID)?.return, { what: "the return" }) ?? null;
    next = Number(Deno.readTextFileSync(`${root}/${ID}/var/run/salt-minion.pid`));
    assertEquals(Object.keys(high).map((id) => result(all, id)), [true, true, true, true], repr(all));
    assertEquals(Deno.readTextFileSync(`${root}/ran`), "slow\nafter\n");
    const calls = Deno.readTextFileSync(`${bin}/calls`).split("\n");
    assertEquals(calls.filter((call) => call.includes(" restart ")), ["--no-block restart salt-minion.service"]);
    assert(next !== pid, "the minion is another process");
  } finally {
    Deno.env.set("PATH", path);
    if (next !== undefined) Deno.kill(next, "SIGTERM");
    Deno.removeSync(bin, { recursive: true });
  }
});
