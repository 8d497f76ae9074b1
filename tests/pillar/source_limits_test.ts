/**
 * Sources of external pillar at their limits: trees, lists of files and pages that are too large.
 * @module
 */

import { assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { withPillar } from "#tests/support/files/pillar_scope.ts";

const MIB = 1 << 20;

Deno.test("file_tree leaves out entries that are not files, and rejects trees that are too deep or too large", () =>
  withPillar(
    { "ft/hosts/odd/x": "1", "ft/hosts/deep/x": "1", "ft/hosts/large/x": "1" },
    "ext_pillar: [{file_tree: {root_dir: '{root}/ft'}}]",
    async ({ pillar, root, errors }) => {
      Deno.symlinkSync("nowhere", `${root}/ft/hosts/odd/gone`);
      assertEquals(await pillar("odd"), "{'x': '1'}");
      assertEquals(errors, [`file_tree: ${root}/ft/hosts/odd/gone: not a regular file`]);
      Deno.mkdirSync(`${root}/ft/hosts/deep/${Array.from({ length: 42 }, () => "d").join("/")}`, { recursive: true });
      assertStringIncludes(await pillar("deep"), "is more than 40 directories deep");
      // It needs no disk space.
      for (const name of ["a", "b"]) {
        Deno.writeTextFileSync(`${root}/ft/hosts/large/${name}`, "");
        Deno.truncateSync(`${root}/ft/hosts/large/${name}`, name === "a" ? 1 : 64 * MIB);
      }
      assertStringIncludes(await pillar("large"), `more than ${64 * MIB} bytes`);
    },
  ));

Deno.test("stack rejects a pattern that matches more than ten thousand files", () =>
  withPillar(
    { "s.cfg": "many/*\n", "many/x": "" },
    "ext_pillar: [{stack: '{root}/s.cfg'}]",
    async ({ pillar, root }) => {
      for (let i = 0; i < 10_000; i++) Deno.linkSync(`${root}/many/x`, `${root}/many/${i}`);
      assertStringIncludes(await pillar(), '"many/*" means more than 10000 files');
    },
  ));

Deno.test("http_yaml rejects an endless page", async () => {
  await using server = Deno.serve({ hostname: "127.0.0.1", port: 0, onListen: () => {} }, () => {
    const piece = new Uint8Array(MIB).fill(0x20);
    return new Response(new ReadableStream({ pull: (controller) => controller.enqueue(piece) }));
  });
  const options = `ext_pillar: [{http_yaml: {url: 'http://127.0.0.1:${server.addr.port}/'}}]`;
  await withPillar({}, options, async ({ pillar, errors }) => {
    assertEquals(await pillar(), "{}");
    assertStringIncludes(errors.join("\n"), `it has more than ${64 * MIB} bytes`);
  });
});
