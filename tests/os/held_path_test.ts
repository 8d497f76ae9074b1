/** Files that are held while they are changed: their modes, and links of other users. */

import { CommandError } from "#lib/errors.ts";
import { createHeld, followForChange, holdDirectory, holdTarget } from "#lib/os/held_path.ts";
import { makeUsersDirectory } from "#modules/execution/ssh/files.ts";
import { findUser } from "#lib/os/users.ts";
import { run } from "#tests/support/processes.ts";
import { assertEquals, assertThrows } from "#tests/support/assert.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const ROOT_ONLY = { ignore: Deno.uid() !== 0 || Deno.build.os !== "linux" };

Deno.test("a held file is its maker's alone, and is no other object of its name", () =>
  withTemporaryDirectory((root) => {
    using directory = holdDirectory(root);
    using made = createHeld(directory, "new", (file) => {
      assertEquals((file.statSync().mode ?? 0) & 0o777, 0o600);
      file.writeSync(new TextEncoder().encode("text"));
    });
    assertEquals(Deno.readTextFileSync(made.path), "text");
    // What somebody has planted is not written.
    Deno.writeTextFileSync(`${root}/planted`, "old");
    Deno.symlinkSync(`${root}/planted`, `${root}/link`);
    for (const name of ["planted", "link"]) {
      assertThrows(() => createHeld(directory, name, () => {}), Deno.errors.AlreadyExists);
    }
    assertEquals(Deno.readTextFileSync(`${root}/planted`), "old");
    const exchange = () => {
      Deno.removeSync(`${root}/again`);
      Deno.symlinkSync(`${root}/planted`, `${root}/again`);
    };
    assertThrows(() => createHeld(directory, "again", exchange), CommandError, "was exchanged by another user");
  }));

Deno.test({
  ...ROOT_ONLY,
  name: "root follows a link of another user's, or in that user's directory, only to what is that user's",
  fn: () =>
    withTemporaryDirectory(async (root) => {
      const [mine, home] = [`${root}/mine`, `${root}/home`];
      for (const path of [mine, home]) Deno.mkdirSync(path);
      Deno.writeTextFileSync(`${mine}/secret`, "");
      Deno.writeTextFileSync(`${home}/own`, "");
      Deno.symlinkSync(`${mine}/secret`, `${home}/bad`);
      Deno.symlinkSync(mine, `${home}/directory`);
      Deno.symlinkSync(`${mine}/new`, `${home}/dangling`);
      Deno.symlinkSync("own", `${home}/good`);
      assertEquals((await run(["chown", "-hR", "65534:65534", home])).code, 0);
      // Root may have been led to take a link over.
      assertEquals((await run(["chown", "-h", "0:0", `${home}/bad`])).code, 0);
      for (const path of ["bad", "directory/secret", "dangling"]) {
        assertThrows(
          () => followForChange(`${home}/${path}`, () => `${mine}/new`),
          CommandError,
          "not followed as root",
        );
      }
      assertThrows(() => holdDirectory(`${home}/directory`), CommandError, "not followed as root");
      // What is not there is not looked for by its name again: by then the user may have put a link there.
      const again = () => {
        throw new Error("the name was resolved again");
      };
      const real = Deno.realPathSync(home);
      assertEquals(followForChange(`${home}/missing`, again), `${real}/missing`);
      assertEquals(followForChange(`${home}/own`, again), `${real}/own`);
      assertEquals(followForChange(`${home}/nowhere/missing`, again), `${home}/nowhere/missing`);
      Deno.symlinkSync("later", `${home}/own-dangling`);
      assertEquals(followForChange(`${home}/own-dangling`, again), `${real}/later`);
      Deno.symlinkSync("round", `${home}/round`);
      assertThrows(() => followForChange(`${home}/round`, again), Error);
      using good = holdTarget(`${home}/good`);
      assertEquals(good.status().ino, Deno.statSync(`${home}/own`).ino);
      // Links of root's in root's directories are followed.
      Deno.symlinkSync(`${home}/own`, `${mine}/link`);
      using followed = holdTarget(`${mine}/link`);
      assertEquals(followed.status().ino, good.status().ino);
    }),
});

Deno.test({
  ...ROOT_ONLY,
  name: "root enters neither a file nor a link as a directory",
  fn: () =>
    withTemporaryDirectory((root) => {
      Deno.writeTextFileSync(`${root}/file`, "");
      Deno.mkdirSync(`${root}/directory`);
      Deno.symlinkSync("directory", `${root}/link`);
      using held = holdDirectory(root);
      assertThrows(() => held.enter("file"), Deno.errors.NotADirectory, `open '${root}/file'`);
      assertThrows(() => held.enter("link"), CommandError, `'${root}/link' is a symbolic link`);
      using inside = held.enter("directory");
      assertEquals(Deno.realPathSync(inside.path), `${Deno.realPathSync(root)}/directory`);
    }),
});

Deno.test({
  ...ROOT_ONLY,
  name: "root makes no directory for ssh behind a user's link",
  fn: () =>
    withTemporaryDirectory((root) => {
      const [mine, home] = [`${root}/mine`, `${root}/home`];
      for (const path of [mine, home]) Deno.mkdirSync(path);
      Deno.symlinkSync(mine, `${home}/link`);
      Deno.chownSync(home, 65534, 65534);
      const nobody = findUser("nobody");
      if (nobody === undefined) throw new Error("this host has no user nobody");
      const user = { ...nobody, home };
      const refused = () => makeUsersDirectory(`${home}/link/.ssh`, user);
      assertThrows(refused, CommandError, "is a symbolic link of a user's");
      assertEquals([...Deno.readDirSync(mine)], []);
    }),
});
