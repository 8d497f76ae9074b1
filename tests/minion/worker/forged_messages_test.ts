/**
 * Messages that a custom module forges: they end its process, and reach no other job.
 * @module
 */

import { pack } from "#lib/minion/worker/job_protocol.ts";
import { packMessage } from "#lib/minion/worker/module_messages.ts";
import { map, str } from "#lib/values/value.ts";
import { assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { CustomModules, soon } from "#tests/support/calls/custom_modules.ts";

/** Messages that a module may not send, as bytes. */
const FORGED: Readonly<Record<string, unknown>> = {
  "that its job needs a worker with all permissions": { kind: "not_permitted", permissions: "all" },
  "a call of a function by the minion": {
    kind: "ask",
    id: 900,
    request: { what: "call", fun: "cmd.run", call: pack({}) },
  },
  "a signal without a number": { kind: "ask", id: 901, request: { what: "signal", jid: "1", signal: "9" } },
  "an output that is none": { kind: "output", written: { command: 1, stream: "stdin", bytes: "x" } },
  "a child that is no number": { kind: "child", pid: -1, state: "started" },
  "no map": ["done"],
  "an outcome that is no bytes": { kind: "done", outcome: { return: "forged" } },
};

for (const [what, message] of Object.entries(FORGED)) {
  Deno.test(`a custom module that forges ${what} is killed`, async () => {
    const bytes = [...pack(message)];
    await using fixture = new CustomModules({
      liar: `export async function f() { postMessage(new Uint8Array([${bytes}])); await new Promise(() => {}); }`,
    });
    assertStringIncludes(str(await fixture.run("liar.f")), "The module's process ended: it sent an invalid message:");
    assertEquals(await fixture.run("test.ping"), true);
  });
}

Deno.test("a custom module that sends invalid messages, or too many requests, is killed", async () => {
  const ask = packMessage({ kind: "ask", id: 7, request: { what: "running" } });
  await using fixture = new CustomModules({
    noise: "export async function f() { postMessage(new Uint8Array(1000).fill(0xc1)); await new Promise(() => {}); }",
    large: "export async function f() { postMessage(new Uint8Array(70e6)); await new Promise(() => {}); }",
    twice: `export async function f() { for (let n = 0; n < 1000; n++) postMessage(new Uint8Array([${[...ask]}]));
      await new Promise(() => {}); }`,
  });
  assertStringIncludes(str(await fixture.run("noise.f")), "it sent an invalid message");
  assertStringIncludes(str(await fixture.run("large.f")), "a message of 70000000 bytes");
  assertStringIncludes(str(await fixture.run("twice.f")), "it sent an invalid message: too many questions");
  assertEquals(await fixture.run("test.ping"), true);
});

Deno.test("an outcome forged by a custom module affects only its own job", async () => {
  const done = packMessage({
    kind: "done",
    outcome: pack({ return: "forged", retcode: 0, success: true, jid: "other" }),
  });
  await using fixture = new CustomModules({
    liar: `export async function f() { for (let n = 0; n < 3; n++) postMessage(new Uint8Array([${[
      ...done,
    ]}])); return "true"; }`,
    honest: "export async function f() { await new Promise((r) => setTimeout(r, 300)); return 'honest'; }",
  });
  const honest = fixture.start("honest.f");
  assertEquals(await fixture.run("liar.f"), "forged");
  assertEquals((await soon(honest.outcome, "the honest job")).get("return"), "honest");
  assertEquals(await fixture.run("honest.f"), "honest");
});

Deno.test("descriptions that a custom module forges are taken as far as they are some", async () => {
  const functions = [
    5,
    { name: "other.f" },
    { name: "liar.f", doc: 5, params: { a: 5, b: { type: "odd" }, c: { type: "int", default: 1 } }, varArgs: ["x"] },
  ];
  const done = packMessage({ kind: "done", outcome: pack({ functions, problems: 5 }) });
  await using fixture = new CustomModules({
    liar: `postMessage(new Uint8Array([${[...done]}])); export const f = () => 1;`,
  });
  assertEquals(await fixture.run("sys.list_functions", "liar"), ["liar.f"]);
  assertEquals(
    await fixture.run("sys.argspec", "liar.f"),
    map({ "liar.f": map({ args: ["c"], defaults: [1], varargs: null, kwargs: null }) }),
  );
});
