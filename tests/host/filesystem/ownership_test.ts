/** @module */
import { setMode } from "#lib/host/filesystem/ownership.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const NOBODY = 65534;

Deno.test({
  name: "a file of root's with a second name in a user's directory is not changed there; everything else is",
  ignore: Deno.uid() !== 0 || Deno.build.os !== "linux",
  fn: () =>
    withTemporaryDirectory((root) => {
      const home = `${root}/home`, own = `${root}/own`;
      for (const path of [home, own]) Deno.mkdirSync(path);
      for (const name of ["roots", "users", "two"]) Deno.writeTextFileSync(`${own}/${name}`, "", { mode: 0o600 });
      Deno.linkSync(`${own}/roots`, `${home}/roots`);
      Deno.linkSync(`${own}/users`, `${home}/users`);
      Deno.linkSync(`${own}/two`, `${own}/second`);
      Deno.writeTextFileSync(`${home}/single`, "", { mode: 0o600 });
      Deno.mkdirSync(`${home}/directory`);
      for (const path of [home, `${home}/users`]) Deno.chownSync(path, NOBODY, NOBODY);
      assertEquals(setMode(`${home}/roots`, "644"), "Invalid Mode 644");
      assertEquals(((Deno.statSync(`${own}/roots`).mode ?? 0) & 0o777).toString(8), "600");
      for (const path of [`${own}/roots`, `${own}/two`, `${home}/users`, `${home}/single`, `${home}/directory`]) {
        assertEquals(setMode(path, "750"), "0750", path);
      }
    }),
});
