/** The same calls of `salt-ssh` to one sshd, by Python Salt 3008.3 and by ours: outputs and exit codes. */

import { assertEquals } from "#tests/support/assert.ts";
import { SshDaemon, whyNoSshd } from "#tests/support/fleet/ssh_daemon.ts";
import { type Ran, run } from "#tests/support/processes.ts";
import { pythonSalt } from "./python_salt.ts";

/** Calls whose output and exit code are equal, but for times. */
const EQUAL: readonly (readonly string[])[] = [
  ["web1", "test.ping"],
  ["web1", "cmd.run", 'echo "a b"; exit 3'],
  ["web1", "cmd.run", "exit 3"],
  ["web1", "-r", "echo a; echo b >&2; exit 3"],
  ["web1", "-r", "echo  a"],
  ["web1", "test.echo", "a;b $HOME `id`"],
  ["web1", "state.apply"],
  ["web1", "state.apply", "test=True", "--out=json"],
  ["web1", "state.highstate", "--out=json"],
  ["web1", "state.show_sls", "web", "--out=json"],
  ["web1", "pillar.items"],
  ["web1", "pillar.get", "door", "--out=json"],
  ["web1", "config.get", "color_of_door"],
  ["web1", "cp.get_file", "salt://web.conf", "GOT"],
  ["-L", "web1,web2", "test.ping", "--out=json", "--static"],
  ["-E", "web[2]", "grains.get", "id"],
  ["-N", "pair", "test.ping", "--out=json", "--static"],
  ["gone", "test.ping"],
  ["gone", "-r", "true"],
  ["web1", "test.retcode", "4"],
  ["web1", "test.false"],
  ["-H"],
];

/** Calls that differ on purpose: the exit codes of both. */
const CODES: readonly (readonly [words: readonly string[], python: number, ours: number])[] = [
  [["nosuch", "test.ping"], 0, 2],
  [["web1", "test.nosuch"], 20, 20],
  [["web1", "state.sls", "nope"], 20, 20],
  [["web1"], 64, 64],
];

const missing = whyNoSshd();
const python = missing === undefined ? await pythonSalt("3008.3") : { missing };

Deno.test({
  name: `salt-ssh of 3008.3 and ours give equal results${"missing" in python ? ` (${python.missing})` : ""}`,
  ignore: "missing" in python,
  async fn() {
    if ("missing" in python) return;
    await using host = await SshDaemon.start();
    prepare(host, python.bin);
    const theirs = async (words: readonly string[]) =>
      await run([`${python.bin}/salt-ssh`, "-c", `${host.root}/conf`, "--no-color", "-i", ...words]);
    // One after the other: both write the same files.
    for (const words of EQUAL.map((call) => call.map((word) => word === "GOT" ? `${host.root}/got` : word))) {
      useRoster(host, "py", python.bin);
      const expected = shown(await theirs(words));
      removeMade(host);
      useRoster(host, "ours", python.bin);
      assertEquals(shown(await host.ssh(...words)), expected, words.join(" "));
      removeMade(host);
    }
    for (const [words, pythonCode, ourCode] of CODES) {
      useRoster(host, "py", python.bin);
      assertEquals((await theirs(words)).code, pythonCode, `Python's ${words.join(" ")}`);
      useRoster(host, "ours", python.bin);
      assertEquals((await host.ssh(...words)).code, ourCode, `our ${words.join(" ")}`);
    }
  },
});

function prepare(host: SshDaemon, bin: string): void {
  host.write("pillar/top.sls", "base: {'web*': [site]}\n");
  host.write("pillar/site.sls", "door: {{ grains.id }}-{{ grains.kernel }}\n");
  host.write("states/top.sls", "base: {'*': [web]}\n");
  host.write(
    "states/web.sls",
    `${host.root}/made:\n  file.managed:\n    - source: salt://web.conf\n    - template: jinja\n`,
  );
  host.write("states/web.conf", "{{ grains.id }} {{ pillar.door }}\n");
  const master = JSON.parse(Deno.readTextFileSync(`${host.root}/conf/master`));
  host.write(
    "conf/master",
    JSON.stringify({ ...master, ssh_list_nodegroups: { pair: ["web1", "web2"] }, user: "root" }),
  );
  useRoster(host, "py", bin);
}

/** Each Salt has its own directories on the host, and Python's needs its Python. */
function useRoster(host: SshDaemon, whose: string, bin: string): void {
  const entry = (id: string) => ({
    thin_dir: `${host.root}/thin/${whose}-${id}`,
    set_path: `${bin}:/usr/sbin:/usr/bin:/sbin:/bin`,
    // Salt adds the pillar that the host itself has, in /srv/pillar if nothing else is said.
    minion_opts: { color_of_door: "red", pillar_roots: { base: [`${host.root}/none`] } },
  });
  host.roster({ web1: entry("web1"), web2: entry("web2"), gone: { ...entry("gone"), port: 2 } });
}

function removeMade(host: SshDaemon): void {
  for (const name of ["made", "got"]) {
    try {
      Deno.removeSync(`${host.root}/${name}`);
    } catch (error) {
      if (!(error instanceof Deno.errors.NotFound)) throw error;
    }
  }
}

/** What both print alike: without times, which are new at each run, and with the keys of JSON in one order. */
function shown({ out, code }: Ran): readonly [unknown, number] {
  const text = out.replace(/(Started|start_time|Duration|duration|Total run time)("?:) +.*/g, "$1$2 …")
    .replace(/^Test mode: nothing was changed\n/m, "");
  if (!/^[{[]/.test(text)) return [text, code];
  return [JSON.parse(text.replace(/: …/g, ": 0,").replace(/,(\s*\})/g, "$1")), code];
}
