/**
 * Functions of cmd, saltutil, mount, locale, ps and network that the recorded calls of Python Salt do not cover.
 * @module
 */

import { HostFiles } from "#lib/programs/files.ts";
import { which } from "#lib/programs/which.ts";
import { findFullName, renamedInHosts, renamedInSysconfig } from "#lib/host/network/host_names.ts";
import { parseIfconfig } from "#lib/host/network/interfaces.ts";
import { parseSs } from "#lib/host/network/open_sockets.ts";
import { parseBuffers } from "#lib/host/network/host_tools.ts";
import { parseIpRoutes, parseIpRoutes6 } from "#lib/host/network/routes.ts";
import { parseLocalectl } from "#lib/host/kernel/locales.ts";
import { prettyName, withPrettyName } from "#lib/host/kernel/machine_info.ts";
import { isMap, map, type Value } from "#lib/values/value.ts";
import { runInChroot } from "#modules/execution/cmd/chroot.ts";
import { assert, assertEquals, assertRejects } from "#tests/support/assert.ts";
import { testContext, testOpts } from "#tests/support/calls/job_context.ts";
import { RecordedPrograms } from "#tests/support/calls/recorded_program.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

Deno.test("cmd.shell_info returns the version of a shell, or the reason why it is unknown", async () => {
  using programs = new RecordedPrograms();
  programs.answer("bash", [{ args: "--version", stdout: "GNU bash, version 5.2.15(1)-release (x86_64)\n" }]);
  programs.answer("zsh", [{ args: "*", stdout: "zsh 6\n" }]);
  programs.answer("php", [{ args: "*", stdout: "odd\n" }]);
  const info = async (shell: string) => {
    const info = await testContext().call("cmd.shell_info", [shell]);
    assert(isMap(info));
    return [info.get("installed"), info.get("version") ?? info.get("error")];
  };
  assertEquals(await info("bash"), [true, "5.2.15"]);
  assertEquals(await info("zsh"), [true, "6.0"]);
  assertEquals(await info("php"), [
    null,
    "The version regex pattern for shell php, could not find the version string",
  ]);
  assertEquals(await info("constructor"), [null, "Salt does not know how to get the version number for constructor"]);
});

Deno.test("cmd.script_retcode returns the return code of a script, and cmd.powershell fails with a reason", async () => {
  await withTemporaryDirectory(async (directory) => {
    Deno.writeTextFileSync(`${directory}/s.sh`, '#!/bin/sh\n[ "$1" = a ] && exit 3\nexit 0\n');
    const { call } = testContext();
    assertEquals(await call("cmd.script_retcode", [`${directory}/s.sh`, "a"]), 3);
    assertEquals(await call("cmd.script_retcode", [`${directory}/s.sh`]), 0);
    await assertRejects(() => call("cmd.powershell", ["Get-Process"]), Error, "cmd.powershell is for Windows");
  });
});

Deno.test("cmd.run_chroot mounts file systems, runs a command and unmounts them, also if the command fails", async () => {
  await withTemporaryDirectory(async (root) => {
    const calls: string[] = [];
    const context = testContext({
      call: (name: string, args: Value[] = []): Promise<Value> => {
        calls.push([name, ...args].join(" "));
        return Promise.resolve(args[1] !== "sysfs" || "mount: no");
      },
    });
    const command = { root, cmd: "echo 'a b'", binds: ["/srv"], runas: "fred", group: null };
    const words = await runInChroot(command, context, (argv) => Promise.resolve(argv));
    assertEquals(words, ["chroot", "--userspec", "fred:", root, "/bin/sh", "-c", "echo 'a b'"]);
    assertEquals(calls, [
      `mount.mount ${root}/dev devtmpfs`,
      `mount.mount ${root}/proc proc`,
      `mount.mount ${root}/sys sysfs`,
      `mount.mount ${root}/srv /srv`,
      `mount.umount ${root}/srv`,
      `mount.umount ${root}/proc`,
      `mount.umount ${root}/dev`,
    ]);
    calls.length = 0;
    await assertRejects(
      () => runInChroot(command, context, () => Promise.reject(new Error("failed"))),
      Error,
      "failed",
    );
    assertEquals(calls.filter((line) => line.startsWith("mount.umount")).length, 3);
    await assertRejects(
      () => runInChroot({ ...command, root: "/" }, context, () => Promise.resolve(1)),
      Error,
      "no other root",
    );
  });
});

