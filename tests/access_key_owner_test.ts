import { createAccessKeys, restoreAccessKeys } from "../lib/access.ts";
import { accessKeyPath } from "../lib/master_paths.ts";
import { findUser } from "../lib/users.ts";
import { assertEquals } from "./assert.ts";

Deno.test("where root makes them, each user's key is that user's alone; nobody else gives anything away", () => {
  const cachedir = Deno.makeTempDirSync({ prefix: "owners_" });
  try {
    const ids = (user: string) => {
      const { uid, gid, mode } = Deno.lstatSync(accessKeyPath(cachedir, user));
      return { uid, gid, mode: (mode ?? 0) & 0o777 };
    };
    const own = { uid: Deno.uid(), gid: Deno.gid() };
    const other = findUser("nobody");
    const others = Deno.uid() === 0 && other !== undefined ? { uid: other.uid, gid: other.gid } : own;
    const keys = createAccessKeys(cachedir, ["root", "nobody", "no.such.user"]);
    const expected = { root: own, nobody: others, "no.such.user": own };
    const all = () => Object.fromEntries(Object.keys(expected).map((user) => [user, ids(user)]));
    const right = Object.fromEntries(Object.entries(expected).map(([user, id]) => [user, { ...id, mode: 0o400 }]));
    assertEquals(all(), right);

    for (const user of ["nobody", "root"]) Deno.removeSync(accessKeyPath(cachedir, user));
    assertEquals(restoreAccessKeys(cachedir, keys), ["root", "nobody"]);
    assertEquals(all(), right);
    assertEquals(restoreAccessKeys(cachedir, keys), []);
  } finally {
    Deno.removeSync(cachedir, { recursive: true });
  }
});
