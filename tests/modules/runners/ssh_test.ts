/** The runner `ssh` on a real sshd, by `salt-run`; no master runs. */

import { assertEquals, assertMatch } from "#tests/support/assert.ts";
import { DIST, SshDaemon, whyNoSshd } from "#tests/support/fleet/ssh_daemon.ts";
import { type Ran, run } from "#tests/support/processes.ts";
import { TREE_CONFIG } from "#tests/support/tree_config.ts";
import { DENO_RUN } from "#lib/runtime/self_command.ts";

const missing = whyNoSshd();
const SOURCE = new URL("../../../salt.ts", import.meta.url).pathname;

function saltRun(host: SshDaemon, ...words: readonly string[]): Promise<Ran> {
  const program = DIST === undefined
    ? [Deno.execPath(), ...DENO_RUN, "--config", TREE_CONFIG, SOURCE, "--as", "salt-run"]
    : [`${DIST}/salt-run`];
  return run([...program, "-c", `${host.root}/conf`, "--no-color", "--out=json", ...words]);
}

Deno.test({
  name: `ssh.cmd returns what SSHClient of Salt does${missing === undefined ? "" : ` (${missing})`}`,
  ignore: missing !== undefined,
  async fn() {
    await using host = await SshDaemon.start();
    host.roster({ web1: {}, web2: {}, db1: { port: 1 } });
    const master = `${host.root}/conf/master`;
    const options = JSON.parse(Deno.readTextFileSync(master));
    Deno.writeTextFileSync(master, JSON.stringify({ ...options, ignore_host_keys: true }));

    const { out, code } = await saltRun(
      host,
      "ssh.cmd",
      "web*",
      "test.arg_clean",
      'arg=["a b", 2]',
      "kwarg={door: red $HOME}",
    );
    const { web1, web2, ...others } = JSON.parse(out);
    assertEquals([code, others, web2.id], [0, {}, "web2"]);
    assertMatch(web1.jid, /^\d{20}$/);
    assertEquals({ ...web1, jid: "" }, {
      jid: "",
      return: { args: ["a b", 2], kwargs: { door: "red $HOME" } },
      retcode: 0,
      id: "web1",
      fun: "test.arg_clean",
      fun_args: ["a b", 2, "door=red $HOME"],
    });

    const listed = JSON.parse((await saltRun(host, "ssh.cmd", "web1,db1", "cmd.run", "exit 3", "tgt_type=list")).out);
    assertEquals([listed.web1.retcode, listed.db1.retcode, listed.db1._error], [
      3,
      255,
      "The command resulted in a non-zero exit code",
    ]);
    assertMatch(listed.db1.stderr, /Connection refused/);
    assertEquals(JSON.parse((await saltRun(host, "ssh.cmd", "nosuch", "test.ping")).out), {});

    const group = await saltRun(host, "ssh.cmd", "nosuch", "test.ping", "tgt_type=nodegroup");
    assertEquals([group.code === 0, /nosuch/.test(group.out + group.err)], [false, true]);
  },
});
