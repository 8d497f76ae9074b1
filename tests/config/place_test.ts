import { PROCESS, userName } from "#lib/config/place.ts";
import { assertEquals } from "#tests/support/assert.ts";

Deno.test("the user of a process has the name of the host's account, or the user id", async () => {
  const { stdout } = await new Deno.Command("id", { args: ["-un"] }).output();
  assertEquals(PROCESS.user(), new TextDecoder().decode(stdout).trim());
  assertEquals([userName(0), userName(3_999_999_999)], ["root", "3999999999"]);
});
