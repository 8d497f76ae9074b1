/**
 * A common problem, with real processes: a highstate changes the minion's configuration, and `service.running:
 * salt-minion` watches it.
 * @module
 */

import { ProcessFleet } from "#tests/chaos/harness/process_fleet.ts";
import { repr } from "#lib/values/value.ts";
import { serveStates, startApply, untilReturned } from "#tests/chaos/harness/applied_states.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { fieldOf } from "#tests/support/calls/returned_states.ts";

const ID = "m00";

Deno.test("service.running of salt-minion restarts the minion once during a run, and the run continues to its end", async () => {
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
    const pid = fleet.minion(ID).pid;
    // Like `systemctl --no-block restart salt-minion`: returns at once, and ends the minion a moment later.
    Deno.writeTextFileSync(
      `${bin}/restart`,
      `#!/bin/sh\nsleep 0.3\nkill ${pid}\nwhile kill -0 ${pid} 2> /dev/null; do sleep 0.05; done\nexec ${
        fleet.startWords(ID).map((word) => `'${word}'`).join(" ")
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
    serveStates(fleet, "trap", high);
    const all = await untilReturned(fleet, ID, await startApply(fleet, ID, "trap"));
    next = Number(Deno.readTextFileSync(`${root}/${ID}/var/run/salt-minion.pid`));
    assertEquals(fieldOf(all, Object.keys(high), "result"), [true, true, true, true], repr(all));
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
