import { assertEquals } from "#tests/support/assert.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";
import { callState } from "#tests/support/calls/state_call.ts";

testRecordedCases("states", "http");

Deno.test("http.query and http.wait_for_successful_query check the response of a server", async () => {
  let requests = 0;
  const server = Deno.serve({ port: 0, hostname: "127.0.0.1", onListen: () => {} }, () => {
    requests++;
    return new Response(requests < 3 ? "not yet" : "ready", { status: requests < 3 ? 503 : 200 });
  });
  try {
    const name = `http://127.0.0.1:${server.addr.port}/`;
    const first = await callState("http.query", { name, match: "ready" });
    assertEquals([first.get("result"), first.get("comment")], [false, 'Match text "ready" was not found.']);
    const args = { name, match: "ready", status: 200, wait_for: 10, request_interval: 0.01 };
    const waited = await callState("http.wait_for_successful_query", args);
    assertEquals(waited.get("comment"), 'Match text "ready" was found. Status 200 was found.');
    assertEquals([waited.get("result"), requests], [true, 3]);
    const never = await callState("http.wait_for_successful_query", { ...args, match: "never", wait_for: 0 });
    assertEquals(never.get("result"), false);
  } finally {
    await server.shutdown();
  }
});