const perl = which("perl");

Deno.test({
  name: `cmd.run_chroot ends what its command left running there${
    perl === undefined ? " (ignored: there is no perl here)" : ""
  }`,
  ignore: perl === undefined || Deno.uid() !== 0,
  async fn() {
    await withTemporaryDirectory(async (root) => {
      const script = "chroot shift or die; print qq(there\\n); close STDOUT; sleep 60";
      const child = new Deno.Command(perl ?? "", { args: ["-e", script, root], stdout: "piped" }).spawn();
      await new Response(child.stdout).text();
      const context = testContext({ call: () => Promise.resolve(true) });
      const command = { root, cmd: "true", binds: null, runas: null, group: null };
      assertEquals(await runInChroot(command, context, () => Promise.resolve("done")), "done");
      assertEquals((await child.status).signal, "SIGTERM");
      assertEquals(context.logged, []);
    });
  },
});

Deno.test("saltutil.clear_cache keeps the files of jobs and returns, and follows no link", async () => {
  await withTemporaryDirectory(async (root) => {
    const cachedir = `${root}/cache`;
    for (const name of ["files/base", "returns", "proc"]) Deno.mkdirSync(`${cachedir}/${name}`, { recursive: true });
    for (const name of ["files/base/f", "returns/r", "proc/1", "x"]) Deno.writeTextFileSync(`${cachedir}/${name}`, "");
    Deno.mkdirSync(`${root}/outside`);
    Deno.writeTextFileSync(`${root}/outside/kept`, "");
    Deno.symlinkSync(`${root}/outside`, `${cachedir}/link`);
    const context = testContext({ opts: testOpts({ root_dir: root, cachedir }) });
    assertEquals(await context.call("saltutil.clear_cache"), true);
    assertEquals(Array.from(Deno.readDirSync(cachedir), ({ name }) => name).sort(), ["files", "proc", "returns"]);
    assertEquals([...Deno.readDirSync(`${cachedir}/files/base`)].length, 0);
    for (const path of [`${cachedir}/returns/r`, `${cachedir}/proc/1`, `${root}/outside/kept`]) Deno.statSync(path);
    assertEquals(await context.call("saltutil.refresh_beacons"), true);
    assertEquals(context.fired.map(({ tag }) => tag), ["beacons_refresh"]);
    assertEquals(await context.call("saltutil.mmodule", ["base", "test.echo", "x"]), "x");
  });
});

Deno.test("the cache of the module mount is stored in its file, and entries can be removed", async () => {
  await withTemporaryDirectory(async (root) => {
    const { call } = testContext({ opts: testOpts({ root_dir: root, cachedir: root }) });
    assertEquals(await call("mount.write_mount_cache", ["/mnt/x", "/dev/x", false, "ext4", ["ro"]]), true);
    assertEquals(
      await call("mount.read_mount_cache", ["/mnt/x"]),
      map({ device: "/dev/x", fstype: "ext4", mkmnt: false, opts: ["ro"] }),
    );
    assertEquals(await call("mount.delete_mount_cache", ["/mnt/x"]), true);
    assertEquals(await call("mount.read_mount_cache", ["/mnt/x"]), map({}));
  });
});

