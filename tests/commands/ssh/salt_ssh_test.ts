/** `salt-ssh` on a real sshd: functions, states, pillar and files, and what it leaves on hosts. */

import { assert, assertEquals, assertMatch, assertStringIncludes } from "#tests/support/assert.ts";
import { sshTest } from "#tests/support/fleet/ssh_daemon.ts";

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
