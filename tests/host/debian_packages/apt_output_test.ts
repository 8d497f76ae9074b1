import { parseAptInfo } from "#lib/host/debian_packages/apt_output.ts";
import { assertEquals } from "#tests/support/assert.ts";

Deno.test("a line of dpkg-query without a field is left out", () => {
  const [info] = parseAptInfo("package:bash\nodd line\nversion:5.2\ndescription:a shell\n more: of it");
  assertEquals([...info], [["package", "bash"], ["version", "5.2"], ["description", "a shell\n more: of it"]]);
});
