/**
 * An argument of a job that would become an option of a program, or several lines, is rejected before the program
 * starts.
 * @module
 */

import type { ChildRunner } from "#lib/programs/child_process.ts";
import { map, toValue, type Value } from "#lib/values/value.ts";
import { loadCatalogue } from "#lib/minion/catalogue/catalogue.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { run, testContext } from "#tests/support/calls/job_context.ts";
import { RecordedPrograms } from "#tests/support/calls/recorded_program.ts";

/** Functions by module, with arguments in which `X` stands for the tested value. */
const CALLS: Readonly<Record<string, readonly (readonly [fun: string, ...args: unknown[]])[]>> = {
  yumpkg: [["pkg.install", "X"], ["pkg.latest_version", "X"], ["pkg.owner", "X"], ["pkg.group_info", "X"], [
    "pkg.file_list",
    "X",
  ]],
  zypperpkg: [["pkg.install", "X"], ["pkg.search", "X"], ["pkg.hold", "X"], ["pkg.download", "X"]],
  apkpkg: [["pkg.install", "X"], ["pkg.remove", "X"], ["pkg.owner", "X"], ["pkg.file_dict", "X"]],
  pacmanpkg: [["pkg.install", "X"], ["pkg.group_info", "X"], ["pkg.owner", "X"], ["pkg.latest_version", "X"]],
  rpm_lowpkg: [["lowpkg.list_pkgs", "X"], ["lowpkg.info", "X"], ["lowpkg.verify", "X"], ["lowpkg.checksum", "X"]],
  git: [
    ["git.checkout", "/tmp", "X"],
    ["git.ls_remote", "/tmp", "X"],
    ["git.fetch", "/tmp", "X"],
    ["git.push", "/tmp", "X", "main"],
    ["git.remote_refs", "X"],
    ["git.branch", "/tmp", "X"],
    ["git.tag", "/tmp", "X"],
    ["git.config_get", "X", "/tmp"],
    ["git.submodule", "/tmp", "X"],
  ],
  linux_lvm: [["lvm.vgremove", "X"], ["lvm.lvdisplay", "X"], ["lvm.lvcreate", "X", "vg", "1G"]],
  iptables: [["iptables.new_chain", "filter", "X"], ["iptables.flush", "filter", "X"], [
    "iptables.append",
    "X",
    "INPUT",
    "-j DROP",
  ]],
  nftables: [["nftables.new_table", "X"], ["nftables.check_chain", "X", "input"]],
  npm: [["npm.install", "X"], ["npm.uninstall", "X"]],
  gem: [["gem.install", ["X"]], ["gem.sources_add", "X"]],
  at: [["at.at", "X", "ls"], ["at.atc", "X"]],
};

const PROGRAMS = "dnf rpm zypper apk pacman git lvm lvcreate lvdisplay vgremove iptables nft npm gem at".split(" ");

Deno.test("no name of a package, revision, chain or volume becomes an option of a program", async () => {
  using programs = new RecordedPrograms();
  for (const name of PROGRAMS) programs.answer(name);
  let started: (readonly string[])[] = [];
  const runChild: ChildRunner = ({ argv }) => {
    started.push(argv);
    const [stdout, stderr] = [new Uint8Array(), new Uint8Array()];
    return Promise.resolve({ pid: 1, retcode: 0, stdout, stderr, timedOut: false, dropped: { stdout: 0, stderr: 0 } });
  };
  for (const [file, calls] of Object.entries(CALLS)) {
    const virtual = calls[0][0].split(".")[0];
    const catalogue = loadCatalogue({ providers: map({ [virtual]: file }) });
    const context = testContext({ catalogue, runChild, grains: map({ os: "x", os_family: "x", osarch: "x86_64" }) });
    for (const word of ["--upload-pack=touch /tmp/x", "-x", "a\nb"]) {
      for (const [fun, ...args] of calls) {
        started = [];
        const filled = JSON.parse(JSON.stringify(args), (_key, value) => value === "X" ? word : value);
        const { return: result } = await run(fun, filled.map((one: unknown): Value => toValue(one)), context);
        assert(String(result).includes("Invalid"), `${file}: ${fun} ${JSON.stringify(word)}: ${String(result)}`);
        const passed = started.filter((argv) => argv.some((one) => one === word));
        assertEquals(passed, [], `${file}: ${fun} ${JSON.stringify(word)}`);
      }
    }
  }
});
