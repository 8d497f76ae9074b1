/** How `salt-ssh` signs in on a real sshd, and what it says of connections that cannot be made or are cut. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { DIST, type SshDaemon, sshTest } from "#tests/support/fleet/ssh_daemon.ts";
import { run, Service } from "#tests/support/processes.ts";
import { which } from "#lib/programs/which.ts";

function filesOf(directory: string): string[] {
  return [...Deno.readDirSync(directory)].map(({ name }) => name).sort();
}

sshTest("hosts without a connection are named, and others served", {}, async (host) => {
  Deno.writeTextFileSync(
    `${host.root}/strange`,
    `[127.0.0.1]:${host.port} ${Deno.readTextFileSync(`${host.root}/other.pub`)}`,
  );
  const strange = [`UserKnownHostsFile=${host.root}/strange`];
  host.roster({
    closed: { port: 1 },
    good: {},
    nokey: { priv: `${host.root}/other`, identities_only: true },
    nowhere: { host: "nowhere.invalid" },
    option: { host: "-oProxyCommand=touch x" },
    password: { priv: `${host.root}/other`, passwd: "wrong" },
    strange: { ssh_options: strange },
    text: { port: "http" },
  });
  const { out, code } = await host.ssh("*", "test.ping", "--static", "--out=json");
  const shown = JSON.parse(out);
  assertEquals([shown.good, code], [true, 20]);
  assertMatch(shown.closed, /^ssh: connect to host 127\.0\.0\.1 port 1: Connection refused$/);
  assertMatch(shown.nokey, /Permission denied/);
  assertMatch(shown.password, /Permission denied/);
  assertMatch(shown.nowhere, /Could not resolve hostname/);
  assertMatch(shown.option, /may not begin with -/);
  assertMatch(shown.strange, /REMOTE HOST IDENTIFICATION HAS CHANGED/);
  assertMatch(shown.text, /port must be a number/);
});

sshTest("an unknown host key is refused without -i", {}, async (host) => {
  const refused = await host.sshStrictly("web1", "test.ping");
  assertMatch(refused.out, /Host key verification failed[\s\S]*-i flag/);
  assertEquals(refused.code, 20);
  assert(!filesOf(host.root).includes("thin"));
  assertEquals((await host.ssh("web1", "test.ping")).code, 0);
  assertEquals((await host.sshStrictly("web1", "test.ping")).code, 0);
});

sshTest("a connection that is cut ends the function there, and is named", {}, async (host) => {
  host.write("states/slow.sls", `slow:\n  cmd.run: [{name: 'echo $$ >${host.root}/pid; exec sleep 300'}]\n`);
  const output = `${host.root}/cut.out`;
  const command = Service.start("salt-ssh", [...host.command(), "-i", "web1", "state.sls", "slow"], output);
  const pid = await eventually(() => Number(Deno.readTextFileSync(`${host.root}/pid`)) || undefined, {
    what: "the state",
  });
  cutConnections(host);
  assertEquals(await command.ended(30_000), 20);
  assertMatch(Deno.readTextFileSync(output), /The connection to 127\.0\.0\.1 ended before the function returned/);
  await eventually(() => !isAlive(pid), { what: "the end of the command" });
});

sshTest("a copy that is cut leaves nothing, and the next one is complete", {
  needs: DIST === undefined ? "SALT_DIST names no packed executables" : undefined,
}, async (host) => {
  const thin = `${host.root}/thin/web1`, output = `${host.root}/cut.out`;
  const command = Service.start("salt-ssh", [...host.command(), "-i", "web1", "test.ping"], output);
  const begun = () => filesOf(thin).some((name) => name.startsWith(".salt-minion-"));
  await eventually(begun, { what: "the copy", everyMs: 1 });
  cutConnections(host);
  assertEquals(await command.ended(30_000), 20);
  assertMatch(Deno.readTextFileSync(output), /The connection to 127\.0\.0\.1 ended/);
  await eventually(() => filesOf(thin).length === 0, { what: "the end of the half-written file" });
  assertEquals((await host.ssh("web1", "test.ping")).out, "web1:\n    True\n");
  const files = filesOf(thin);
  assertEquals(files.filter((name) => name.startsWith("salt-minion-")).length, 1);
  assert(files.some((name) => /^\d.*-[0-9a-f]{16}$/.test(name)), "it is unpacked beside itself");
});

/** Ends the processes of sshd that serve connections. */
function cutConnections(host: SshDaemon): void {
  const serving = [...Deno.readDirSync("/proc")].flatMap(({ name }) => {
    if (!/^\d+$/.test(name)) return [];
    try {
      const stat = Deno.readTextFileSync(`/proc/${name}/stat`);
      const parent = Number(/\) \S (\d+)/.exec(stat)?.[1]);
      return stat.includes("(sshd)") && isBelow(parent, host.pid) ? [Number(name)] : [];
    } catch {
      return []; // it has ended
    }
  });
  for (const pid of serving) Deno.kill(pid, "SIGKILL");
}

function isBelow(pid: number, ancestor: number): boolean {
  for (let at = pid; at > 1;) {
    if (at === ancestor) return true;
    at = Number(/\) \S (\d+)/.exec(Deno.readTextFileSync(`/proc/${at}/stat`))?.[1]);
  }
  return false;
}

