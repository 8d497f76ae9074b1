/** Files that are not served: `file_ignore_regex` and `file_ignore_glob`. */

import { ignoredFiles } from "#lib/files/backends/ignored.ts";
import { assertEquals, assertStringIncludes } from "#tests/support/assert.ts";

Deno.test("an expression that cannot be read is left out; a path that takes too long to test is not served; both are logged", () => {
  const logged: string[] = [];
  const isIgnored = ignoredFiles(
    { file_ignore_regex: ["(", "[.]bak$", "^(a*)(a*)(a*)(a*)(a*)\\1b$"], file_ignore_glob: ["*.swp"] },
    { log: (level, message) => void logged.push(`${level} ${message}`) },
  );
  assertEquals(logged, ["warning Unable to parse file_ignore_regex. Skipping: ("]);
  const paths = ["web/a.sls", "web/a.bak", "web/a.bak/b", "x/.a.swp"];
  assertEquals(paths.filter(isIgnored), ["web/a.bak", "x/.a.swp"]);
  assertEquals([isIgnored("a".repeat(400)), logged.length], [true, 2]);
  assertStringIncludes(logged[1], "warning A file is not served, as file_ignore_regex cannot be tested: ");
});
