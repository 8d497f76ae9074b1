/** @module */
import { CommandError } from "#lib/errors.ts";
import { changeOwner, setMode } from "#lib/host/filesystem/ownership.ts";
import { assertEquals, assertThrows } from "#tests/support/assert.ts";
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

Deno.test({
  name: "the owner of a link is changed, and that of the file where it leads stays; no file of root's by a user's name",
  ignore: Deno.uid() !== 0 || Deno.build.os !== "linux",
  fn: () =>
    withTemporaryDirectory((root) => {
      const home = `${root}/home`, file = `${root}/file`, link = `${root}/link`, dangling = `${root}/dangling`;
      Deno.mkdirSync(home);
      Deno.writeTextFileSync(file, "");
      Deno.symlinkSync(file, link);
      Deno.symlinkSync(`${root}/none`, dangling);
      const owner = (path: string) => Deno.lstatSync(path).uid;
      const nobody = { user: NOBODY, group: NOBODY };
      assertEquals(changeOwner(link, { ...nobody, link: true }), undefined);
      assertEquals([owner(link), owner(file)], [NOBODY, 0]);
      assertEquals(changeOwner(dangling, nobody), undefined);
      assertEquals(owner(dangling), NOBODY);
      const unknown = { user: "nosuchuser", group: null };
      assertEquals(changeOwner(dangling, unknown), "User does not exist\nFile not found");
      assertThrows(() => changeOwner(link, { ...unknown, link: true }), CommandError, "User does not exist");
      assertEquals(changeOwner(file, nobody), undefined);
      assertEquals(owner(file), NOBODY);

      Deno.writeTextFileSync(`${root}/roots`, "");
      Deno.linkSync(`${root}/roots`, `${home}/roots`);
      Deno.symlinkSync("/", `${root}/rootslink`);
      Deno.linkSync(`${root}/rootslink`, `${home}/rootslink`);
      Deno.chownSync(home, NOBODY, NOBODY);
      assertThrows(() => changeOwner(`${home}/roots`, nobody), CommandError, "other names");
      assertThrows(() => changeOwner(`${home}/rootslink`, { ...nobody, link: true }), CommandError, "other names");
      assertEquals([owner(`${root}/roots`), owner(`${root}/rootslink`)], [0, 0]);
    }),
});