Deno.test("the output of ss, ip and ifconfig is used if netstat and ip are missing", () => {
  const ss =
    'tcp ESTAB 0 0 10.1.2.3:22 10.1.2.9:515 users:(("sshd",pid=9,fd=3)) timer:(keepalive,1min,0) uid:7 ino:123 sk:1 <->\n' +
    "Netid State\nudp UNCONN 0 0 *:68 *:* ino:5 sk:2 <->\n";
  assertEquals(parseSs(ss).map(({ proto, state, user, inode, program }) => [proto, state, user, inode, program]), [
    ["tcp", "ESTABLISHED", "7", "123", "sshd"],
    ["udp", undefined, 0, "5", ""],
  ]);
  const four = "default via 10.1.0.1 dev eth0 proto dhcp\n10.1.0.0/20 dev eth0 scope link\nunreachable 10.9.0.0/16\n";
  assertEquals(parseIpRoutes(four).map((one) => [one.destination, one.netmask, one.gateway, one.interface]), [
    ["0.0.0.0", "0.0.0.0", "10.1.0.1", "eth0"],
    ["10.1.0.0", "255.255.240.0", "0.0.0.0", "eth0"],
  ]);
  const six =
    "::1 dev lo proto kernel\ndefault via fe80::1 dev eth0\nlocal fd00::2 dev eth0 table local\nmulticast ff00::/8 dev eth0\n";
  assertEquals(parseIpRoutes6(six).map((one) => [one.destination, one.gateway, one.interface]), [
    ["::1", "::", "lo"],
    ["::/0", "fe80::1", "eth0"],
    ["fd00::2/128", "::", "eth0"],
  ]);
  const ifconfig =
    "eth0: flags=4163<UP,BROADCAST>  mtu 1500\n        inet 192.0.2.2  netmask 255.255.255.0  broadcast 192.0.2.255\n" +
    "        inet6 fd00::2  prefixlen 64  scopeid 0x0<global>\n        ether 02:fc:00:00:00:01  txqueuelen 1000\n\n";
  assertEquals([...parseIfconfig(ifconfig)], [["eth0", {
    up: true,
    inet: [{ address: "192.0.2.2", netmask: "255.255.255.0", broadcast: "192.0.2.255" }],
    inet6: [{ address: "fd00::2", prefixlen: "64", scope: null }],
    hwaddr: "02:fc:00:00:00:01",
  }]]);
  const ethtool =
    "Ring parameters for eth0:\nPre-set maximums:\nRX:\t4096\nRX Mini:\t0\nCurrent hardware settings:\nTX:\t512\n";
  assertEquals(parseBuffers(ethtool), { result: true, "rx-max": 4096, "rx-mini-max": 0, tx: 512 });
  assertEquals(parseBuffers("sh: 1: ethtool: not found"), { result: false, comment: "1: ethtool: not found" });
});

Deno.test("a full host name is from the hosts file, otherwise from the resolver, otherwise the name itself", async () => {
  await withTemporaryDirectory(async (root) => {
    Deno.mkdirSync(`${root}/etc`);
    Deno.writeTextFileSync(`${root}/etc/hosts`, "127.0.1.1 web1 web1.example.org\n10.0.0.5 alone\n");
    const resolver = {
      address: (name: string) => name === "far" ? Promise.resolve("10.0.0.9") : Promise.reject(new Error("none")),
      name: () => Promise.resolve("far.example.org"),
    };
    const named = (name: string) => findFullName(name, { files: new HostFiles(root), resolver });
    assertEquals(await Promise.all(["web1", "alone", "far", "gone"].map(named)), [
      "web1.example.org",
      "alone",
      "far.example.org",
      "gone",
    ]);
  });
  assertEquals(
    renamedInHosts("127.0.0.1 localhost\n\n127.0.1.1  old  x\n", "old", "new"),
    "127.0.0.1\tlocalhost\n\n127.0.1.1\tnew\tx\n",
  );
  assertEquals(renamedInSysconfig('NETWORKING=yes\nHOSTNAME="old"\n', "new"), 'NETWORKING=yes\nHOSTNAME="new"\n');
});

Deno.test("the locale of localectl and the pretty host name are read", () => {
  const output =
    "   System Locale: LANG=de_DE.UTF-8\n                  LC_TIME=C\n       VC Keymap: n/a\n      X11 Layout: us\n";
  assertEquals([...parseLocalectl(output)], [["LANG", "de_DE.UTF-8"], ["LC_TIME", "C"]]);
  assertEquals(prettyName('ICON=x\n PRETTY_HOSTNAME="a b"\n'), "a b");
  assertEquals(prettyName("ICON=x\n"), undefined);
  assertEquals(withPrettyName("ICON=x\nPRETTY_HOSTNAME=old\n", "new"), 'ICON=x\nPRETTY_HOSTNAME="new"\n');
});
