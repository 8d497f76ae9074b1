/**
 * Real PAM: services in the test's own directory, with the system's PAM modules.
 * @module
 */

import { askAuthProcess } from "#lib/auth/auth_process.ts";
import type { AuthRequest } from "#lib/auth/auth_messages.ts";
import { pamEauth } from "#modules/auth/pam.ts";
import { loadMasterConfig } from "#lib/config/load.ts";
import { isFile } from "#lib/os/file_kind.ts";
import { map } from "#lib/values/value.ts";
import { assert, assertEquals, assertMatch, assertRejects } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { UNSHARE_MOUNTS, whyNoMountNamespace } from "#tests/support/mount_namespace.ts";
import { OtherUser } from "#tests/support/other_user.ts";
import { run } from "#tests/support/processes.ts";
import { recordingLogger } from "#tests/support/fleet/services.ts";
import { SkippedTime } from "#tests/support/skipped_time.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";
import { DENO_RUN } from "#lib/runtime/self_command.ts";
import { TREE_CONFIG } from "#tests/support/tree_config.ts";

/**
 * `password` accepts the user fred with his password through a script of pam_exec; `locked` refuses his account;
 * `broken` is no valid service.
 */
function writeServices(directory: string): void {
  const script = `${directory}/check`;
  Deno.writeTextFileSync(
    script,
    '#!/bin/sh\nread -r given || [ -n "$given" ]\n[ "$PAM_USER" = fred ] && [ "$given" = "correct horse" ]\n',
    {
      mode: 0o755,
    },
  );
  // What a module tells the user needs no answer.
  Deno.writeTextFileSync(`${directory}/greeting`, "Ask your administrator for an account");
  const password = `auth optional pam_echo.so file=${directory}/greeting\n` +
    `auth required pam_exec.so quiet expose_authtok ${script}\n`;
  Deno.writeTextFileSync(`${directory}/password`, `${password}account required pam_permit.so\n`);
  Deno.writeTextFileSync(`${directory}/locked`, `${password}account required pam_deny.so\n`);
  Deno.writeTextFileSync(
    `${directory}/broken`,
    "auth required pam_no_such_module.so\naccount required pam_permit.so\n",
  );
}

async function withServices(
  act: (
    ask: (service: string, username: string, password: string) => ReturnType<typeof askAuthProcess>,
  ) => Promise<void>,
) {
  const directory = Deno.makeTempDirSync({ prefix: "pam_" });
  try {
    writeServices(directory);
    await act((service, username, password) =>
      askAuthProcess({ kind: "pam", service, confdir: directory, credentials: { username, password } })
    );
  } finally {
    Deno.removeSync(directory, { recursive: true });
  }
}

Deno.test("CVE-2022-22967: PAM checks the password and then the account: a locked user is refused", async () => {
  await withServices(async (ask) => {
    const [good, wrong, eve, locked, broken] = await Promise.all([
      ask("password", "fred", "correct horse"),
      ask("password", "fred", "wrong"),
      ask("password", "eve", "correct horse"),
      ask("locked", "fred", "correct horse"),
      ask("broken", "fred", "correct horse"),
    ]);
    assertEquals(good, { known: true, groups: [] });
    assertEquals([wrong, eve, locked, broken].map(({ known }) => known), [false, false, false, false]);
    assertMatch(wrong.problem ?? "", /^pam_authenticate: /);
    assertMatch(locked.problem ?? "", /^pam_acct_mgmt: /);
  });
});

Deno.test("pam: the service of auth.pam.service is used; the groups are those of the host; the log has no password", () =>
  withTemporaryDirectory(async (root) => {
    const { opts } = loadMasterConfig({ configDir: root, overrides: { root_dir: root, "auth.pam.service": "salt" } });
    const logged: string[] = [];
    const requests: AuthRequest[] = [];
    const pam = pamEauth({ opts, config: map({}), log: recordingLogger(logged) }, (question) => {
      requests.push(question);
      return Promise.resolve({
        known: question.credentials.password === "x1",
        groups: [],
        problem: "pam_authenticate: no",
      });
    });
    const root_ = await pam.authenticate({ username: "root", password: "x1" });
    assert(root_?.groups.includes("root"));
    assertEquals(await pam.authenticate({ username: "root", password: "secret7" }), undefined);
    assertEquals(requests.map((question) => question.kind === "pam" && question.service), ["salt", "salt"]);
    assert(logged.length > 0);
    assertEquals(logged.filter((line) => line.includes("secret7")), []);
  }));

