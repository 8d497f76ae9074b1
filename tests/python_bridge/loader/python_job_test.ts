/**
 * The processes of one job: when they are started again, and how the answers of two become one. No Python runs.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { PythonJob } from "#lib/python_bridge/loader/python_job.ts";
import { NO_PYTHON_PLUGINS } from "#lib/python_bridge/loader/python_files.ts";
import { PythonEnded, PythonSession, realSaltSocket } from "#lib/python_bridge/link/session.ts";
import { SILENT_LOGGER } from "#lib/runtime/log.ts";
import { map, toValue, type Value } from "#lib/values/value.ts";
import { ScriptedProcess } from "#tests/support/servers/scripted_process.ts";
import { assertEquals, assertRejects } from "#tests/support/assert.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const SCOPE = { signal: new AbortController().signal };

/** A job whose process listens at the next one of `paths`, or at the last one. */
function jobAt(...paths: string[]): PythonJob<typeof SCOPE> {
  return new PythonJob({
    role: "minion",
    plugins: NO_PYTHON_PLUGINS,
    log: SILENT_LOGGER,
    socket: () => Promise.resolve(paths.length > 1 ? paths.shift()! : paths[0]),
    context: () => SCOPE,
    answers: () => () => Promise.resolve(null),
    isHidden: () => true,
  });
}

Deno.test("a job whose Python has just ended takes the next one, and names one that cannot be reached", () =>
  withTemporaryDirectory(async (root) => {
    using process = new ScriptedProcess(`${root}/new`, { answer: () => ({ value: "the text" }) });
    const job = jobAt(`${root}/old`, `${root}/new`);
    assertEquals(await job.find("modules", "br.ping"), "the text");
    assertEquals(process.requests, ["find"]);
    await job.end();
    const reason = `Python cannot be reached at ${root}/old: No such file or directory`;
    await assertRejects(() => jobAt(`${root}/old`).find("modules", "br.ping"), CommandError, reason);
  }));

Deno.test("a process that ends fails its request, and the next request starts another one", () =>
  withTemporaryDirectory(async (root) => {
    const answers: (Value | undefined)[] = [undefined, 5];
    using process = new ScriptedProcess(`${root}/s`, {
      answer() {
        const value = answers.shift();
        return value === undefined ? undefined : { value };
      },
    });
    const job = jobAt(`${root}/s`);
    const ask = () => job.request({ kind: "problems" }, SCOPE);
    await assertRejects(ask, CommandError, "The module's process ended: its process has ended");
    assertEquals((await ask()).value, 5);
    assertEquals(process.requests, ["problems", "problems"]);
    await job.end();
  }));

const JOINED: readonly (readonly [own: unknown, real: unknown, both: unknown])[] = [
  [{ a: [1], b: { x: 1 } }, { a: [2], b: { y: 2 }, c: 3 }, { a: [1, 2], b: { x: 1, y: 2 }, c: 3 }],
  [{ a: "own" }, { a: "real" }, { a: "own" }],
  [{ a: [1] }, { a: { x: 1 } }, { a: [1] }],
  ["own", { a: 1 }, "own"],
];

Deno.test("what two processes know is joined; of what both say, that of the first counts", () =>
  withTemporaryDirectory(async (root) => {
    for (const [n, [own, real, both]] of JOINED.entries()) {
      using _own = new ScriptedProcess(`${root}/own${n}`, {
        answer: () => ({ value: own, also_elsewhere: true }),
        real: { real: `${root}/real${n}` },
      });
      using _real = new ScriptedProcess(`${root}/real${n}`, { answer: () => ({ value: real }) });
      const job = jobAt(`${root}/own${n}`);
      assertEquals((await job.request({ kind: "problems" }, SCOPE)).value, toValue(both));
      await job.end();
    }
  }));

Deno.test("a Python that starts no process with the real Salt says why, or has ended", () =>
  withTemporaryDirectory(async (root) => {
    const refusals = [
      [undefined, "its starter has ended"],
      [{ ended: "there is no Salt" }, "there is no Salt"],
      [{ started: 5 }, "its starter sent an invalid message"],
    ] as const;
    for (const [n, [real, reason]] of refusals.entries()) {
      using _process = new ScriptedProcess(`${root}/${n}`, { real });
      await assertRejects(() => realSaltSocket(`${root}/${n}`), PythonEnded, reason);
    }
  }));

Deno.test("a session that was closed takes no request", () =>
  withTemporaryDirectory(async (root) => {
    using process = new ScriptedProcess(`${root}/s`, {});
    const start = { kind: "start", role: "minion", files: {}, is_real: false, log_level: 0 } as const;
    const host = {
      silent: true,
      start,
      ...SCOPE,
      answer: () => Promise.resolve(null),
      child: () => {},
      log: () => {},
    };
    const session = await PythonSession.open(`${root}/s`, host, map({}));
    session.close(new Error("enough"));
    assertEquals(session.isOpen, false);
    await assertRejects(() => session.request({ kind: "problems" }, map({})), Error, "enough");
    assertEquals(process.requests, []);
  }));
