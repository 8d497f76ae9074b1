import { RefusedError } from "#lib/errors.ts";
import { PillarRequests } from "#lib/pillar/requests.ts";
import { plainRequest } from "#lib/pillar/request.ts";
import { assertEquals, assertRejects } from "#tests/support/assert.ts";

Deno.test("a request without a pillar is rejected with the reason; the answer to another request changes nothing", async () => {
  const keys: string[] = [];
  const requests = new PillarRequests(({ key }) => void keys.push(key), () => {}, 60_000);
  const request = plainRequest("web1", new Map(), {});
  const answer = (key: string, state: string) => ({ kind: "pillar", key, state, pillar: new Uint8Array([7]) });
  const replies = [1, 2, 3].map(() => requests.compile(request));
  requests.receive(answer("of another thread", "full"));
  requests.receive(answer("of another thread", "compiled"));
  for (const [i, state] of ["full", "lost", "compiled"].entries()) requests.receive(answer(keys[i], state));
  await assertRejects(() => replies[0], RefusedError, "too many minions wait for theirs");
  await assertRejects(() => replies[1], RefusedError, "the master is ending");
  assertEquals(await replies[2], new Uint8Array([7]));
  const late = new PillarRequests(() => {}, () => {}, 10);
  await assertRejects(() => late.compile(request), RefusedError, "it took too long");
});
