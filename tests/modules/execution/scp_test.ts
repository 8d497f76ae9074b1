/**
 * `scp` with a real sshd on loopback.
 * @module
 */

import type { Value } from "#lib/values/value.ts";
import { assertEquals, assertMatch } from "#tests/support/assert.ts";
import { resultOrError, testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { SshDaemon, whyNoSshd } from "#tests/support/fleet/ssh_daemon.ts";
import { run } from "#tests/support/processes.ts";

const missing = whyNoSshd();

Deno.test({
  name: `scp.get and put copy files to and from a host${missing === undefined ? "" : ` (skipped: ${missing})`}`,
  ignore: missing !== undefined,
  async fn(t) {
    await using host = await SshDaemon.start();
    const { root } = host;
    const context = testContext({ opts: testOpts({ root_dir: `${root}/minion`, file_client: "local" }) });
    const how = { hostname: "127.0.0.1", port: host.port, username: "root", key_filename: `${root}/key` };
    const bare = { ...how, allow_agent: false, look_for_keys: false };
    const call = (fun: string, args: Value[], kwargs: Record<string, unknown> = {}) =>
      resultOrError(context, `scp.${fun}`, args, { ...bare, ...kwargs });
    host.write("a file", "one");
    host.write("tree/b", "two");

    await t.step("a host whose key is not known is refused, and with auto_add_policy kept", async () => {
      assertMatch(String(await call("get", [`${root}/a file`, `${root}/got`])), /Host key verification failed/);
      assertEquals(await call("get", [`${root}/a file`, `${root}/got`], { auto_add_policy: true }), null);
      assertEquals(await call("get", [`${root}/a file`, `${root}/again`]), null);
      assertEquals(Deno.readTextFileSync(`${root}/got`) + Deno.readTextFileSync(`${root}/again`), "oneone");
    });

    await t.step("without a key nobody is let in, and compress and timeout are options of ssh", async () => {
      const keyless = String(await call("get", [`${root}/a file`, `${root}/x`], { key_filename: null }));
      assertMatch(keyless, /Permission denied/);
      assertEquals(await call("get", [`${root}/a file`, `${root}/more`], { compress: true, timeout: 20 }), null);
    });

    await t.step("directories, times and several files", async () => {
      Deno.utimeSync(`${root}/tree/b`, 1e9, 1e9);
      assertMatch(String(await call("get", [`${root}/tree`, `${root}/copy`])), /not a regular file/);
      assertEquals(
        await call("get", [`${root}/tree`, `${root}/copy`], { recursive: true, preserve_times: true }),
        null,
      );
      assertEquals(Deno.statSync(`${root}/copy/b`).mtime?.getTime(), 1e12);
      Deno.mkdirSync(`${root}/to`);
      assertEquals(await call("put", [[`${root}/a file`, `${root}/tree/b`], `${root}/to`]), null);
      assertEquals([...Deno.readDirSync(`${root}/to`)].map(({ name }) => name).sort(), ["a file", "b"]);
      assertEquals(await call("put", [`${root}/tree`, `${root}/to`], { recursive: true }), null);
      assertEquals(Deno.readTextFileSync(`${root}/to/tree/b`), "two");
    });

    await t.step("a key with a passphrase", async () => {
      const { code } = await run(["ssh-keygen", "-q", "-p", "-N", "it's secret", "-f", `${root}/key`]);
      assertEquals(code, 0);
      assertMatch(String(await call("get", [`${root}/a file`, `${root}/x`])), /Permission denied/);
      for (const word of ["passphrase", "password"]) {
        assertEquals(await call("get", [`${root}/a file`, `${root}/x`], { [word]: "it's secret" }), null);
      }
      assertMatch(
        String(await call("get", [`${root}/a file`, `${root}/x`], { passphrase: "wrong" })),
        /Permission denied/,
      );
    });

    await t.step("what is not there, and words that are no names", async () => {
      const secret = { passphrase: "it's secret" };
      assertMatch(String(await call("put", [`${root}/none`, `${root}/to`], secret)), /No such file/);
      assertEquals(await call("put", ["salt://none", `${root}/to`]), "salt://none is not there");
      assertMatch(
        String(await call("get", [`${root}/none`, `${root}/x`], { passphrase: "it's secret" })),
        /No such file/,
      );
      const key_filename = `${root}/key"\nProxyCommand=x`;
      const wrong = [
        ...[{ hostname: "-oProxyCommand=x" }, { username: "-x" }, { port: "x" }, { pkey: "x" }, { key_filename }],
        ...[{ timeout: 0 }, { socket_timeout: "soon" }],
      ];
      for (const kwargs of wrong) {
        assertMatch(String(await call("get", [`${root}/a file`, `${root}/x`], kwargs)), /Invalid|not valid/);
      }
    });
  },
});
