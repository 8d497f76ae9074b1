/**
 * A run that continues after its minion was killed while a command of a state ran: one that changes the host, or a
 * read-only one.
 * @module
 */

import { assert, assertEquals } from "#tests/support/assert.ts";
import { openTree } from "#tests/support/calls/state_tree.ts";
import { formerRun } from "#lib/states/control/interrupted_run.ts";
import { RunRecord } from "#lib/states/control/record.ts";
import { chunkTag } from "#lib/states/compiler/chunks.ts";
import { isMap, map, repr, str, type Value } from "#lib/values/value.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const JID = "20260101000000000000";
const MARK = { pid: 1, at: "" };

function outcome(retcode: number) {
  const none = new Uint8Array();
  return { pid: 7, retcode, stdout: none, stderr: none, timedOut: false, dropped: { stdout: 0, stderr: 0 } };
}

/** The moment of the interruption, and the results of commands. */
interface Interruption {
  /** The return code of the surviving command. */
  readonly survivor: number;
  /** The return code of the other commands. */
  readonly later: number;
  /** Selects the surviving command. Default: the first. */
  readonly at?: (words: string, earlier: readonly string[]) => boolean;
}

/**
 * Interrupts a run during a command and continues it.
 * @returns The return of the run, and the commands after the interruption.
 */
async function interrupted(sls: string, { survivor, later, at = () => true }: Interruption) {
  const taken = Promise.withResolvers<[record: Uint8Array<ArrayBuffer>, words: string[]]>();
  let root = "";
  const record = () => `${root}/var/cache/salt/minion/state_runs/${JID}`;
  const earlier: string[] = [];
  await using first = await openTree({
    files: { "t.sls": sls },
    context: {
      runChild: async ({ argv }) => {
        await new Promise((done) => setTimeout(done, 20));
        const words = argv.join(" ");
        const isIt = at(words, earlier);
        earlier.push(words);
        if (isIt) taken.resolve([await Deno.readFile(record()), [...argv]]);
        return outcome(isIt ? survivor : later);
      },
    },
  });
  root = first.root;
  const { returned: whole } = await first.call("state.sls", ["t"]);
  taken.reject(new Error(`No such command ran, but ${earlier.join(", ")}: ${repr(whole)}`));
  const [bytes, survived] = await taken.promise;
  let kept = true;
  const words: string[] = [];
  await using second = await openTree({
    files: { "t.sls": sls },
    context: {
      detachedCommands: [{ jid: JID, number: 1, words: survived, process: MARK, keeper: MARK }],
      runChild: ({ argv }) => {
        if (kept) {
          kept = false;
          return Promise.resolve(outcome(survivor));
        }
        words.push(argv.join(" "));
        return Promise.resolve(outcome(later));
      },
    },
  });
  root = second.root;
  await Deno.mkdir(record().replace(/\/[^/]*$/, ""), { recursive: true });
  await Deno.writeFile(record(), bytes);
  const { returned } = await second.call("state.sls", ["t"]);
  assert(isMap(returned), repr(returned));
  return { root, words, results: [...returned.values()].map(asResult) };
}

function asResult(value: Value): { result?: Value; comment?: Value; changes?: Value } {
  return isMap(value) ? Object.fromEntries(value) : {};
}

Deno.test("killed while a condition ran: the condition is checked again, and the outcome of the killed check is not used for the state", async () => {
  for (const condition of ["unless", "onlyif"]) {
    const later = condition === "unless" ? 1 : 0;
    const sls = `a:\n  test.succeed_with_changes:\n    - ${condition}: probe\nb: test.nop\n`;
    // The first check ended as killed.
    const { results: [a, b], words } = await interrupted(sls, { survivor: 1, later });
    assertEquals([a?.result, a?.comment, b?.comment], [true, "Success!", "Success!"]);
    assert(words.length === 1 && words[0]?.includes("probe"));
  }
});

