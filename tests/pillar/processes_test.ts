import { decode } from "#lib/values/msgpack.ts";
import { packOpts } from "#lib/config/opts_transfer.ts";
import { packPillarRequest, plainRequest } from "#lib/pillar/request.ts";
import { loadMasterConfig } from "#lib/config/load.ts";
import { PillarProcesses } from "#lib/pillar/processes.ts";
import type { PillarReplyMessage } from "#lib/pillar/messages.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { startedProcess } from "#lib/procfs/process_facts.ts";
import { exists } from "#lib/os/file_kind.ts";
import { TimeBudget } from "#lib/os/time_budget.ts";
import { map, repr } from "#lib/values/value.ts";
import { assertEquals, assertStringIncludes, assertThrows } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

// Each pass takes so long that the time is over before the limit of a template's steps is reached.
const LOOP = "{% for i in range(90000) %}{% for j in range(90000) %}{% set x = 'xy' * 50000 %}{% endfor %}{% endfor %}";

/** The pillar processes of a master whose only pillar file is `sls`. */
async function withProcesses(
  sls: string,
  act: (
    ask: (id: string, pillarenv?: string) => Promise<string>,
    close: (ms?: number) => Promise<void>,
    logged: readonly string[],
  ) => Promise<void>,
  { command, extension, count = 1 }: {
    readonly command?: readonly string[];
    readonly extension?: string;
    readonly count?: number;
  } = {},
): Promise<void> {
  const root = Deno.makeTempDirSync({ prefix: "pillar_processes_" });
  Deno.writeTextFileSync(`${root}/top.sls`, "base:\n  '*': [a]\n");
  Deno.writeTextFileSync(`${root}/a.sls`, sls);
  if (extension !== undefined) {
    Deno.mkdirSync(`${root}/ext/pillar`, { recursive: true });
    Deno.writeTextFileSync(`${root}/ext/pillar/own.js`, extension);
  }
  const overrides = {
    root_dir: root,
    id: "m_master",
    pillar_roots: map({ base: [root] }),
    ...extension !== undefined && { extension_modules: `${root}/ext`, ext_pillar: [map({ own: {} })] },
  };
  const { opts } = loadMasterConfig({ configDir: root, readsFiles: false, overrides });
  Deno.mkdirSync(opts.cachedir, { recursive: true });
  const logged: string[] = [];
  const processes = new PillarProcesses({
    opts: packOpts("master", opts),
    processes: count,
    timeoutMs: 3_000,
    log: { ...SILENT_LOGGER, error: (text) => void logged.push(typeof text === "string" ? text : text()) },
    command,
  });
  let keys = 0;
  const ask = async (id: string, pillarenv: string | null = null) => {
    const { promise, resolve } = Promise.withResolvers<PillarReplyMessage>();
    const request = packPillarRequest(plainRequest(id, map({ os: "Debian" }), { pillarenv }));
    processes.take({ kind: "pillar", key: String(keys++), id, request }, resolve);
    const { state, pillar } = await promise;
    return state === "compiled" ? repr(decode(pillar, "wire")) : state;
  };
  try {
    await act(ask, (ms = 5_000) => processes.close(new TimeBudget(ms)), logged);
  } finally {
    await processes.close(new TimeBudget(5_000));
    Deno.removeSync(root, { recursive: true });
  }
}

Deno.test("an endless template is terminated with its process, the reply is an error, and the next request is served", async () => {
  await withProcesses(`{% if grains.id == 'bad' %}${LOOP}{% endif %}id: {{ grains.id }}\n`, async (ask) => {
    const [bad, good, same, again] = await Promise.all([ask("bad"), ask("good"), ask("good"), ask("other")]);
    assertStringIncludes(bad, "The pillar of bad cannot be compiled: it takes more than 3 seconds (pillar_timeout)");
    assertEquals([good, same, again], ["{'id': 'good'}", "{'id': 'good'}", "{'id': 'other'}"]);
  });
});

Deno.test("a command of a pillar ends with the process that is terminated", () =>
  withTemporaryDirectory(async (directory) => {
    const file = `${directory}/pid`;
    const command = `echo $$ > ${file}; exec sleep 600`;
    await withProcesses(
      `{% if grains.id == 'bad' %}x: {{ salt['cmd.run']('${command}', python_shell=True) }}{% endif %}\nn: 1\n`,
      async (ask, close) => {
        const gone = async () => {
          const pid = Number(Deno.readTextFileSync(file));
          await eventually(() => startedProcess(pid) === undefined, { what: "the end of the command" });
          Deno.removeSync(file);
        };
        assertStringIncludes(await ask("bad"), "(pillar_timeout)");
        await gone();
        const running = ask("bad");
        await eventually(() => exists(file) && Deno.readTextFileSync(file) !== "", { what: "the command" });
        await close();
        assertEquals(await running, "lost");
        await gone();
      },
    );
  }));

