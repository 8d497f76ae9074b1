/**
 * Commands in a keeper's process: started, ended, rejected and lost ones, with and without the minion.
 * @module
 */

import { CommandLostError, WireError } from "#lib/errors.ts";
import type { ChildCare, ChildOutcome, ChildSpec } from "#lib/programs/child_process.ts";
import {
  type DetachedCommand,
  detachedCommands,
  detachedDirectory,
  markOf,
  READY,
  removeDetached,
  takeOverDetached,
  writeDetached,
} from "#lib/programs/detached_commands.ts";
import { ABORT, packAnswer, packRequest, parseAnswer } from "#lib/minion/keeper/keeper_messages.ts";
import { type KeeperJob, keeperRunner } from "#lib/minion/keeper/keeper_runner.ts";
import { lexistsOrThrow } from "#lib/os/file_kind.ts";
import { sleep } from "#lib/os/sleep.ts";
import { ownProcess } from "#lib/runtime/self_command.ts";
import { frame, FrameReader } from "#lib/protocol/frames.ts";
import { joinBytes } from "#lib/values/join_bytes.ts";
import { encode } from "#lib/values/msgpack.ts";
import { map } from "#lib/values/value.ts";
import { assertEquals, assertRejects, assertThrows } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";
import { filesBelow } from "#tests/support/tree.ts";

const JID = "20260102030405000001", OTHER = "20260102030405000002";
const REASON = new Error("The job was told to end");

/** A keeper; its lines are the minion's log. */
class Keeper {
  readonly lines: string[] = [];
  readonly #socket: string;
  readonly #child: Deno.ChildProcess;

