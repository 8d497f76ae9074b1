/**
 * A run that goes on after its minion was killed while a command ran that does nothing of its state's work.
 * @module
 */

import { assert, assertEquals } from "../support/assert.ts";
import { openTree } from "../support/state_tree.ts";
import { isMap, repr, type Value } from "../../lib/values/value.ts";

const JID = "20260101000000000000";
const MARK = { pid: 1, at: "" };

function outcome(retcode: number) {
  const none = new Uint8Array();
  return { pid: 7, retcode, stdout: none, stderr: none, timedOut: false, dropped: { stdout: 0, stderr: 0 } };
}

/** What a run returns that is ended while its first command runs, and then goes on; and the commands of the second part. */
async function interrupted(sls: string, { survivor, later }: { survivor: number; later: number }) {
  const taken = Promise.withResolvers<Uint8Array<ArrayBuffer>>();
  let root = "";
  const record = () => `${root}/var/cache/salt/minion/state_runs/${JID}`;
  await using first = await openTree({
    files: { "t.sls": sls },
    context: {
      runChild: async () => {
        await new Promise((done) => setTimeout(done, 20));
        taken.resolve(await Deno.readFile(record()));
        return outcome(survivor);
      },
    },
  });
  root = first.root;
  const { returned: whole } = await first.call("state.sls", ["t"]);
  taken.reject(new Error(`No command ran: ${repr(whole)}`));
  let kept = true;
  const words: string[] = [];
  await using second = await openTree({
    files: { "t.sls": sls },
    context: {
      keptCommands: [{ jid: JID, number: 1, words: ["probe"], process: MARK, keeper: MARK }],
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
  await Deno.writeFile(record(), await taken.promise);
  const { returned } = await second.call("state.sls", ["t"]);
  assert(isMap(returned));
  return { root, words, results: [...returned.values()].map(asResult) };
}

function asResult(value: Value): { result?: Value; comment?: Value; changes?: Value } {
  return isMap(value) ? Object.fromEntries(value) : {};
}

Deno.test("killed while a condition ran: the condition is asked again, and its first outcome is not the state's", async () => {
  for (const condition of ["unless", "onlyif"]) {
    const later = condition === "unless" ? 1 : 0;
    const sls = `a:\n  test.succeed_with_changes:\n    - ${condition}: probe\nb: test.nop\n`;
    // The first time it ended as something that was killed.
    const { results: [a, b], words } = await interrupted(sls, { survivor: 1, later });
    assertEquals([a?.result, a?.comment, b?.comment], [true, "Success!", "Success!"]);
    assert(words.length === 1 && words[0]?.includes("probe"));
  }
});

Deno.test("killed while check_cmd ran: the state is not called again, its check is", async () => {
  const sls = "a:\n  test.succeed_with_changes:\n    - check_cmd: probe\n";
  const { results: [a], words } = await interrupted(sls, { survivor: 1, later: 0 });
  assertEquals([a?.result, a?.comment], [true, "check_cmd determined the state succeeded"]);
  assert(isMap(a?.changes) && a.changes.has("testing"));
  assertEquals(words.length, 1);
});

Deno.test("killed while the check_cmd of file.managed ran: the file is written, and no outcome hides that it was not", async () => {
  const path = await Deno.makeTempFile({ prefix: "going_on_" });
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
