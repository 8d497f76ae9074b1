/** The arguments and the input of gpg, recorded by a program in place of gpg. */

import { CommandError, InvocationError } from "#lib/errors.ts";
import { Gpg, type GpgHost } from "#lib/host/gnupg/gpg.ts";
import { assert, assertEquals, assertRejects } from "#tests/support/assert.ts";
import { SearchPath } from "#tests/support/search_path.ts";

const HOST: GpgHost = { signal: new AbortController().signal, child: () => {}, log: () => {} };

/** A directory whose `gpg` prints its arguments, then what it reads. */
class Place implements Disposable {
  readonly root = Deno.makeTempDirSync({ prefix: "gpg_" });
  readonly #path = new SearchPath(this.root);

  constructor() {
    Deno.writeTextFileSync(`${this.root}/gpg`, '#!/bin/sh\nprintf "%s " "$@"; echo; exec cat\n', { mode: 0o755 });
  }

  [Symbol.dispose](): void {
    this.#path[Symbol.dispose]();
    Deno.removeSync(this.root, { recursive: true });
  }
}

Deno.test("gpg reads a passphrase before the input, without a prompt", async () => {
  using place = new Place();
  const gpg = new Gpg({ home: "/home/x" }, HOST);
  Deno.writeTextFileSync(`${place.root}/file`, "of a file");
  const outputOf = async (...given: Parameters<Gpg["run"]>) => {
    const [line, ...rest] = new TextDecoder().decode((await gpg.run(...given)).stdout).split("\n");
    assertEquals(line.includes("--passphrase-fd 0"), given[1]?.passphrase !== undefined);
    assertEquals(line.includes("--pinentry-mode loopback"), given[1]?.passphrase !== undefined);
    assert(line.endsWith(" --homedir /home/x --sign ") || line.includes("--passphrase-fd 0 --sign "), line);
    return rest.join("\n");
  };
  assertEquals(await outputOf(["--sign"], { input: "text" }), "text");
  assertEquals(await outputOf(["--sign"], { input: "text", passphrase: "pass" }), "pass\ntext");
  assertEquals(await outputOf(["--sign"], { input: new Uint8Array([0x61]), passphrase: "é" }), "é\na");
  assertEquals(await outputOf(["--sign"], { file: `${place.root}/file`, passphrase: "pass" }), "pass\nof a file");
});

Deno.test("a passphrase with several lines is rejected, and so is too much output", async () => {
  using _place = new Place();
  for (const passphrase of ["a\nb", "a\rb", "a\0b"]) {
    await assertRejects(
      () => new Gpg({ home: "/" }, HOST).run([], { passphrase }),
      InvocationError,
      "Invalid passphrase",
    );
  }
  const small = new Gpg({ home: "/" }, HOST, 1_000);
  await assertRejects(
    () => small.run([], { input: "x".repeat(2_000) }),
    CommandError,
    "gpg wrote more than 1000 bytes",
  );
});