Deno.test("pam: without a directory of the test's own the system's services are asked", async () => {
  const { known, problem } = await askAuthProcess({
    kind: "pam",
    service: "salt_has_no_such_service",
    credentials: { username: "no_such_user_here", password: "x" },
  });
  assertEquals(known, false);
  assertMatch(problem ?? "", /^pam_/);
});

Deno.test("a process that has not answered after 30 seconds is ended", () =>
  withTemporaryDirectory(async (confdir) => {
    const started = `${confdir}/started`;
    const script = `${confdir}/slow`;
    Deno.writeTextFileSync(script, `#!/bin/sh\ntouch ${started}\nexec sleep 60\n`, { mode: 0o755 });
    const rules = `auth required pam_exec.so quiet ${script}\naccount required pam_permit.so\n`;
    Deno.writeTextFileSync(`${confdir}/slow_service`, rules);
    const credentials = { username: "fred", password: "x" };
    using time = new SkippedTime();
    let over = false;
    const asked = assertRejects(
      () => askAuthProcess({ kind: "pam", service: "slow_service", confdir, credentials }).finally(() => over = true),
      Error,
      "the process ended with SIGKILL",
    );
    await eventually(() => isFile(started), { what: "the question" });
    await time.to(20_000);
    assertEquals(over, false);
    await time.to(60_000);
    await asked;
  }));

Deno.test("a process that gives no answer is an error with what it said", async () => {
  const error = await assertRejects(() => askAuthProcess(undefined as unknown as AuthRequest), Error);
  assertMatch(error.message, /^the process ended with 1: .*JSON/s);
});

Deno.test(
  "pam: a master that is not root's says once why it knows no passwords",
  { ignore: Deno.uid() !== 0 },
  async () => {
    using user = new OtherUser("nobody");
    const out = await user.code(`
    import { pamEauth } from "~/modules/auth/pam.ts";
    import { loadMasterConfig } from "~/lib/config/load.ts";
    const { opts } = loadMasterConfig({ configDir: "${user.home}", overrides: { root_dir: "${user.home}" } });
    const log = { info: () => {}, error: (text) => console.log(text) };
    const pam = pamEauth({ opts, config: new Map(), log }, () => Promise.resolve({ known: false, groups: [] }));
    for (let i = 0; i < 2; i++) await pam.authenticate({ username: "fred", password: "x" });
  `);
    assertMatch(out, /^pam: this master is not root's and cannot read \/etc\/shadow.*or run it as root$/);
  },
);

Deno.test({
  name: "pam: an account without a password cannot sign in, also where PAM's own configuration would let it",
  ignore: whyNoMountNamespace() !== undefined,
  fn: () =>
    withTemporaryDirectory(async (root) => {
      const hash = await run(["openssl", "passwd", "-6", "correct horse"]);
      const account = (name: string, uid: number) => `${name}:x:${uid}:${uid}::/:/bin/sh\n`;
      const line = (name: string, password: string) => `${name}:${password}:20000:0:99999:7:::\n`;
      const texts = {
        passwd: account("root", 0) + account("fred", 4001) + account("open", 4002),
        shadow: line("root", "*") + line("fred", hash.out.trim()) + line("open", ""),
        service: "auth required pam_unix.so nullok nodelay\naccount required pam_unix.so\n",
        "ask.ts": `import { authenticateByPam } from "${new URL("../../lib/auth/libpam.ts", import.meta.url)}";
          const answers = [["fred", "correct horse"], ["fred", ""], ["open", ""], ["open", "x"]].map(
            ([username, password]) => authenticateByPam({
              service: "service", confdir: "${root}", credentials: { username, password },
            }).known
          );
          console.log(JSON.stringify(answers));`,
      };
      for (const [name, text] of Object.entries(texts)) Deno.writeTextFileSync(`${root}/${name}`, text);
      const script = `mount --bind "$0/passwd" /etc/passwd && mount --bind "$0/shadow" /etc/shadow && exec "$@"`;
      const deno = [Deno.execPath(), ...DENO_RUN, "--config", TREE_CONFIG, `${root}/ask.ts`];
      const { out, err } = await run([...UNSHARE_MOUNTS, "sh", "-c", script, root, ...deno]);
      assertEquals(out.trim(), "[true,false,false,false]", err);
    }),
});
