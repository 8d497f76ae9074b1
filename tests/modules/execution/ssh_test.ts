import { refuseLinks } from "#modules/execution/ssh/files.ts";
import { assert, assertEquals, assertThrows } from "#tests/support/assert.ts";
import { run, testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";
import { RecordedPrograms } from "#tests/support/calls/recorded_program.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

testRecordedCases("execution", "ssh");

Deno.test("CVE-2021-3197: an option of ssh programs is not accepted as a host, and nothing is started", async () => {
  using programs = new RecordedPrograms();
  programs.answer("ssh-keyscan");
  const context = testContext();
  for (const host of ["-oProxyCommand=touch /tmp/x", "-f/etc/shadow", "--", "a\nb", ""]) {
    for (const fun of ["ssh.recv_known_host_entries", "ssh.check_known_host"]) {
      const args = fun === "ssh.recv_known_host_entries" ? [host] : ["root", host];
      const result = await run(fun, args, context);
      assert(fun !== "ssh.recv_known_host_entries" || String(result.return).includes("host name"), `${fun} ${host}`);
    }
  }
  assertEquals(programs.calls().filter((line) => line.startsWith("ssh-keyscan")), []);
  await run("ssh.recv_known_host_entries", ["example.org"], context);
  assertEquals(programs.calls()[0], "ssh-keyscan -H -T 5 example.org");
});

Deno.test("root does not write a user's files through a link of the user", {
  ignore: Deno.build.os !== "linux" || Deno.uid() !== 0,
}, async () => {
  await withTemporaryDirectory((home) => {
    const user = { name: "fred", uid: 54321, gid: 54321, home, shell: "/bin/sh", gecos: "", passwd: "x" };
    Deno.mkdirSync(`${home}/real`);
    Deno.symlinkSync(`${home}/real`, `${home}/.ssh`);
    Deno.chownSync(home, user.uid, user.gid);
    assertThrows(() => refuseLinks(`${home}/.ssh/known_hosts`, user), Error, "is a symbolic link of a user's");
    refuseLinks(`${home}/real/known_hosts`, user);
    return Promise.resolve();
  });
});

Deno.test("ssh.check_key_file has no keys of a file that the master has not", () =>
  withTemporaryDirectory(async (root) => {
    const context = testContext({ opts: testOpts({ root_dir: root, file_client: "local" }) });
    assertEquals(await context.call("ssh.check_key_file", ["root", "salt://none"]), new Map());
  }));
