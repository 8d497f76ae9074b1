/**
 * Users, groups and passwords in a temporary root directory, changed by the real programs.
 * @module
 */
import { parseGecos } from "#lib/host/accounts/gecos.ts";
import { hashPassword } from "#lib/host/accounts/password_hash.ts";
import { which } from "#lib/programs/which.ts";
import { canCrypt } from "#lib/libc/crypt.ts";
import { map, toValue, type Value } from "#lib/values/value.ts";
import { AccountRoot } from "#tests/support/calls/account_root.ts";
import {
  assert,
  assertEquals,
  assertMatch,
  assertNotEquals,
  assertStringIncludes,
  assertThrows,
} from "#tests/support/assert.ts";
import { run, testContext } from "#tests/support/calls/job_context.ts";

async function call(name: string, ...args: unknown[]): Promise<Value> {
  return (await run(name, args.map(toValue), testContext())).return;
}

const there = Deno.uid() === 0 && which("useradd") !== undefined && which("chage") !== undefined;

Deno.test({
  name: "users and groups are added, changed and deleted in a root directory",
  ignore: !there,
  async fn() {
    using root = new AccountRoot();
    const within = (more: Record<string, unknown> = {}) => map({ __kwarg__: true, root: root.path, ...more });
    assertEquals(await call("group.add", "team", 2000, within()), true);
    assertEquals(
      await call("group.info", "team", within()),
      map({ name: "team", passwd: "x", gid: 2000, members: [] }),
    );
    assertEquals(await call("group.add", "team", within()), false, "it is there already");
    assertEquals(await call("group.chgid", "team", 2001, within()), true);

    const more = { groups: ["team", "staff"], fullname: "A B", workphone: "1", shell: "/bin/sh", createhome: false };
    assertEquals(await call("user.add", "ann", 1500, within(more)), true);
    const ann = {
      gid: 1500,
      groups: ["ann", "staff", "team"],
      home: "/home/ann",
      name: "ann",
      passwd: "x",
      shell: "/bin/sh",
      uid: 1500,
      ...parseGecos("A B,,1"),
    };
    assertEquals(await call("user.info", "ann", within()), map(ann));
    assertEquals(await call("user.list_users", within()), ["ann", "root"]);
    assertEquals(await call("user.chuid", "ann", 1600, within()), true);
    assertEquals(await call("user.chgid", "ann", 60, within()), true);
    assertMatch(root.read("passwd"), /^ann:x:1600:60:/m);
    assertEquals(await call("user.chgid", "ann", 1500, within()), true);
    assertEquals(await call("user.chshell", "ann", "/bin/bash", within()), true);
    assertEquals(await call("user.chhome", "ann", "/srv/ann", within()), true);
    assertEquals(await call("user.chother", "ann", "x,y", within()), true);
    assertEquals(await call("user.chgroups", "ann", "staff", within()), true);
    assertEquals(await call("user.chgroups", "ann", "web", within({ append: true })), true);
    assertEquals(await call("user.rename", "ann", "bea", within()), true);
    assertMatch(root.read("passwd"), /^bea:x:1600:1500:A B,,1,,x,y:\/srv\/ann:\/bin\/bash$/m);
    assertMatch(root.read("group"), /^staff:x:50:bea\nweb:x:60:old,bea$/m);
    assertEquals(await call("user.chuid", "nobody", 1, within()), "ERROR: User 'nobody' does not exist");

    assertEquals(await call("group.adduser", "team", "bea", within()), true);
    assertEquals(await call("group.deluser", "team", "bea", within()), true);
    assertEquals(await call("group.members", "web", "bea", within()), true);
    assertMatch(root.read("group"), /^web:x:60:bea\nteam:x:2001:$/m);

    assertEquals(await call("user.delete", "bea", within()), true);
    assertEquals(await call("user.info", "bea", within()), map({}));
    assertEquals(await call("group.delete", "team", within()), true);
    assertEquals(await call("group.info", "team", within()), map({}));
  },
});

