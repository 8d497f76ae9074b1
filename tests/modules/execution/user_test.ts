import { map, type Value, type ValueMap } from "#lib/values/value.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { asMap, call, listOf } from "#tests/support/calls/host_calls.ts";
import { answeringContext, resultOrError } from "#tests/support/calls/job_context.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";

testRecordedCases("execution", "user");

const minion = (answers: Readonly<Record<string, Value>> = {}, grains: ValueMap = new Map()) =>
  answeringContext(answers, { grains });

Deno.test("user.rename takes no name that another user has", async () => {
  const linux = map({ kernel: "Linux", os: "Debian", os_family: "Debian" });
  assertEquals(await resultOrError(minion({}, linux), "user.rename", ["nobody", "root"]), "User 'root' already exists");
});

Deno.test("accounts are those of this host, and password hashes are those of the C library", async () => {
  const users = (await listOf("user.getent")).map((one) => asMap(one).get("name"));
  const lines = Deno.readTextFileSync("/etc/passwd").split("\n").filter((line) => /^\w/.test(line));
  assertEquals(lines.map((line) => line.split(":")[0]).filter((name) => !users.includes(name)), []);
  assertEquals([await call("user.get_loginclass", ["root"]), await call("user.chloginclass", ["root", "x"])], [
    false,
    false,
  ]);
  assertEquals(
    await call("shadow.gen_password", ["x", "abcdefgh"]),
    "$6$abcdefgh$D7W7qyozKBT.t6FD3DVYHvADbIO0eSyI4.p20LaEUjro8PqTGYYo/EQcuNjhFbzo9Yg5ir1KIEqFY/yJpgFph0",
  );
});
