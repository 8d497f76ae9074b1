import { provenSession, provenToken } from "#lib/api/endpoints/proven.ts";
import { ApiError } from "#lib/api/http/api_error.ts";
import { assertEquals, assertThrows } from "#tests/support/assert.ts";

Deno.test("a request without a session or a token is nobody's, whatever let it through", () => {
  for (const take of [() => provenSession({ session: undefined }), () => provenToken({ held: undefined })]) {
    assertEquals(assertThrows(take, ApiError).status, 401);
  }
  const session = { id: "0".repeat(40), token: "t", user: "alice", eauth: "file", expireS: 1, usedMs: 1 };
  assertEquals(provenSession({ session }), session);
  const held = { token: "t", name: "alice", eauth: "file", groups: [], data: new Map() };
  assertEquals(provenToken({ held }), held);
});
