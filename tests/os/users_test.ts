/** @module */
import { parseGroup, parsePasswd } from "#lib/os/account_records.ts";
import { findGroup, findUser, groupIdsOf, hostUsers } from "#lib/os/users.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const PASSWD = `root:x:0:0:root:/root:/bin/bash
# a comment:x:1:1::/:/bin/sh
web:x:1000:1000:Web,Room 1:/srv/web:/usr/sbin/nologin
empty:x:1001:100:::
+nis::0:0:::
broken:x:one:1::/:/bin/sh
short:x:7
`;
const GROUP = `root:x:0:
users:x:100:
web:x:1000:
www:x:33:web,other
adm:x:4:other, web,web
logs:x:5:web
broken:x:x:web
`;

Deno.test("parsePasswd() reads users and leaves out comments, NIS entries and invalid lines", () => {
  assertEquals(parsePasswd(PASSWD).map(({ name }) => name), ["root", "web", "empty"]);
  assertEquals(parsePasswd(PASSWD)[1], {
    name: "web",
    passwd: "x",
    uid: 1000,
    gid: 1000,
    gecos: "Web,Room 1",
    home: "/srv/web",
    shell: "/usr/sbin/nologin",
  });
  assertEquals(parsePasswd(PASSWD)[2].shell, "");
  assertEquals(parsePasswd(""), []);
});

Deno.test("parseGroup() reads groups and their members", () => {
  assertEquals(parseGroup(GROUP).map(({ name, gid }) => [name, gid]), [
    ["root", 0],
    ["users", 100],
    ["web", 1000],
    ["www", 33],
    ["adm", 4],
    ["logs", 5],
  ]);
  assertEquals(parseGroup(GROUP)[3].members, ["web", "other"]);
});

Deno.test("users and groups are found by name and by id, and a user's groups begin with the primary one", () =>
  withTemporaryDirectory((dir) => {
    const files = { passwd: `${dir}/passwd`, group: `${dir}/group` };
    Deno.writeTextFileSync(files.passwd, PASSWD);
    Deno.writeTextFileSync(files.group, GROUP);
    assertEquals(findUser("web", files)?.uid, 1000);
    assertEquals(findUser(1000, files)?.name, "web");
    assertEquals(findUser("1000", files), undefined);
    assertEquals(findUser("nobody", files), undefined);
    assertEquals(hostUsers(files), ["root", "web", "empty"]);
    assertEquals(findGroup("www", files)?.gid, 33);
    assertEquals(findGroup(33, files)?.name, "www");
    const web = findUser("web", files);
    assert(web !== undefined);
    assertEquals(groupIdsOf(web, files), [1000, 33, 4, 5]);
    assertEquals(findUser("web", { passwd: `${dir}/missing` }), undefined);
  }));

Deno.test("this host's root is found, but no user with an invalid name", () => {
  assertEquals(findUser(0)?.name, "root");
  assertEquals(findUser("no-such-user-here"), undefined);
  assertEquals(findUser("--help"), undefined);
  assertEquals(findGroup("no-such-group-here"), undefined);
});

Deno.test("a passwd file is read again when it has changed", () =>
  withTemporaryDirectory((dir) => {
    const files = { passwd: `${dir}/passwd` };
    const write = (name: string) => {
      Deno.writeTextFileSync(`${dir}/new`, `${name}:x:1000:1000::/:\n`);
      Deno.renameSync(`${dir}/new`, files.passwd); // as useradd writes it
    };
    write("web");
    assertEquals([findUser("web", files)?.uid, findUser("app", files)?.uid], [1000, undefined]);
    write("app"); // of the same size, and at the same time
    assertEquals([findUser("web", files)?.uid, findUser("app", files)?.uid], [undefined, 1000]);
    Deno.removeSync(files.passwd);
    assertEquals(findUser("app", files), undefined);
  }));
