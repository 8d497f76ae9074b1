import type { Value } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { answeringContext, resultOrError, testOpts } from "#tests/support/calls/job_context.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

testRecordedCases("execution", "hosts");

const minion = (answers: Readonly<Record<string, Value>>, options: Readonly<Record<string, Value>> = {}) =>
  answeringContext(answers, { opts: testOpts(options) });

Deno.test("hosts reports a hosts file that is not text, and ssh a missing key", async () => {
  await withTemporaryDirectory(async (root) => {
    Deno.writeFileSync(`${root}/hosts`, Uint8Array.of(0x31, 0xff, 0xfe, 0x0a));
    const context = minion({ "config.option": `${root}/hosts` });
    const result = await resultOrError(context, "hosts.list_hosts");
    assert(typeof result === "string" && result.includes(`${root}/hosts`), String(result));
    assertEquals(await resultOrError(context, "ssh.key_is_encrypted", [`${root}/none`]), `${root}/none does not exist`);
    assertEquals(
      await resultOrError(context, "ssh.set_known_host", ["nosuch-user", "h"], {
        key: "AAAA",
        config: `${root}/known`,
      }),
      "User 'nosuch-user' does not exist",
    );
  });
});