Deno.test({
  name: "passwords and their ages are set in a root directory, and shadow keeps its mode",
  ignore: !there,
  async fn() {
    using root = new AccountRoot();
    const within = (more: Record<string, unknown> = {}) => map({ __kwarg__: true, root: root.path, ...more });
    await call("user.add", "ann", 1500, within({ createhome: false }));
    assertEquals(await call("shadow.set_password", "ann", "$6$x$y", within()), true);
    const today = Math.floor(Date.now() / 86_400_000);
    const info = await call("shadow.info", "ann", within()) as Map<Value, Value>;
    assertEquals([info.get("passwd"), Number(info.get("lstchg")) >= today - 1], ["$6$x$y", true]);
    assertEquals((Deno.statSync(`${root.path}/etc/shadow`).mode ?? 0) & 0o777, 0o640);
    for (
      const [fun, key, value] of [["set_maxdays", "max", 90], ["set_mindays", "min", 2], ["set_warndays", "warn", 9], [
        "set_inactdays",
        "inact",
        -1,
      ]] as const
    ) {
      assertEquals(await call(`shadow.${fun}`, "ann", value, within()), true, fun);
      assertEquals((await call("shadow.info", "ann", within()) as Map<Value, Value>).get(key), value);
    }
    assertEquals(await call("shadow.set_expire", "ann", "2030-01-01", within()), true);
    assertEquals((await call("shadow.info", "ann", within()) as Map<Value, Value>).get("expire"), 21915);
    assertEquals(await call("shadow.set_date", "ann", 0, within()), true);
    assertEquals(await call("shadow.list_users", within()), ["ann", "root"]);
    assertEquals(await call("shadow.set_password", "none", "x", within()), false);
    assertEquals(await call("shadow.set_password", "ann", "x:0:\nroot::", within()), false, "one line stays one");
  },
});

Deno.test({
  name: "a password is set for a user without a line in shadow, and not without the file",
  ignore: Deno.uid() !== 0,
  async fn() {
    using root = new AccountRoot();
    const within = map({ __kwarg__: true, root: root.path });
    const passwd = `${root.path}/etc/passwd`, shadow = `${root.path}/etc/shadow`;
    Deno.writeTextFileSync(passwd, "bea:x:1501:1501::/:/bin/sh\nann:x:1500:1500::/:/bin/sh\n", { append: true });
    assertEquals(await call("shadow.set_password", "ann", "$6$x$y", within), true);
    const first = "root:*:19000:0:99999:7:::";
    assertMatch(root.read("shadow"), /^root:\*:19000:0:99999:7:::\nann:\$6\$x\$y:\d+::::::\n$/);
    Deno.writeTextFileSync(shadow, first);
    assertEquals(await call("shadow.set_password", "bea", "!", within), true);
    assertMatch(root.read("shadow"), /^root:\*:19000:0:99999:7:::\nbea:!:\d+::::::$/);
    Deno.removeSync(shadow);
    assertEquals(await call("shadow.set_password", "ann", "$6$x$z", within), false);
    assertThrows(() => Deno.statSync(shadow), Deno.errors.NotFound);
  },
});

Deno.test("names of users and groups cannot be options or lists", async () => {
  for (const name of ["-R", "a:b", "a\nb", "", "a,b"]) {
    for (
      const fun of ["user.add", "user.delete", "group.add", "group.delete", "shadow.del_password", "user.primary_group"]
    ) {
      assertMatch(String(await call(fun, name)), /Invalid (user|group) name/, `${fun} ${name}`);
    }
  }
});

Deno.test({
  name: "passwords are hashed as crypt(3) does",
  ignore: !canCrypt(),
  fn() {
    const hash = (method: string, salt: string | null) => hashPassword("I_am_password", { salt, method });
    // From Python's crypt.crypt.
    assertEquals(hash("md5", "saltsalt"), "$1$saltsalt$6n3JFD52chG.JtkDh4y0H/");
    assertEquals(
      hash("sha256", "I_am_salt"),
      "$5$I_am_salt$FnWvOIJn1F6zDPIqTV2zjq52vBNkOvorjARGDrLPDKA",
    );
    assertMatch(hash("sha512", null) ?? "", /^\$6\$[a-zA-Z0-9./]{16}\$[a-zA-Z0-9./]{86}$/);
    assertNotEquals(hash("sha512", null), hash("sha512", null));
    assertThrows(() => hash("rot13", null), Error, "Cannot hash using 'rot13' hash algorithm");
    assertEquals(hash("sha512", "a:b"), null);
  },
});

Deno.test("users and groups of this host equal the output of getent", async () => {
  const info = await call("user.info", "root") as Map<Value, Value>;
  assertEquals([info.get("uid"), info.get("gid"), info.get("home")], [0, 0, "/root"]);
  const users = await call("user.list_users");
  assert(Array.isArray(users) && users.includes("root"));
  assertEquals((await call("group.info", "root") as Map<Value, Value>).get("gid"), 0);
  assertEquals(await call("user.primary_group", "root"), "root");
  assertStringIncludes(String(await call("user.list_groups", "root")), "root");
});
