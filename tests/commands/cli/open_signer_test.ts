/** The key of `--sign`: which commands sign, and how its passphrase is asked. */

import { openSigner } from "#lib/commands/cli/open_signer.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { TestOperator, withoutOpenSsh } from "#tests/support/fleet/operator.ts";

Deno.test("without --sign nothing is signed", async () => {
  for (const sign of [false, null, "false"]) assertEquals(await openSigner(sign, undefined), undefined);
});

Deno.test({
  name: `the passphrase of a key file is asked without showing it${
    withoutOpenSsh === undefined ? "" : ` (${withoutOpenSsh})`
  }`,
  ignore: withoutOpenSsh !== undefined,
  fn: async () => {
    await using operator = await TestOperator.withFile("correct horse");
    const asked: unknown[] = [];
    using signer = await openSigner(true, (question, how) => {
      asked.push([question, how]);
      return Promise.resolve("correct horse");
    });
    assertEquals(asked, [
      [`Passphrase of ${operator.directory}/config/salt/operator_key: `, { hidden: true }],
    ]);
    assertEquals((await signer?.sign(new TextEncoder().encode("statement")))?.has("sig"), true);
  },
});