Deno.test("killed while check_cmd ran: the state is not called again, but its check is", async () => {
  const sls = "a:\n  test.succeed_with_changes:\n    - check_cmd: probe\n";
  const { results: [a], words } = await interrupted(sls, { survivor: 1, later: 0 });
  assertEquals([a?.result, a?.comment], [true, "check_cmd determined the state succeeded"]);
  assert(isMap(a?.changes) && a.changes.has("testing"));
  assertEquals(words.length, 1);
});

Deno.test("killed while the check_cmd of file.managed ran: the file is written, and the result reports the check correctly", async () => {
  const path = await Deno.makeTempFile({ prefix: "interrupted_run_" });
  try {
    const sls = `${path}:\n  file.managed:\n    - contents: new\n    - check_cmd: /bin/true\n`;
    const { results: [a] } = await interrupted(sls, { survivor: 0, later: 0 });
    assertEquals(a?.result, true);
    assert(isMap(a?.changes) && !a.changes.has("probe"), "the check's outcome is not the state's");
    assertEquals(await Deno.readTextFile(path), "new\n");
  } finally {
    await Deno.remove(path);
  }
});

const USER = "so:\n  user.present:\n    - name: interrupted_user\n    - createhome: false\n";

Deno.test("killed during a read-only command: the state is called again, and the outcome of the command is not used for the state", async () => {
  const { results: [user], words } = await interrupted(USER, {
    survivor: 0,
    later: 0,
    at: (one) => one.includes("getent"),
  });
  assert(words.some((one) => one.includes("useradd")), words.join("\n"));
  assert(
    isMap(user?.changes) && ![...user.changes.keys()].some((key) => str(key).includes("getent")),
    repr(user?.changes ?? null),
  );
});

Deno.test("killed while the first of several programs worked: the state is called again, and its changes include those of the program", async () => {
  const { results: [user], words } = await interrupted(USER, {
    survivor: 0,
    later: 0,
    at: (one) => one.includes("useradd"),
  });
  assert(words.some((one) => one.includes("getent")), words.join("\n"));
  assert(isMap(user?.changes));
  const [name, change] = [...user.changes][0] ?? [];
  assert(str(name ?? "").includes("useradd") && isMap(change) && change.get("retcode") === 0, repr(user.changes));
  assert(str(user.comment ?? "").includes("The minion ended while this state ran, and it was called again."));
});

const ACTS = `so:
  module.run:
    - user.add: [interrupted_user, {createhome: false}]
    - pkg.version: [bash]
`;

Deno.test("killed during a read-only command of a state that changed something: its change is the outcome, and it is not called again", async () => {
  for (const later of [0, 3]) {
    const { results: [acted], words } = await interrupted(ACTS, {
      survivor: 1,
      later,
      at: (one, earlier) => one.includes("dpkg-query") && earlier.some((before) => before.includes("useradd")),
    });
    assertEquals([acted?.result, words], [later === 0, []]);
    assert(isMap(acted?.changes));
    assertEquals([...acted.changes.values()].map((one) => isMap(one) ? one.get("retcode") : one), [later]);
  }
});

Deno.test("killed three times in one state: after the third time its commands are its outcome", () =>
  withTemporaryDirectory((cachedir) => {
    const chunk = map({ state: "pkg", fun: "installed", __id__: "a", name: "a", __sls__: "t" });
    const tag = chunkTag(chunk);
    const words = ["apt-get", "install", "a"];
    const called = [1, 2, 3].map(() => {
      using record = new RunRecord(cachedir, { jid: JID, fun: "state.sls" });
      record.started(tag);
      record.worked(tag, { words, pid: 7, retcode: 0 });
      record.ended("aborted");
      const { results, work } = formerRun({ cachedir, jid: JID }, { chunks: [chunk], commands: [] });
      return [results.has(tag), work.get(tag)?.length];
    });
    assertEquals(called, [[false, 1], [false, 2], [true, undefined]]);
  }));