  constructor(readonly cachedir: string) {
    this.#socket = `${cachedir}/socket`;
    const [command, ...args] = ownProcess("salt-keeper");
    this.#child = new Deno.Command(command, {
      args: [...args, cachedir, this.#socket],
      stdin: "piped",
      stdout: "piped",
      stderr: "null",
    }).spawn();
  }

  async ready(): Promise<void> {
    void (async () => {
      for await (const text of this.#child.stdout.pipeThrough(new TextDecoderStream())) {
        this.lines.push(...text.split("\n").filter((line) => line !== ""));
      }
    })();
    await eventually(() => this.lines.includes(READY), { what: "the keeper" });
  }

  connect(): Promise<Deno.UnixConn> {
    return Deno.connect({ transport: "unix", path: this.#socket });
  }

  /** The minion's end. */
  async leave(): Promise<void> {
    const writer = this.#child.stdin.getWriter();
    await writer.write(new Uint8Array(1));
    await writer.close();
  }

  async status(): Promise<number> {
    return (await this.#child.status).code;
  }
}

async function withKeeper(test: (keeper: Keeper) => Promise<void>): Promise<void> {
  const cachedir = Deno.makeTempDirSync({ prefix: "keeper_" });
  const keeper = new Keeper(cachedir);
  try {
    await keeper.ready();
    await test(keeper);
  } finally {
    await keeper.leave().catch(() => {}); // the test has closed it
    assertEquals(await keeper.status(), 0);
    Deno.removeSync(cachedir, { recursive: true });
  }
}

function job(cachedir: string, more: Partial<KeeperJob>): KeeperJob {
  return {
    jid: JID,
    hidden: false,
    cachedir,
    detached: [],
    connect: () => Promise.reject(new Error("no keeper is asked")),
    count: () => {},
    ...more,
  };
}

function shell(script: string): ChildSpec {
  return { argv: ["/bin/sh", "-c", script], cwd: "/", env: { PATH: "/usr/bin:/bin" } };
}

function care(more: Partial<ChildCare> = {}): ChildCare {
  return { signal: new AbortController().signal, child: () => {}, outputMax: 16 << 20, ...more };
}

const textOf = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

Deno.test("a keeper runs commands, and reports why one did not run", () =>
  withKeeper(async (keeper) => {
    const run = keeperRunner(job(keeper.cachedir, { connect: () => keeper.connect() }));
    const seen: string[] = [];
    const { retcode, stdout, stderr } = await run(
      shell("echo out; echo err >&2; exit 3"),
      care({ output: (stream, bytes) => seen.push(`${stream}: ${textOf(bytes)}`) }),
    );
    assertEquals([retcode, textOf(stdout), textOf(stderr)], [3, "out\n", "err\n"]);
    assertEquals(seen.sort(), ["stderr: err\n", "stdout: out\n"]);
    await assertRejects(() => run({ ...shell(""), argv: ["/none/at/all"] }, care()), Error, "/none/at/all");
    // The output that it stores for a minion that may die is limited.
    for (let i = 0; i < 3; i++) {
      const large = await run(shell("head -c 5000000 /dev/zero"), care());
      assertEquals(large.stdout.length, 5_000_000);
    }

    const refused = await keeper.connect();
    const spec = shell("echo no");
    const request = { jid: "no job", number: 1, hidden: false, watched: false, spec, outputMax: 10 };
    // A request may come in pieces.
    const bytes = packRequest(request);
    await refused.write(bytes.subarray(0, 3));
    await sleep(100);
    await refused.write(bytes.subarray(3));
    const piece = new Uint8Array(1_000);
    const length = await refused.read(piece);
    const [{ content }] = new FrameReader(10_000).push(piece.slice(0, length ?? 0));
    assertEquals(parseAnswer(content), { kind: "failed", reason: "no job has this id" });
    refused.close();

    (await keeper.connect()).close();
    const broken = await keeper.connect();
    await broken.write(frame(1, Uint8Array.of(0xc1)));
    assertEquals(await broken.read(piece), null);
    broken.close();
    await eventually(() => keeper.lines.some((line) => line.startsWith("it dropped a connection: ")), {
      what: "the line about the broken request",
    });
  }));

Deno.test("a command ends with its job, also one whose job ends while it is sent", () =>
  withKeeper(async (keeper) => {
    for (const isSent of [true, false]) {
      const ending = new AbortController();
      const connect = async () => {
        const connection = await keeper.connect();
        if (!isSent) ending.abort(REASON);
        return connection;
      };
      const pids: number[] = [];
      const child = (pid: number, state: string) => {
        if (state === "started") pids.push(pid);
        ending.abort(REASON);
      };
      const run = keeperRunner(job(keeper.cachedir, { connect }));
      await assertRejects(() => run(shell("sleep 60"), care({ signal: ending.signal, child })), Error, REASON.message);
      await eventually(() => pids.every((pid) => markOf(pid).at === ""), { what: "the end of the command" });
    }
  }));

Deno.test("a command that continued without its minion is taken over together with its outcome", () =>
  withKeeper(async (keeper) => {
    const { cachedir } = keeper;
    const run = keeperRunner(job(cachedir, { connect: () => keeper.connect() }));
    const started = Promise.withResolvers<number>();
    const spec = shell(`until [ -e ${cachedir}/go ]; do sleep 0.05; done; echo done`);
    const lost = assertRejects(
      () => run(spec, care({ child: (pid) => started.resolve(pid) })),
      CommandLostError,
      "The process that ran the command has ended",
    );
    const pid = await started.promise;
    await keeper.leave();
    assertEquals(await takeOverDetached(cachedir, new Set([JID])), new Set([JID]));
    const [detached, ...more] = detachedCommands(cachedir, JID);
    assertEquals([detached.process.pid, detached.outcome, more], [pid, undefined, []]);

    const counts: number[] = [];
    const states: string[] = [];
    const adopting = keeperRunner(job(cachedir, { detached: [detached], count: (change) => counts.push(change) }));
    const adopted = adopting(shell("echo not again"), care({ child: (one, state) => states.push(`${one} ${state}`) }));
    Deno.writeTextFileSync(`${cachedir}/go`, "");
    assertEquals(textOf((await adopted).stdout), "done\n");
    assertEquals([counts, states], [[1, -1], [`${pid} started`, `${pid} ended`]]);
    await lost;
    assertEquals(await keeper.status(), 0);
    assertEquals(detachedCommands(cachedir, JID)[0].outcome?.retcode, 0);
    removeDetached(cachedir, JID);
    assertEquals(detachedCommands(cachedir, JID), []);
  }));

/** A command that waits for a file `go` in the keeper's directory, and runs without the minion. */
async function leftAlone(keeper: Keeper, before: () => void): Promise<() => Promise<void>> {
  const run = keeperRunner(job(keeper.cachedir, { connect: () => keeper.connect() }));
  const started = Promise.withResolvers<number>();
  const spec = shell(`until [ -e ${keeper.cachedir}/go ]; do sleep 0.05; done; echo done`);
  const lost = assertRejects(() => run(spec, care({ child: (pid) => started.resolve(pid) })), CommandLostError);
  await started.promise;
  before();
  await keeper.leave();
  return async () => {
    Deno.writeTextFileSync(`${keeper.cachedir}/go`, "");
    await lost;
    assertEquals(await keeper.status(), 0);
  };
}

Deno.test("a keeper records no command of a hidden job, during the minion's life and after it", () =>
  withKeeper(async (keeper) => {
    const { cachedir } = keeper;
    const starts: Promise<unknown>[] = [];
    const lost: Promise<unknown>[] = [];
    for (const [jid, hidden] of [[JID, true], [OTHER, false]] as const) {
      const run = keeperRunner(job(cachedir, { jid, hidden, connect: () => keeper.connect() }));
      const started = Promise.withResolvers<number>();
      starts.push(started.promise);
      const script = `: password of ${jid}; until [ -e ${cachedir}/go ]; do sleep 0.05; done; echo password`;
      lost.push(
        assertRejects(() => run(shell(script), care({ child: (pid) => started.resolve(pid) })), CommandLostError),
      );
    }
    await Promise.all(starts);
    const secrets = () =>
      [...filesBelow(cachedir)].filter((path) => {
        if (!Deno.lstatSync(path).isFile) return false;
        const text = Deno.readTextFileSync(path);
        return path.includes(JID) || text.includes(JID);
      });
    assertEquals(secrets(), []);
    await keeper.leave();
    await eventually(() => detachedCommands(cachedir, OTHER).length === 1, { what: "the record of the other job" });
    Deno.writeTextFileSync(`${cachedir}/go`, "");
    await Promise.all(lost);
    assertEquals(await keeper.status(), 0);
    assertEquals(detachedCommands(cachedir, OTHER)[0].outcome?.retcode, 0);
    assertEquals([detachedCommands(cachedir, JID), secrets()], [[], []]);
  }));

Deno.test("only the keeper's user can reach its socket and read its files, whatever the umask", () =>
  withTemporaryDirectory(async (cachedir) => {
    const words = ["-c", 'umask 0; exec "$@"', "sh", ...ownProcess("salt-keeper"), cachedir, `${cachedir}/socket`];
    const child = new Deno.Command("/bin/sh", { args: words, stdin: "piped", stdout: "piped" }).spawn();
    try {
      const directory = detachedDirectory(cachedir);
      await eventually(() => lexistsOrThrow(`${cachedir}/socket`), { what: "the socket" });
      const modes = [`${cachedir}/socket`, directory, `${directory}/${child.pid}.keeper`].map((path) =>
        (Deno.lstatSync(path).mode ?? 0) & 0o7777
      );
      assertEquals(modes, [0o600, 0o700, 0o600]);
    } finally {
      await child.stdin.close();
      const { code } = await child.output();
      assertEquals(code, 0);
    }
  }));

Deno.test("a keeper whose directory was removed records its commands in a new one", () =>
  withKeeper(async (keeper) => {
    const directory = detachedDirectory(keeper.cachedir);
    const end = await leftAlone(keeper, () => Deno.removeSync(directory, { recursive: true }));
    await eventually(() => detachedCommands(keeper.cachedir, JID).length === 1, { what: "the record" });
    await end();
    assertEquals(detachedCommands(keeper.cachedir, JID)[0].outcome?.retcode, 0);
  }));

Deno.test("a keeper that can record nothing tells so, and its commands run to their end", () =>
  withKeeper(async (keeper) => {
    const directory = detachedDirectory(keeper.cachedir);
    const end = await leftAlone(keeper, () => {
      Deno.removeSync(directory, { recursive: true });
      Deno.writeTextFileSync(directory, "no directory");
    });
    // Before that it gives the outcome to the minion that it still has.
    await eventually(() => keeper.lines.some((line) => line.startsWith("it cannot record that it is alone")), {
      what: "that it is alone",
    });
    await end();
    const messages = keeper.lines.filter((line) => line.startsWith("it cannot record ")).map((line) =>
      line.split(":")[0]
    );
    assertEquals(messages, [
      "it cannot record its commands",
      `it cannot record a command of job ${JID}`,
      "it cannot record that it is alone",
      `it cannot record a command of job ${JID}`,
    ]);
  }));

Deno.test("a keeper that cannot listen to its minion is alone", () =>
  withTemporaryDirectory(async (cachedir) => {
    const words = [...ownProcess("salt-keeper"), cachedir, `${cachedir}/socket`];
    const args = ["-c", 'exec "$@" < /', "sh", ...words];
    const { code, stdout } = await new Deno.Command("/bin/sh", { args, stdin: "null" }).output();
    const [ready, lost] = textOf(stdout).split("\n");
    assertEquals([code, ready, lost.split(":")[0]], [0, READY, "it lost its minion"]);
  }));

Deno.test("a request that comes together with its end is ended", () =>
  withKeeper(async (keeper) => {
    const connection = await keeper.connect();
    const request = { jid: JID, number: 1, hidden: false, watched: false, spec: shell("sleep 60"), outputMax: 10 };
    await connection.write(joinBytes([packRequest(request), ABORT]));
    const frames = new FrameReader(10_000);
    const kinds: string[] = [];
    for await (const piece of connection.readable) {
      for (const { content } of frames.push(piece)) kinds.push(parseAnswer(content).kind);
    }
    assertEquals(kinds.at(-1), "failed");
  }));

async function withDirectory(test: (cachedir: string, directory: string) => Promise<void>): Promise<void> {
  const cachedir = Deno.makeTempDirSync({ prefix: "detached_" });
  try {
    Deno.mkdirSync(detachedDirectory(cachedir));
    await test(cachedir, detachedDirectory(cachedir));
  } finally {
    Deno.removeSync(cachedir, { recursive: true });
  }
}

const GONE = { pid: 2 ** 22 + 1, at: "1" };

function detachedOne(more: Partial<DetachedCommand> = {}): DetachedCommand {
  return { jid: JID, number: 1, words: ["sleep", "60"], process: GONE, keeper: GONE, ...more };
}

const OUTCOME: ChildOutcome = {
  pid: 7,
  retcode: -9,
  stdout: Uint8Array.of(1),
  stderr: new Uint8Array(),
  timedOut: false,
  dropped: { stdout: 0, stderr: 2 },
};

Deno.test("a command is killed with the job that took it over; the outcome of a command that nobody read is unknown", () =>
  withDirectory(async (cachedir) => {
    const child = new Deno.Command("sleep", { args: ["60"], detached: true }).spawn();
    const running = detachedOne({ process: markOf(child.pid), keeper: markOf(Deno.pid) });
    writeDetached(cachedir, running);
    const ending = new AbortController();
    const run = keeperRunner(job(cachedir, { detached: [running, detachedOne()] }));
    const adopted = run(shell(""), care({ signal: ending.signal, child: () => ending.abort(REASON) }));
    await assertRejects(() => adopted, Error, REASON.message);
    assertEquals((await child.status).signal, "SIGKILL");
    Deno.removeSync(`${detachedDirectory(cachedir)}/${JID}.1`);
    await assertRejects(() => run(shell(""), care()), CommandLostError, "It is not known how the command ended");
  }));

Deno.test("files of commands are read if they are complete, and removed if nobody needs them", () =>
  withDirectory(async (cachedir, directory) => {
    writeDetached(cachedir, detachedOne({ number: 2, outcome: OUTCOME }));
    writeDetached(cachedir, detachedOne());
    writeDetached(cachedir, detachedOne({ jid: OTHER }));
    const self = markOf(Deno.pid);
    Deno.writeTextFileSync(`${directory}/${self.pid}.alone`, self.at);
    Deno.writeTextFileSync(`${directory}/${GONE.pid}.alone`, GONE.at);
    Deno.writeTextFileSync(`${directory}/${GONE.pid}.keeper`, GONE.at);
    assertEquals(detachedCommands(cachedir, JID), [detachedOne(), detachedOne({ number: 2, outcome: OUTCOME })]);
    assertEquals(await takeOverDetached(cachedir, new Set([JID])), new Set([JID]));
    const left = [...Deno.readDirSync(directory)].map(({ name }) => name).sort();
    assertEquals(left, [`${JID}.1`, `${JID}.2`, `${self.pid}.alone`].sort());
    removeDetached(cachedir, JID);
    assertEquals([...Deno.readDirSync(directory)].map(({ name }) => name), [`${self.pid}.alone`]);
  }));

Deno.test("a job whose commands a power failure has cut from the disk is not taken over: it would run them again", () =>
  withDirectory(async (cachedir, directory) => {
    const cuts: ((path: string) => void)[] = [
      (path) => Deno.writeFileSync(path, new Uint8Array()),
      (path) => Deno.writeFileSync(path, Uint8Array.of(0xc1)),
      (path) => Deno.writeFileSync(path, encode(map({ jid: JID }), "disk")),
      (path) => Deno.symlinkSync("none", path),
    ];
    for (const cut of cuts) {
      writeDetached(cachedir, detachedOne({ number: 2, outcome: OUTCOME }));
      writeDetached(cachedir, detachedOne({ jid: OTHER }));
      cut(`${directory}/${JID}.1`);
      assertEquals(detachedCommands(cachedir, JID), [detachedOne({ number: 2, outcome: OUTCOME })]);
      assertEquals(await takeOverDetached(cachedir, new Set([JID, OTHER])), new Set([OTHER]));
      assertEquals([...Deno.readDirSync(directory)].map(({ name }) => name), [`${OTHER}.1`]);
    }
  }));

Deno.test("without a keeper a command runs in this process", async () => {
  const run = keeperRunner(job("/nonexistent", { connect: () => Promise.resolve(undefined) }));
  assertEquals(textOf((await run(shell("echo here"), care())).stdout), "here\n");
});

Deno.test("answers are read as they were sent, and invalid ones are rejected", () => {
  const answers = [
    { kind: "started", pid: 7 },
    { kind: "output", stream: "stderr", bytes: Uint8Array.of(1, 2) },
    { kind: "ended", outcome: OUTCOME },
    { kind: "failed", reason: "no such program" },
  ] as const;
  for (const answer of answers) {
    const [{ content }] = new FrameReader(10_000).push(packAnswer(answer));
    assertEquals(parseAnswer(content), answer);
  }
  assertThrows(() => parseAnswer(encode(map({ kind: "odd" }), "disk")), WireError, "an answer of no known kind");
});
