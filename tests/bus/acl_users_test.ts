import { findAclUsers, openKeysToAclUsers, openToAclUsers } from "#lib/bus/acl_users.ts";
import { accessKeyPath } from "#lib/config/master_paths.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const LINUX = { ignore: Deno.build.os !== "linux" };

function mode(path: string): string {
  return ((Deno.statSync(path).mode ?? 0) & 0o7777).toString(8);
}

Deno.test(
  "a file opened to users keeps the permissions of its group, and is closed again",
  LINUX,
  () =>
    withTemporaryDirectory((directory) => {
      const cases = [["700", "710"], ["750", "750"], ["740", "750"]] as const;
      for (const [before, meanwhile] of cases) {
        Deno.chmodSync(directory, parseInt(before, 8));
        for (const uids of [[4711], [4712, 4711], [4712]]) {
          for (let twice = 0; twice < 2; twice++) openToAclUsers(directory, "pass", uids);
          assertEquals(mode(directory), meanwhile); // the group's bits are the mask: the maximum for all users
        }
        openToAclUsers(directory, "pass", []);
        assertEquals(mode(directory), before);
        openToAclUsers(directory, "pass", []);
        assertEquals(mode(directory), before);
      }
    }),
);

Deno.test("only users of the host that are neither root nor the master's user get access", () => {
  assertEquals(findAclUsers(["no such user", "root", "../evil"]), []);
  const self = findAclUsers([String(Deno.uid())]);
  assertEquals(self, []);
});

Deno.test(
  "each user of publisher_acl gets access to its own key, and to two directories",
  LINUX,
  () =>
    withTemporaryDirectory((root) => {
      const places = { cachedir: `${root}/cache`, sock_dir: `${root}/sock` };
      for (const path of Object.values(places)) Deno.mkdirSync(path, { mode: 0o700 });
      for (const name of ["alice", "bob"]) {
        Deno.writeTextFileSync(accessKeyPath(places.cachedir, name), "", { mode: 0o400 });
        Deno.chmodSync(accessKeyPath(places.cachedir, name), 0o400);
      }
      openKeysToAclUsers(places, [{ name: "alice", uid: 4711 }]);
      assertEquals(Object.values(places).map(mode), ["710", "710"]);
      assertEquals(["alice", "bob"].map((name) => mode(accessKeyPath(places.cachedir, name))), ["440", "400"]);
    }),
);
