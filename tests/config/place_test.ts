import { PROCESS, userName } from "../../lib/config/place.ts";
import { assertEquals } from "../support/assert.ts";

Deno.test("the user who runs a process is named as the host's accounts name them, or by their number", async () => {
  const { stdout } = await new Deno.Command("id", { args: ["-un"] }).output();
  assertEquals(PROCESS.user(), new TextDecoder().decode(stdout).trim());
  assertEquals([userName(0), userName(3_999_999_999)], ["root", "3999999999"]);
});
