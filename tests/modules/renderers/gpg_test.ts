import { SearchPath } from "#tests/support/search_path.ts";
import { assertEquals, assertRejects } from "@std/assert";
import { RenderError } from "#lib/errors.ts";
import { renderValue } from "#lib/render/render_value.ts";
import { renderSls } from "#lib/render/render.ts";
import { map, type Value } from "#lib/values/value.ts";
import { renderFixture } from "#tests/support/files/render_scope.ts";

const message = (text: string) => `-----BEGIN PGP MESSAGE-----\n\n${text}\n-----END PGP MESSAGE-----`;

/** A gpg that returns the third line as the plain text, and records its arguments. */
const GPG = `#!/bin/sh
echo "$*" >> "$(dirname "$0")/calls"
secret=$(sed -n 3p)
[ "$secret" = broken ] && { echo "gpg: decryption failed" >&2; exit 2; }
[ "$secret" = bytes ] && { printf '\\377\\376\\n'; exit 0; }
echo "plain $secret"
`;

async function withGpg(work: (calls: () => string[]) => Promise<void>): Promise<void> {
  const directory = await Deno.makeTempDir({ prefix: "gpg_" });
  await Deno.writeTextFile(`${directory}/gpg`, GPG, { mode: 0o755 });
  using _path = new SearchPath(directory);
  try {
    await work(() => Deno.readTextFileSync(`${directory}/calls`).trim().split("\n"));
  } finally {
    await Deno.remove(directory, { recursive: true });
  }
}

Deno.test("gpg decrypts the messages in texts, each once, and keeps the order of keys", async () => {
  await withGpg(async (calls) => {
    const indented = message("one").replaceAll("\n", "\n    ");
    const text = `#!yaml|gpg\na: |\n    ${indented}\nb: [x, "${message("one").replaceAll("\n", "\\n")}"]\nc: 5\n`;
    const { data, positions } = await renderSls(
      { text, path: "/x.sls" },
      renderFixture({ opts: { gpg_keydir: "/keys" } }),
    );
    assertEquals(data, map({ a: "plain one", b: ["x", "plain one"], c: 5 }));
    assertEquals(data instanceof Map && positions.key(data, "c")?.line, 8);
    assertEquals(calls(), ["--homedir /keys --status-fd 2 --no-tty -d"]);
  });
});

Deno.test("gpg: a text that cannot be decrypted is an error, or stays unchanged", async () => {
  await withGpg(async () => {
    const broken = message("broken");
    const failed = () => renderValue("gpg", map({ a: broken }), renderFixture());
    await assertRejects(failed, RenderError, "Could not decrypt cipher, received: gpg: decryption failed");
    const host = renderFixture({ opts: { gpg_decrypt_must_succeed: false } });
    assertEquals(await renderValue("gpg", map({ a: broken }), host), map({ a: broken }));
    assertEquals(host.logged.length, 1);
  });
});

Deno.test("gpg: bytes that are not text stay bytes, and escaped line ends are read with the option", async () => {
  await withGpg(async () => {
    const host = renderFixture();
    assertEquals(await renderValue("gpg", [message("bytes")], host), [new Uint8Array([255, 254])]);
    const written = message("two").replaceAll("\n", "\\n");
    assertEquals(await renderValue("gpg", `a ${written} b\\n`, host, { translateNewlines: true }), "a plain two\n b");
  });
});

Deno.test("gpg: the key directory is in the configuration directory, or is the value of config.get", async () => {
  await withGpg(async (calls) => {
    await renderValue("gpg", message("x"), renderFixture({ opts: { config_dir: "/etc/mine" } }));
    const functions = { "config.get": ([name]: Value[]) => name === "gpg_keydir" ? "/asked" : "" };
    await renderValue("gpg", message("x"), renderFixture({ functions }));
    assertEquals(calls().map((call) => call.split(" ")[1]), ["/etc/mine/gpgkeys", "/asked"]);
  });
});

Deno.test("gpg: bytes with a message are decrypted, others and deep data are not searched for ever", async () => {
  await withGpg(async () => {
    const bytes = new TextEncoder().encode(`a ${message("x")}`);
    assertEquals(await renderValue("gpg", [bytes, new Uint8Array([0xff])], renderFixture()), [
      "a plain x",
      new Uint8Array([0xff]),
    ]);
    let deep: Value = "x";
    for (let i = 0; i < 502; i++) deep = [deep];
    await assertRejects(() => renderValue("gpg", deep, renderFixture()), RenderError, "nested deeper than 500 levels");
  });
});