Deno.test("a minion whose pillars take long has one process, and its further requests come after those of others", async () => {
  await withProcesses(`{% if grains.id == 'bad' %}${LOOP}{% endif %}id: {{ grains.id }}\n`, async (ask) => {
    const order: string[] = [];
    const note = async (id: string, env?: string) => {
      await ask(id, env);
      order.push(id);
    };
    const bad = ["base", undefined].map((env) => note("bad", env));
    await Promise.all(["web1", "web2"].map((id) => note(id)));
    assertEquals(order, ["web1", "web2"]);
    await Promise.all(bad);
  }, { count: 2 });
  await withProcesses(`{% if grains.id == 'bad' %}${LOOP}{% endif %}id: {{ grains.id }}\n`, async (ask) => {
    const order: string[] = [];
    const all = ["bad", "bad", "web1"].map(async (id, i) => {
      await ask(id, ["base", undefined][i]);
      order.push(id);
    });
    await Promise.all(all);
    assertEquals(order, ["bad", "web1", "bad"]);
  });
});

Deno.test("the waiting pillar requests of a minion are limited, and are answered when the master ends", async () => {
  await withProcesses(LOOP, async (ask, close) => {
    const running = ask("first");
    const waiting = ["a", "b", "c", "d"].map((env) => ask("second", env));
    assertEquals(await ask("second", "e"), "full");
    const same = ask("second", "a");
    await close();
    assertEquals(await Promise.all([...waiting, same]), Array(5).fill("lost"));
    assertEquals([await running, await ask("third")], ["lost", "lost"]);
  });
});

Deno.test("a compiler that fails with a pillar reports it to the minion, and continues", async () => {
  const server = new URL("../support/fleet/failing_pillar_server.ts", import.meta.url).pathname;
  await withProcesses("", async (ask) => {
    for (const id of ["web1", "web2"]) {
      assertEquals(await ask(id), `{'_errors': ['The pillar of ${id} cannot be compiled: own words']}`);
    }
  }, { command: [Deno.execPath(), "run", "-A", "--no-check", server] });
});

Deno.test("the output of a pillar process is logged when it ends", async () => {
  const extension = `export const ext_pillar = { params: {}, run: () => { console.error("own words"); return {}; } };`;
  await withProcesses("n: 1\n", async (ask, close, logged) => {
    assertEquals(await ask("web1"), "{'n': 1}");
    await close();
    assertEquals(logged, ["A process for pillars: own words"]);
  }, { extension });
});

Deno.test("a pillar process that does not end in time is killed", () =>
  withTemporaryDirectory(async (directory) => {
    const ready = `${directory}/ready`;
    // It ends neither with its input nor by SIGTERM.
    const program = `
    Deno.addSignalListener("SIGTERM", () => {});
    setInterval(() => {}, 1000);
    Deno.writeTextFileSync(${JSON.stringify(ready)}, String(Deno.pid));`;
    await withProcesses("", async (ask, close) => {
      const running = ask("web1");
      await eventually(() => exists(ready), { what: "the process" });
      await close(100);
      assertEquals(await running, "lost");
    }, { command: [Deno.execPath(), "eval", program] });
    const pid = Number(Deno.readTextFileSync(ready));
    assertThrows(() => Deno.kill(pid, "SIGTERM"), Deno.errors.NotFound);
  }));

Deno.test("if no process can be started, the requests get no pillar, and the reason is logged", async () => {
  await withProcesses("n: 1\n", async (ask, _close, logged) => {
    assertEquals(await Promise.all([ask("web1"), ask("web2")]), ["lost", "lost"]);
    assertEquals(logged.length, 2);
    assertStringIncludes(logged[0], "No process for pillars can be started: ");
  }, { command: ["/no/such/program"] });
});

Deno.test("if no second process can be started, the first one serves all requests", () =>
  withTemporaryDirectory(async (directory) => {
    const server = new URL("../support/fleet/failing_pillar_server.ts", import.meta.url).pathname;
    const program = `${directory}/program`;
    Deno.symlinkSync(Deno.execPath(), program);
    await withProcesses("", async (ask, _close, logged) => {
      const first = ask("web1");
      Deno.removeSync(program);
      const second = ask("web2");
      assertStringIncludes(logged[0], "No process for pillars can be started: ");
      assertStringIncludes(await first, "The pillar of web1 cannot be compiled: own words");
      assertStringIncludes(await second, "The pillar of web2 cannot be compiled: ");
    }, { command: [program, "run", "-A", "--no-check", server], count: 2 });
  }));
