import { map } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { callState } from "#tests/support/calls/state_call.ts";

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

Deno.test("environ.setenv with clear_all changes all other variables", async () => {
  const name = "SALT_STATE_KEPT";
  const result = await callState("environ.setenv", { name, value: "x", clear_all: true, false_unsets: true }, {
    test: true,
  });
  const changes = result.get("changes");
  assert(changes instanceof Map);
  assertEquals(changes.get(name), "x");
  assertEquals(changes.size, Object.keys(Deno.env.toObject()).length + 1);
  assert([...changes].every(([key, value]) => key === name || value === null));
  assertEquals(result.get("comment"), "Environ values will be changed");
});

Deno.test("environ.setenv sets a variable of this process; the second run changes nothing", async () => {
  const name = "SALT_STATE_SET";
  try {
    const first = await callState("environ.setenv", { name, value: "x" });
    assertEquals([first.get("result"), first.get("changes")], [true, map({ [name]: "x" })]);
    assertEquals(Deno.env.get(name), "x");
    const again = await callState("environ.setenv", { name, value: "x" });
    assertEquals(again.get("comment"), "Environ values were already set with the correct values");
  } finally {
    Deno.env.delete(name);
  }
});