function isAlive(pid: number): boolean {
  try {
    return !/\) Z/.test(Deno.readTextFileSync(`/proc/${pid}/stat`));
  } catch {
    return false;
  }
}

const ACCOUNTS = [
  'for f in passwd shadow group sudoers; do cp "/etc/$f" "$ROOT/$f"; done',
  "echo 'op:x:4242:4242::/tmp/op:/bin/sh' >>\"$ROOT/passwd\"",
  "echo 'op:x:4242:' >>\"$ROOT/group\"",
  `echo "op:$(openssl passwd -6 'open $esame')::0:99999:7:::" >>"$ROOT/shadow"`,
  "printf 'op ALL=(ALL) ALL\\nDefaults requiretty\\n' >\"$ROOT/sudoers\"",
  'chmod 440 "$ROOT/sudoers"',
  'for f in passwd shadow group sudoers; do mount --bind "$ROOT/$f" "/etc/$f"; done',
  'mkdir "$ROOT/home"; chown 4242:4242 "$ROOT/home"; chmod 755 "$ROOT"',
  'mkdir -p /tmp/op; mount --bind "$ROOT/home" /tmp/op',
];

sshTest("a password signs in, gives the key away, and serves sudo, with a terminal if that wants one", {
  config: ["Match User op", "AuthorizedKeysFile /tmp/op/.ssh/authorized_keys", "PasswordAuthentication yes"],
  mounts: ACCOUNTS,
  needs: which("sudo") === undefined ? "no sudo" : which("openssl") === undefined ? "no openssl" : undefined,
}, async (host) => {
  host.serveOtherUsers();
  const op = { user: "op", passwd: "open $esame", thin_dir: "/var/tmp/.salt_op_thin" };
  host.roster({
    plain: { ...op, thin_dir: "/tmp/op/thin", cmd_umask: "027" },
    sudo: { ...op, sudo: true, tty: true },
    notty: { ...op, sudo: true },
    wrong: { ...op, priv: `${host.root}/key`, passwd: "no" },
    keyed: { user: "op", thin_dir: "/tmp/op/thin" },
  });
  assertEquals((await host.ssh("plain", "cmd.run", "id -un; umask")).out, "plain:\n    op\n    0027\n");
  assertMatch((await host.ssh("wrong", "test.ping")).out, /Permission denied/);
  assertMatch((await host.ssh("keyed", "test.ping")).out, /Permission denied/);
  assertEquals((await host.ssh("plain", "--key-deploy", "test.ping")).code, 0);
  assertEquals((await host.ssh("keyed", "test.ping")).code, 0);
  assertEquals(
    Deno.readTextFileSync(`${host.root}/home/.ssh/authorized_keys`),
    Deno.readTextFileSync(`${host.root}/key.pub`),
  );
  assertEquals((await host.ssh("sudo", "-w", "cmd.run", "id -un")).out, "sudo:\n    root\n");
  assertMatch((await host.ssh("notty", "test.ping")).out, /tty/);
  host.roster({ wrong: { ...op, passwd: "no", sudo: true, tty: true }, none: { user: "op", sudo: true, tty: true } });
  assertMatch((await host.ssh("wrong", "test.ping")).out, /sudo on 127\.0\.0\.1 does not take the password/);
  assertMatch((await host.ssh("none", "test.ping")).out, /Sudo password is required but not provided/);
});

sshTest(
  "a key with a passphrase signs in with --priv-passwd, and without it is refused; -t copies anew",
  {},
  async (host) => {
    const made = await run(["ssh-keygen", "-q", "-t", "ed25519", "-N", "open sesame", "-f", `${host.root}/locked`]);
    assertEquals(made.code, 0, made.err);
    const keys = `${host.root}/authorized_keys`;
    Deno.writeTextFileSync(keys, Deno.readTextFileSync(`${host.root}/locked.pub`), { append: true });
    host.roster({ web1: { priv: `${host.root}/locked`, identities_only: true } });
    assertMatch((await host.ssh("web1", "test.ping")).out, /Permission denied/);
    assertMatch((await host.ssh("web1", "--priv-passwd=wrong", "test.ping")).out, /Permission denied/);
    const first = await host.ssh("web1", "--priv-passwd=open sesame", "test.ping");
    assertEquals([first.out, first.code], ["web1:\n    True\n", 0]);
    const executable = () => {
      const [name] = filesOf(`${host.root}/thin/web1`).filter((one) => one.startsWith("salt-minion-"));
      return Deno.statSync(`${host.root}/thin/web1/${name}`).ino;
    };
    const before = executable();
    assertEquals((await host.ssh("web1", "--priv-passwd=open sesame", "test.ping")).code, 0);
    assertEquals(executable(), before);
    assertEquals((await host.ssh("web1", "-t", "--priv-passwd=open sesame", "test.ping")).code, 0);
    assert(executable() !== before, "it is copied though it was there");
    const asked = await host.ssh("web1", "--askpass", "test.ping");
    assertEquals(asked.code, 64);
    assertStringIncludes(asked.err, "--askpass: there is no terminal to ask on");
  },
);
