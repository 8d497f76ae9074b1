/**
 * The operator's commands when Ctrl-C, a silent minion or an ending master comes between.
 * @module
 */

import { runSalt } from "#lib/commands/programs/salt.ts";
import { runSaltCp } from "#lib/commands/programs/salt_cp.ts";
import { runCli } from "#lib/commands/cli/run_command.ts";
import { SALT } from "#lib/commands/programs/salt_options.ts";
import { assert, assertEquals, assertMatch, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { type Fleet, fleetTest, type Run } from "#tests/support/fleet/fleet.ts";
import { failedText, IMPATIENT, NOBODY } from "#tests/support/fleet/salt_texts.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const INTERRUPTED = "\nExiting gracefully on Ctrl-c";

/** Input and output of a command without a terminal to ask on. */
function recordingIo(signal = new AbortController().signal) {
  const output = { out: "", err: "" };
  const io = {
    write: (text: string) => void (output.out += text),
    writeError: (text: string) => void (output.err += text),
    isTerminal: false,
    isErrorTerminal: false,
    readStdin: () => Promise.resolve(""),
    signal,
  };
  return { output, io };
}

/** Runs `act` with a signal that is aborted when a job of the function `fun` has been published. */
async function interruptedAt(fleet: Fleet, fun: string, act: (signal: AbortSignal) => Promise<Run>): Promise<Run> {
  const control = new AbortController();
  using events = await fleet.listen("salt/job/");
  const running = act(control.signal);
  for (let event = await events.next(60_000); event?.data.get("fun") !== fun; event = await events.next(60_000)) {
    assert(event !== undefined, `no job of ${fun}`);
  }
  control.abort();
  return await running;
}

fleetTest("Ctrl-C ends a copy, a batch that looks for its minions, and a wait for a job", {
  minions: ["away"],
  master: { timeout: 60 },
}, async (fleet) => {
  await fleet.stopMinion("away");
  const from = `${fleet.root}/from`;
  Deno.mkdirSync(`${from}/empty`, { recursive: true });
  Deno.writeTextFileSync(`${from}/file`, "text");
  const copies: [words: string[], fun: string][] = [
    [["away", `${from}/file`, "/tmp"], "cp.recv"],
    [["-C", "away", `${from}/file`, "/tmp"], "cp.recv_chunked"],
    [["-C", "away", `${from}/empty`, "/tmp"], "cp.recv_chunked"],
  ];
  for (const [words, fun] of copies) {
    const run = await interruptedAt(fleet, fun, async (signal) => {
      const { output, io } = recordingIo(signal);
      return { code: await runSaltCp(["-c", fleet.configDir, ...words], io), ...output };
    });
    assertEquals(run, { code: 130, out: "", err: `${INTERRUPTED}\n` });
  }
  const batch = await interruptedAt(
    fleet,
    "test.ping",
    (signal) => fleet.saltWith({ signal }, "-b", "1", "away", "test.echo", "x"),
  );
  assertEquals(batch, { code: 130, out: "", err: `${INTERRUPTED}\n` });
});

fleetTest("a batch without a minion that answers, with one that falls silent, and one whose master ends", {
  minions: ["a1", "a2", "away"],
  master: IMPATIENT,
}, async (fleet) => {
  await fleet.stopMinion("away");
  assertEquals(await fleet.salt("-b", "1", "away", "test.ping"), {
    code: 2,
    out: "Minion away did not respond. No job will be sent.\n",
    err: NOBODY,
  });
  const begun = (id: string) => `${fleet.root}/${id}.begun`;
  const start = (id: string) =>
    fleet.salt(
      "-b",
      "1",
      "--out=txt",
      id,
      "cmd.run",
      `touch ${begun(id)}; while [ ! -e ${fleet.root}/gate ]; do sleep 0.05; done`,
    );
  const isThere = (path: string) =>
    eventually(() => {
      try {
        return Deno.statSync(path).isFile;
      } catch {
        return false;
      }
    }, { what: path });

  const first = start("a1");
  await isThere(begun("a1"));
  await fleet.stopMinion("a1");
  const silent = await first;
  assertEquals(silent.code, 1);
  assertStringIncludes(silent.out, "Minion 'a1' failed to respond to job sent\n");
  assertMatch(silent.err, /^ERROR: Minions returned with non-zero exit code: .*\(a1\)\n$/);

  const second = start("a2");
  await isThere(begun("a2"));
  await fleet.stopMaster();
  const lost = await second;
  assertEquals(lost.code, 69);
  assertMatch(lost.err, /\[ERROR {3}\] The Salt master ended while job \d+ ran/);
  Deno.writeTextFileSync(`${fleet.root}/gate`, "");
});

fleetTest("a terminal shows who is not connected and which states are done, while others are waited for", {
  minions: ["web1", "away"],
  master: { timeout: 1, gather_job_timeout: 1 },
}, async (fleet) => {
  await fleet.stopMinion("away");
  const template = "a:\n  cmd.run:\n    - name: echo first\nb:\n  cmd.run:\n    - name: sleep 3\n";
  const run = await fleet.saltWith(
    { isErrorTerminal: true },
    "--no-color",
    "-t",
    "0",
    "--live",
    "*",
    "state.template_str",
    template,
  );
  assertMatch(run.err, /1 not connected, \d+ s, 1 of 2 states, wait/);
  assertStringIncludes(run.err, failedText("not connected (away)"));

  const docs = await fleet.salt("-d", "--out=json", "-t", "1");
  assertEquals(docs.code, 0);
  assertStringIncludes(docs.out, '"test.ping": ');
});

fleetTest("salt-call ends with Ctrl-C, a broken key, and a master that cannot store its result", {}, async (fleet) => {
  fleet.minionOpts("web1");
  const stdin = await fleet.saltCallWith(
    { stdin: "test.echo\n--out=txt\nhi there\n" },
    "web1",
    "--local",
    "--args-stdin",
  );
  assertEquals(stdin.out, "local: hi there\n");
  const control = new AbortController();
  const sleeping = fleet.saltCallWith({ signal: control.signal }, "web1", "--local", "test.sleep", "600");
  await eventually(() => {
    try {
      return [...Deno.readDirSync(`${fleet.minionConfigDir("web1")}/var/cache/salt/minion/proc`)].length > 0;
    } catch {
      return false;
    }
  }, { what: "the job" });
  control.abort();
  assertEquals(await sleeping, { code: 130, out: "", err: `${INTERRUPTED}\n` });

  assertEquals((await fleet.saltCall("web1", "test.ping")).code, 0);
  const jobs = `${fleet.masterOpts.cachedir}/jobs`;
  Deno.removeSync(jobs, { recursive: true });
  Deno.writeTextFileSync(jobs, "in the way");
  const unstored = await fleet.saltCall("web1", "test.ping");
  assertEquals([unstored.code, unstored.out], [0, "local:\n    True\n"]);
  assertMatch(unstored.err, /The result did not get to the master, which could not store it/);

  Deno.writeTextFileSync(`${fleet.minionConfigDir("web1")}/etc/salt/pki/minion/minion.pem`, "no key");
  const broken = await fleet.saltCall("web1", "test.ping");
  assertEquals([broken.code, broken.out], [1, ""]);
  assertMatch(broken.err, /^salt-call: .*minion\.pem/);
});

Deno.test("after Ctrl-C each error of a command is that of an interrupted one", async () => {
  const control = new AbortController();
  const { output, io } = recordingIo(control.signal);
  const run = () => {
    control.abort();
    return Promise.reject(new TypeError("closed"));
  };
  assertEquals(await runCli({ command: SALT, owner: "root", run }, [], io), 130);
  assertEquals(output.err, `${INTERRUPTED}\n`);
});

Deno.test("a batch in the background without a record, and a question without a terminal, are usage errors", () =>
  withTemporaryDirectory(async (root) => {
    Deno.writeTextFileSync(`${root}/master`, JSON.stringify({ root_dir: root }));
    const words = ["-c", root, "--async", "--batch=1", "x", "test.ping"];
    const stored = recordingIo();
    assertEquals(await runSalt(words, { ...stored.io, batchJid: "20200101000000000000" }), 64);
    assertMatch(stored.output.err, /There is no batch job 20200101000000000000\n$/);
    const attempt = recordingIo();
    assertEquals(await runSalt(["-c", root, "--eauth=file", "x", "test.ping"], attempt.io), 64);
    assertMatch(attempt.output.err, /--auth needs --username and --password if there is no terminal for prompts\n$/);
  }));
