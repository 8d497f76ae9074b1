/**
 * Jobs that restart the minion that runs them, with real processes: a common problem, in which a highstate changes the
 * minion's configuration, and `service.running: salt-minion` watches it; and `minion.restart`.
 * @module
 */

import { ProcessFleet } from "#tests/chaos/harness/process_fleet.ts";
import { exists } from "#lib/os/file_kind.ts";
import { repr } from "#lib/values/value.ts";
import { serveStates, startApply, untilReturned } from "#tests/chaos/harness/applied_states.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";
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

Deno.test("minion.restart returns, ends the minion, and then runs minion_restart_command", () =>
  withTemporaryDirectory(async (root) => {
    const next = `${root}/a 'name`;
    await using fleet = await ProcessFleet.start({ minions: 1, minion: { minion_restart_command: ["touch", next] } });
    const { pid } = fleet.minion(ID);
    const { code, out, err } = await fleet.salt("salt", "--out=json", ID, "minion.restart", "systemd=False");
    assertEquals(code, 0, err);
    const { [ID]: returned } = JSON.parse(out);
    assertEquals(returned, {
      killed: pid,
      restart: {},
      service_restart: {},
      retcode: 0,
      comment: ["Using configuration minion_restart_command:", "    touch", `    ${next}`],
    });
    await eventually(() => exists(next), { what: "the command after the minion's end" });
    assertEquals(exists(`/proc/${pid}`), false);
  }));
