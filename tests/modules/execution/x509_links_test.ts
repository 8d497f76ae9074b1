/**
 * Keys and certificates are not written where a link of another user leads.
 * @module
 */

import { CommandError } from "#lib/errors.ts";
import { findUser } from "#lib/os/users.ts";
import { writePem } from "#modules/execution/x509/common.ts";
import corpus from "#tests/corpus/x509.json" with { type: "json" };
import { assertEquals, assertThrows } from "#tests/support/assert.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

Deno.test({
  name: "a PEM file is not written through a link of another user to a file of root's",
  ignore: Deno.uid() !== 0 || findUser("nobody") === undefined,
  fn: () =>
    withTemporaryDirectory((root) => {
      const pem = corpus.certificates[0].made.value ?? "";
      const nobody = findUser("nobody")?.uid ?? 0;
      Deno.writeTextFileSync(`${root}/roots`, "precious");
      Deno.mkdirSync(`${root}/theirs`);
      for (const [name, target] of [["key.pem", "../roots"], ["new.pem", "../made"]]) {
        Deno.symlinkSync(target, `${root}/theirs/${name}`);
      }
      Deno.chownSync(`${root}/theirs`, nobody, null);
      for (const name of ["key.pem", "new.pem"]) {
        assertThrows(() => writePem(pem, `${root}/theirs/${name}`, true, "CERTIFICATE"), CommandError);
      }
      assertEquals(Deno.readTextFileSync(`${root}/roots`), "precious");
      assertEquals([...Deno.readDirSync(root)].map(({ name }) => name).sort(), ["roots", "theirs"]);
      writePem(pem, `${root}/theirs/own.pem`, true, "CERTIFICATE");
      assertEquals((Deno.statSync(`${root}/theirs/own.pem`).mode ?? 0) & 0o777, 0o600);
    }),
});
