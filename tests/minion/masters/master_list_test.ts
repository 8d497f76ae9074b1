/**
 * Where a minion that starts finds its masters: its options, the DNS, or an execution function.
 * @module
 */

import { masterName } from "#lib/config/master_entries.ts";
import { SignInError } from "#lib/errors.ts";
import { findMasters, type MasterListParts } from "#lib/minion/masters/master_list.ts";
import type { Value } from "#lib/values/value.ts";
import { assertEquals, assertRejects, assertStringIncludes } from "#tests/support/assert.ts";
import { testOpts } from "#tests/support/calls/job_context.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";

function findings(options: Readonly<Record<string, Value>>, parts: Partial<MasterListParts> = {}) {
  const { log, lines } = memoryLog();
  const given = {
    log,
    signal: AbortSignal.timeout(60_000),
    call: () => Promise.reject(new Error("no call")),
    ...parts,
  };
  const find = async () => (await findMasters(testOpts(options), given)).map(masterName);
  return { lines, find };
}

for (const returned of [null, 5, [], ["a", 5], new Map()]) {
  Deno.test(`master_type: func: what is no master (${JSON.stringify(returned)}) ends the start`, async () => {
    const { find } = findings({ master_type: "func", master: "my.masters" }, { call: () => Promise.resolve(returned) });
    await assertRejects(find, SignInError, "returned from my.masters is not a string");
  });
}

Deno.test("master_type: func: a text or a list is the masters, and what is none in it is named", async () => {
  const of = (returned: Value) =>
    findings({ master_type: "func", master: "my.masters" }, { call: () => Promise.resolve(returned) });
  assertEquals(await of("a").find(), ["a:4506"]);
  const { find, lines } = of(["a", "bad host", "b:5506", "a:4506"]);
  assertEquals(await find(), ["a:4506", "b:5506"]);
  assertStringIncludes(lines.join("\n"), "the others of the list are used");
  await assertRejects(of(["bad host"]).find, SignInError, "No master is configured: ");
});

Deno.test("a DNS service is looked up again, at most retry_dns_count times; an empty answer is named", async () => {
  const record = { priority: 1, weight: 1, port: 5506, target: "salt1.example.com." };
  let asked = 0;
  const options = { master: "_salt._tcp.example.com", retry_dns: 0.01, retry_dns_count: 3 };
  const { find, lines } = findings(options, { lookUp: () => Promise.resolve(++asked < 3 ? [] : [record]) });
  assertEquals([await find(), asked], [["salt1.example.com:5506"], 3]);
  assertEquals(
    lines.filter((line) => line.startsWith("ERROR")),
    [1, 2].flatMap(() => [
      "ERROR The DNS service _salt._tcp.example.com names no master",
      "ERROR No DNS record names a master; looking again in 0.01 seconds (retry_dns)",
    ]),
  );
  asked = -10;
  await assertRejects(find, SignInError, "No DNS record names a master");
  assertEquals(asked, -7);
});
