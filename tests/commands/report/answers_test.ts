import type { Returned, Silent } from "#lib/client/job.ts";
import { answers } from "#lib/commands/report/answers.ts";
import { assertEquals } from "#tests/support/assert.ts";

const JOB = { jid: "20240102030405000001", minions: ["web1", "off"], missing: ["gone"] };
const OPTIONS = { timeouts: { timeoutMs: 1, gatherMs: 1 }, opts: { config_dir: "/etc/salt" } };

async function* collected(): AsyncGenerator<Returned | Silent> {
  await Promise.resolve();
  yield { kind: "returned", id: "web1", return: 1, retcode: 3, outcome: "failed" };
  yield { kind: "silent", id: "off", outcome: "not connected" };
}

Deno.test("the answers to a job are its returns, the silent minions, and the ids that are not accepted", async () => {
  const outcomes = await Array.fromAsync(answers({ collect: collected }, JOB, {
    ...OPTIONS,
    signal: new AbortController().signal,
  }));
  assertEquals(outcomes.map(({ id, retcode, outcome }) => [id, retcode, outcome]), [
    ["web1", 3, "failed"],
    ["off", 1, "not connected"],
    ["gone", 1, "no such minion"],
  ]);
});

Deno.test("after the operator has ended the wait, silent minions are not shown", async () => {
  for (const [last, shown] of [["web1", ["web1"]], ["off", ["web1", "off"]]] as const) {
    const wait = new AbortController();
    const silent: string[] = [];
    for await (const { id } of answers({ collect: collected }, JOB, { ...OPTIONS, signal: wait.signal })) {
      silent.push(id);
      if (id === last) wait.abort();
    }
    assertEquals<readonly string[]>(silent, shown);
  }
});
