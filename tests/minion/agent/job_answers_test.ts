/** Questions of jobs that do not have the shape of their kind. */

import { WireError } from "#lib/errors.ts";
import { type AnsweringMinion, answerJob } from "#lib/minion/agent/job_answers.ts";
import { type MinionRequest, pack } from "#lib/minion/worker/job_protocol.ts";
import { map, type ValueMap } from "#lib/values/value.ts";
import { assertEquals, assertRejects } from "#tests/support/assert.ts";
import { testOpts } from "#tests/support/calls/job_context.ts";

const fired: [string, ValueMap][] = [];
const MINION: AnsweringMinion = {
  opts: testOpts(),
  known: { grains: map({ id: "web1" }), pillarFor: () => Promise.resolve(map({})) },
  refreshes: { grains: () => Promise.resolve(), modules: () => Promise.resolve(), pillar: () => Promise.resolve() },
  masters: () => undefined,
  fireLocal: (tag, data) => Promise.resolve(fired.push([tag, data]) > 0),
  pythonSocket: () => Promise.resolve("/run/python"),
  keeperSocket: () => Promise.resolve(undefined),
};

Deno.test("a request and a question of a job must be maps; the data of an event become one", async () => {
  const ask = (request: MinionRequest) => answerJob(request, undefined, MINION);
  await assertRejects(() => ask({ what: "request", load: pack([]) }), WireError, "a request is not a map");
  const question = { what: "ask", tag: "t", answerTag: "a", waitS: 1 } as const;
  await assertRejects(() => ask({ ...question, data: pack("text") }), WireError, "a question is not a map");
  assertEquals(await ask({ what: "fire", tag: "t/1", data: pack([1]) }), true);
  assertEquals(fired, [["t/1", map({ data: [1] })]]);
  assertEquals([await ask({ what: "grains" }), await ask({ what: "keeper" })], [map({ id: "web1" }), null]);
});
