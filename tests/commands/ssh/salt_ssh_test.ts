/** `salt-ssh` on a real sshd: functions, states, pillar and files, and what can go wrong on the way. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { DIST, SshDaemon, type SshDaemonOptions, whyNoSshd } from "#tests/support/fleet/ssh_daemon.ts";
import { whyNoMountNamespace } from "#tests/support/mount_namespace.ts";
import { run, Service } from "#tests/support/processes.ts";
import { which } from "#lib/programs/which.ts";

function sshTest(
  name: string,
  options: SshDaemonOptions & { readonly needs?: string | undefined },
  act: (host: SshDaemon) => Promise<void>,
): void {
  const missing = whyNoSshd() ?? options.needs ?? (options.mounts === undefined ? undefined : whyNoMountNamespace());
  Deno.test({
    name: missing === undefined ? name : `${name} (${missing})`,
    ignore: missing !== undefined,
    fn: async () => {
      await using host = await SshDaemon.start(options);
      await act(host);
    },
  });
}

function filesOf(directory: string): string[] {
  return [...Deno.readDirSync(directory)].map(({ name }) => name).sort();
}

sshTest("salt-ssh runs functions: results, exit codes, targets, outputters", {}, async (host) => {
  host.roster({ web1: { minion_opts: { color_of_door: "red" } }, web2: { grains: { role: "db" } } });
  const ping = await host.ssh("web1", "test.ping");
  assertEquals([ping.out, ping.err, ping.code], ["web1:\n    True\n", "", 0]);
  const failed = await host.ssh("web*", "cmd.run", 'echo "a b"; exit 3', "--static", "--out=json");
  assertEquals([JSON.parse(failed.out), failed.code], [{ web1: "a b", web2: "a b" }, 20]);
  const words = ["a;b $HOME `id` 'x' \"y\" \\n", "k=$(reboot) #"];
  const echoed = JSON.parse((await host.ssh("web1", "test.arg", ...words, "--out=json")).out).web1;
  assertEquals([echoed.args, echoed.kwargs.k], [[words[0]], "$(reboot) #"]);
  assertEquals((await host.ssh("-E", "web[2-9]", "grains.get", "role")).out, "web2:\n    db\n");
  assertEquals((await host.ssh("-G", "role:db", "test.ping")).out, "web2:\n    True\n");
  assertEquals((await host.ssh("web1", "config.get", "color_of_door")).out, "web1:\n    red\n");
  const unknown = await host.ssh("web1", "test.nosuch");
  assertEquals([unknown.out, unknown.code], ["web1:\n    'test.nosuch' is not available.\n", 20]);
  const verbose = await host.ssh("web1", "-v", "--disable-keepalive", "test.ping");
  assertMatch(verbose.out, /^Executing job with jid \d{20}\n-+\n\n\nweb1:\n {4}True\n$/);
  const listed = await host.ssh("-H", "--out=json");
  assertEquals([JSON.parse(listed.out), listed.code], [
    { [`${host.root}/conf/roster`]: { web1: "127.0.0.1", web2: "127.0.0.1" } },
    0,
  ]);
  const plain = Deno.readTextFileSync(`${host.root}/conf/roster`);
  host.write("conf/roster", `{% set name = 'web' ~ 9 %}${plain.replace("web1", "{{ name }}")}`);
  assertEquals(Object.keys(JSON.parse((await host.ssh("-H", "--out=json")).out)[`${host.root}/conf/roster`]), [
    "web9",
    "web2",
  ]);
  host.write("conf/roster", "{{ nothing.there() }}");
  const broken = await host.ssh("*", "test.ping");
  assertEquals([broken.out, broken.code], ["", 2]);
  assertMatch(broken.err, /conf\/roster: .*'nothing' is undefined/);
  host.write("conf/roster", plain);
  const nobody = await host.ssh("db*", "test.ping");
  assertEquals([nobody.out, nobody.code], ["", 2]);
  assertStringIncludes(nobody.err, "No matching targets found in roster.");
  assertEquals((await host.ssh("web1")).code, 64);
  assertEquals(filesOf(`${host.root}/thin/web1`).filter((name) => name.startsWith("salt-minion-")).length, 1);
  assertEquals(Deno.statSync(`${host.root}/thin/web1`).mode! & 0o777, 0o700);
});

sshTest("salt-ssh -r runs a command line, and quotes several words", {}, async (host) => {
  const one = await host.ssh("web1", "-r", "echo a; echo b >&2; exit 3", "--out=json");
  assertEquals([JSON.parse(one.out).web1, one.code], [{
    stdout: "a\n",
    stderr: "b\n",
    retcode: 3,
    parsed: null,
    _error: "The command resulted in a non-zero exit code",
  }, 20]);
  const several = await host.ssh("web1", "-r", "printf", "%s|", "a b", "$HOME;id", "--out=json");
  assertEquals([JSON.parse(several.out).web1.stdout, several.code], ["a b|$HOME;id|", 0]);
});

sshTest("salt-ssh applies states with pillar, templates and files of the master's trees", {}, async (host) => {
  host.write("pillar/top.sls", "base: {'*': [site]}\n");
  host.write("pillar/site.sls", "door: {{ grains.id }}-{{ grains.kernel }}\n");
  host.write("states/top.sls", "base: {'*': [web]}\n");
  host.write(
    "states/web.sls",
    "include: [lib.tree]\n{{ pillar.made }}:\n  file.managed:\n    - source: salt://web.conf\n    - template: jinja\n",
  );
  host.write(
    "states/lib/tree.sls",
    "tree:\n  file.recurse: [{name: {{ pillar.made }}.d}, {source: 'salt://lib/files'}]\n",
  );
  host.write("states/web.conf", "{{ grains.id }} {{ pillar.door }}\n");
  host.write("states/lib/files/deep/one", "one\n");
  host.write("states/lib/files/two", "x".repeat(3_000_000));
  const made = `${host.root}/made`;
  const apply = (...more: string[]) => host.ssh("web1", "state.apply", `pillar={made: ${made}}`, ...more);
  const dry = await apply("test=True");
  assertMatch(dry.out, /Succeeded: 2 \(unchanged=2, changed=2\)/);
  assertEquals(dry.code, 0);
  assert(!filesOf(host.root).includes("made"));
  const first = await apply();
  assertEquals([first.code, first.err], [0, ""]);
  assertMatch(first.out, /Succeeded: 2 \(changed=2\)/);
  assertEquals(Deno.readTextFileSync(made), "web1 web1-Linux\n");
  assertEquals(Deno.statSync(`${made}.d/two`).size, 3_000_000);
  assertEquals(Deno.readTextFileSync(`${made}.d/deep/one`), "one\n");
  const again = await apply("--out=json");
  assert(
    Object.values(JSON.parse(again.out).web1).every((state) =>
      Object.keys((state as { changes: object }).changes).length === 0
    ),
  );
  assertEquals(JSON.parse((await host.ssh("web1", "pillar.items", "--out=json")).out), {
    web1: { door: "web1-Linux" },
  });
  const terse = await host.ssh("web1", "state.sls", "web", `pillar={made: ${made}}`, "--state-output=terse");
  assertMatch(terse.out, new RegExp(`Name: ${made} - Function: file.managed - Result: Clean`));
  const missing = await host.ssh("web1", "state.sls", "nope");
  assertStringIncludes(missing.out, "No matching sls found for 'nope' in env 'base'");
  assertEquals(missing.code, 20);
  const got = await host.ssh("web1", "cp.get_file", "salt://web.conf", `${host.root}/got`);
  assertEquals([got.code, Deno.readTextFileSync(`${host.root}/got`)], [0, "{{ grains.id }} {{ pillar.door }}\n"]);
  assertEquals((await host.ssh("web1", "cp.push", "/etc/hostname")).code, 20);
});

sshTest("salt-ssh brings the operator's own modules", {}, async (host) => {
  host.write(
    "states/_modules/door.ts",
    'export const color = { doc: "The color.", params: {}, permissions: {}, run: () => "green" };\n',
  );
  const { out, err } = await host.ssh("web1", "door.color");
  assertEquals([out, err], ["web1:\n    green\n", ""]);
});

sshTest("texts of a host before the result do not break it", {
  config: ["Banner /etc/os-release", "PrintMotd yes", "PermitUserEnvironment no"],
  mounts: [
    'mkdir "$ROOT/home"',
    "printf 'echo from bashrc; echo noise >&2; head -c 300000 /dev/urandom\\n' >\"$ROOT/home/.bashrc\"",
    `sed "s#^root:.*#root:x:0:0::$ROOT/home:/bin/bash#" /etc/passwd >"$ROOT/passwd"`,
    'mount --bind "$ROOT/passwd" /etc/passwd',
  ],
}, async (host) => {
  const { out, code } = await host.ssh("web1", "test.ping");
  assertEquals([out, code], ["web1:\n    True\n", 0]);
});

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

sshTest(
  "ssh_pre_flight runs before the executable is there, with --pre-flight each time; a failure is the result",
  {},
  async (host) => {
    const log = `${host.root}/pre.log`, args = ["a b", "$HOME;id", "'c'"];
    host.write("pre.sh", `printf '<%s>' "$@" >>${log}; umask >>${log}; cat >>${log}\n`);
    host.write("fail.sh", "echo out; echo bad >&2; exit 3\n");
    const failing = { ssh_pre_flight: `${host.root}/fail.sh` };
    host.roster({
      web1: { ssh_pre_flight: `${host.root}/pre.sh`, ssh_pre_flight_args: args, tty: true },
      text: { ssh_pre_flight: `${host.root}/pre.sh`, ssh_pre_flight_args: "x 'y z'" },
      fails: failing,
      there: { ...failing, thin_dir: `${host.root}/thin/web1` },
      missing: { ssh_pre_flight: `${host.root}/none.sh` },
    });
    const ran = () => {
      const text = Deno.readTextFileSync(log);
      Deno.removeSync(log);
      return text;
    };
    assertEquals((await host.ssh("web1", "test.ping")).out, "web1:\n    True\n");
    assertEquals(ran(), "<a b><$HOME;id><'c'>0022\n");
    assertEquals((await host.ssh("web1", "test.ping")).code, 0);
    assertEquals(filesOf(host.root).includes("pre.log"), false);
    assertEquals((await host.ssh("--pre-flight", "web1", "-r", "true")).code, 0);
    assertEquals(ran(), "<a b><$HOME;id><'c'>0022\n");
    assertEquals((await host.ssh("text", "test.ping")).code, 0);
    assertEquals(ran(), "<x><y z>0022\n");
    const { out, code } = await host.ssh("-L", "fails,there,missing", "test.ping", "--static", "--out=json");
    const shown = JSON.parse(out);
    assertEquals([shown.fails, shown.there, code], [
      {
        stdout: "out\n",
        stderr: "bad\n",
        retcode: 3,
        parsed: null,
        _error: "The command resulted in a non-zero exit code",
      },
      true,
      20,
    ]);
    assertMatch(shown.missing, /ssh_pre_flight, .*none\.sh, cannot be read/);
    assert(!filesOf(`${host.root}/thin`).includes("fails"));
    assertEquals([...Deno.readDirSync("/tmp")].filter(({ name }) => name.startsWith(".salt-pre-")), []);
  },
);

sshTest("the operator's mine.get and publish.publish run on hosts of the roster", {}, async (host) => {
  host.write("pillar/top.sls", "base: {'web3': [mine]}\n");
  host.write("pillar/mine.sls", "mine_functions: {who: [{mine_function: grains.get}, id]}\n");
  host.roster({
    web1: { mine_functions: { "test.echo": ["hello"] } },
    web2: { minion_opts: { mine_functions: { who: [{ mine_function: "test.echo" }, "two"] } } },
    web3: {},
    gone: { port: 1 },
  });
  const json = async (...words: string[]) => JSON.parse((await host.ssh(...words, "--out=json")).out).web1;
  assertEquals(await json("web1", "mine.get", "web[12]", "test.ping"), { web1: true, web2: true });
  assertEquals(await json("web1", "mine.get", "web1", "test.echo"), { web1: "hello" });
  const named = await host.ssh("web1", "mine.get", "*", "who,test.ping", "--out=json");
  assertEquals(JSON.parse(named.out).web1, {
    who: { web2: "two", web3: "web3" },
    "test.ping": { web1: true, web2: true, web3: true },
  });
  assertMatch(named.err, /Error executing mine func test\.ping on gone: .*Connection refused/);
  const published = await json("web1", "publish.publish", "web2", "test.arg", "['a','b=1']");
  assertEquals([published.web2.args, published.web2.kwargs.b], [["a"], 1]);
  const full = await json("web1", "publish.full_data", "web2", "test.ping");
  assertEquals({ ...full.web2, jid: "" }, {
    jid: "",
    return: true,
    retcode: 0,
    id: "web2",
    fun: "test.ping",
    fun_args: [],
    ret: true,
  });
  assertEquals(await json("web1", "publish.publish", "web2", "publish.publish"), {});
  assertEquals((await host.ssh("web1", "mine.get", "web2", "test.ping", "nosuch=1")).code, 20);
});

sshTest("a host gets of others what mine_functions and peer allow, and nothing more", {}, async (host) => {
  host.write(
    "states/ask.sls",
    [
      "{% set mine = salt['mine.get']('*', 'who,secret,cmd.run') %}",
      "{% set said = salt['publish.publish']('db1', 'test.echo', 'hi', timeout=60) %}",
      "{% set did = salt['publish.publish']('db1', 'cmd.run', 'id', timeout=60) %}",
      "ask: {test.configurable_test_state: [{comment: '{{ [mine, said, did] | json }}'}]}",
      "",
    ].join("\n"),
  );
  const functions = {
    who: [{ mine_function: "grains.get" }, "id"],
    secret: [{ mine_function: "test.echo" }, "s", { allow_tgt: "db*" }],
  };
  host.roster({ web1: {}, db1: { mine_functions: functions } });
  const master = JSON.parse(Deno.readTextFileSync(`${host.root}/conf/master`));
  host.write("conf/master", JSON.stringify({ ...master, peer: { "web.*": ["test.echo"] } }));
  const { out } = await host.ssh("web1", "state.sls", "ask", "--out=json");
  const [state] = Object.values<{ readonly comment: string }>(JSON.parse(out).web1);
  assertEquals(JSON.parse(state.comment), [{ who: { db1: "db1" } }, { db1: "hi" }, {}]);
});

sshTest("the roster scan has the addresses that answer", {}, async (host) => {
  const { host: _, port, ...defaults } = host.entry("all");
  const master = JSON.parse(Deno.readTextFileSync(`${host.root}/conf/master`));
  host.write("conf/master", JSON.stringify({ ...master, roster_defaults: defaults, ssh_scan_timeout: 1 }));
  const scan = (...words: string[]) => host.ssh("--roster=scan", `--scan-ports=1,${port}`, ...words);
  const { out, code } = await scan("127.0.0.0/30", "test.ping", "--static", "--out=json");
  assertEquals([JSON.parse(out), code], [{ "127.0.0.1": true }, 0]);
  assertEquals((await scan("-L", "127.0.0.1,127.0.0.2", "-r", "true", "--out=json")).code, 0);
  assertEquals((await scan("127.0.0.2", "test.ping")).code, 2);
  assertEquals((await scan("web1", "test.ping")).code, 2);
});

sshTest(
  "a host makes the control host try no address of its own: it reaches what the operator's scan had",
  {},
  async (host) => {
    const { host: _, port: given, ...entry } = host.entry("all");
    const port = Number(given);
    const defaults = { ...entry, mine_functions: { "test.ping": [] } };
    const master = JSON.parse(Deno.readTextFileSync(`${host.root}/conf/master`));
    host.write(
      "conf/master",
      JSON.stringify({
        ...master,
        roster_defaults: defaults,
        ssh_scan_timeout: 1,
        peer: { ".*": ["test.ping"] },
      }),
    );
    host.write(
      "states/ask.sls",
      `{% set mine = salt['mine.get']('127.0.0.2', 'test.ping') %}
{% set said = salt['publish.publish']('127.0.0.3', 'test.ping', timeout=60) %}
{% set own = salt['mine.get']('127.0.0.*', 'test.ping') %}
ask: {test.configurable_test_state: [{comment: '{{ [mine, said, own] | json }}'}]}
`,
    );
    using second = Deno.listen({ hostname: "127.0.0.2", port });
    using third = Deno.listen({ hostname: "127.0.0.3", port });
    let tried = 0;
    const count = async (listener: Deno.TcpListener) => {
      for await (const connection of listener) {
        tried++;
        connection.close();
      }
    };
    const counting = [second, third].map(count);
    const { out, err } = await host.ssh(
      ...["--roster=scan", `--scan-ports=${port}`, "127.0.0.1", "state.sls", "ask", "--out=json"],
    );
    const [state] = Object.values<{ readonly comment: string }>(JSON.parse(out)["127.0.0.1"]);
    assertEquals(JSON.parse(state.comment), [{}, {}, { "127.0.0.1": true }], err);
    second.close();
    third.close();
    await Promise.all(counting);
    assertEquals(tried, 0);
  },
);

sshTest("a directory that may not hold the executable is named, and nothing half-written is left", {
  mounts: [
    'mkdir -p "$ROOT/full" "$ROOT/noexec" "$ROOT/theirs/thin"',
    'mount -t tmpfs -o size=64k tmpfs "$ROOT/full"',
    'head -c 65536 /dev/zero >"$ROOT/full/filler"',
    'mount -t tmpfs -o noexec tmpfs "$ROOT/noexec"',
    'chown nobody "$ROOT/theirs/thin"',
    'echo 1 >"$ROOT/file"',
  ],
}, async (host) => {
  host.roster({
    full: { thin_dir: `${host.root}/full/thin` },
    noexec: { thin_dir: `${host.root}/noexec/thin` },
    theirs: { thin_dir: `${host.root}/theirs/thin` },
    file: { thin_dir: `${host.root}/file/thin` },
  });
  const { out, code } = await host.ssh("*", "test.ping", "--static", "--out=json");
  const shown = JSON.parse(out);
  assertEquals(code, 20);
  assertMatch(shown.full, /no space left|cannot be written, or is full/);
  assertMatch(shown.noexec, /Programs may not run from .*noexec/);
  assertMatch(shown.theirs, /is not a directory of this user/);
  assertMatch(shown.file, /cannot be made/);
  const left = await host.ssh("noexec", "-r", `ls -A ${host.root}/full/thin ${host.root}/noexec/thin`, "--out=json");
  assertEquals(JSON.parse(left.out).noexec.stdout, `${host.root}/full/thin:\n\n${host.root}/noexec/thin:\n`);
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

sshTest("-w and -W leave nothing on a host", {}, async (host) => {
  assertEquals((await host.ssh("web1", "-w", "test.ping")).code, 0);
  assertEquals(filesOf(`${host.root}/thin`), []);
  const before = filesOf("/var/tmp");
  assertEquals((await host.ssh("web1", "-W", "test.ping")).code, 0);
  assertEquals([filesOf("/var/tmp"), filesOf(`${host.root}/thin`)], [before, []]);
});

sshTest("50 hosts at once", {}, async (host) => {
  const ids = Array.from({ length: 50 }, (_, i) => `h${i}`);
  // One directory: a packed executable takes 250 MB.
  host.roster(Object.fromEntries(ids.map((id) => [id, { thin_dir: `${host.root}/thin/all` }])));
  assertEquals((await host.ssh("h0", "test.ping")).code, 0);
  const { out, code } = await host.ssh("*", "grains.get", "id", "--max-procs=50", "--static", "--out=json");
  assertEquals([JSON.parse(out), code], [Object.fromEntries(ids.map((id) => [id, id])), 0]);
});

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
