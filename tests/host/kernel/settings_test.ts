/**
 * Settings of the system, with recorded programs and with files of a root directory.
 * @module
 */
import {
  availableModules,
  forgetModule,
  parseLsmod,
  persistentModules,
  persistModule,
} from "#lib/host/kernel/kernel_modules.ts";
import { replaceLines, settingIn } from "#lib/host/kernel/settings_file.ts";
import { parseParameterFile, parseParameters, persistParameter } from "#lib/host/kernel/sysctl.ts";
import { getClock, getZone, parseLocalClock, parseZone, setClock, setZone } from "#lib/host/kernel/time_zone.ts";
import { assertEquals, assertRejects } from "#tests/support/assert.ts";
import { run, testContext } from "#tests/support/calls/job_context.ts";
import { RecordedPrograms } from "#tests/support/calls/recorded_program.ts";

/** Runs `test` with a root directory that holds these files. */
async function withFiles(files: Record<string, string>, test: (root: string) => void | Promise<void>): Promise<void> {
  const root = Deno.makeTempDirSync({ prefix: "settings_" });
  try {
    for (const [path, text] of Object.entries(files)) {
      Deno.mkdirSync(`${root}${path}`.replace(/\/[^/]*$/, ""), { recursive: true });
      Deno.writeTextFileSync(`${root}${path}`, text);
    }
    await test(root);
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
}

Deno.test("a line of settings is found, replaced and added; all others are kept", async () => {
  await withFiles({ "/f": '# A=0\nA="1"\n B = x y\n' }, (root) => {
    assertEquals([settingIn(`${root}/f`, "A"), settingIn(`${root}/f`, "B"), settingIn(`${root}/f`, "C")], [
      "1",
      "x y",
      undefined,
    ]);
    const set = (key: string, add: boolean) =>
      replaceLines(`${root}/f`, { isMeant: (line) => line.startsWith(`${key}=`), line: `${key}=2`, add });
    assertEquals([set("A", false), set("A", false), set("C", false), set("C", true)], [true, false, false, true]);
    assertEquals(Deno.readTextFileSync(`${root}/f`), "# A=0\nA=2\n B = x y\nC=2\n");
    assertEquals(replaceLines(`${root}/new`, { isMeant: () => false, line: "x", add: true }), true);
    assertEquals(Deno.readTextFileSync(`${root}/new`), "x\n");
  });
});

Deno.test("kernel parameters are read and set by sysctl, and stored in its file", async () => {
  assertEquals([...parseParameters("a.b = 1\nc = x = y\nodd line")], [["a.b", "1"], ["c", "x = y"]]);
  assertEquals([...parseParameterFile("# a = 1\nb=2\n c.d =  3 4 \n;x")], [["b", "2"], ["c.d", "3 4"]]);
  using programs = new RecordedPrograms();
  const name = "kernel.hostname";
  programs.answer("sysctl", [
    { args: `-w ${name}=new`, stdout: `${name} = new\n` },
    { args: `-w ${name}=bad`, stderr: "sysctl: Invalid argument\n", code: 255 },
    { args: `-n ${name}`, stdout: "new\n" },
  ]);
  await withFiles({ "/sysctl.conf": `# own\nx=1\n${name} = old\n` }, async (root) => {
    const host = testContext();
    const persist = (value: string) => persistParameter(name, value, `${root}/sysctl.conf`, host);
    assertEquals(await persist("new"), "Updated");
    assertEquals(Deno.readTextFileSync(`${root}/sysctl.conf`), `# own\nx=1\n${name} = new\n`);
    assertEquals(await persist("new"), "Already set");
    await assertRejects(() => persist("bad"), Error, "sysctl -w failed: sysctl: Invalid argument");
    await assertRejects(
      () => persistParameter("no.such", "1", `${root}/new.conf`, host),
      Error,
      "sysctl no.such does not exist",
    );
  });
  for (const bad of ["-a", "a b", "..x", ""]) {
    assertEquals(/Invalid parameter/.test(String((await run("sysctl.get", [bad])).return)), true, bad);
  }
});

Deno.test("kernel modules are listed, and stored for the next boot", async () => {
  assertEquals(parseLsmod("Module                  Size  Used by\nnf_tables  1234  2 a,b\nloop 10 0\n"), [
    { module: "nf_tables", size: "1234", depcount: "2", deps: ["a", "b"] },
    { module: "loop", size: "10", depcount: "0", deps: [] },
  ]);
  await withFiles({
    "/m/modules.builtin": "kernel/fs/ext4.ko\n",
    "/m/kernel/x-y.ko.xz": "",
    "/etc/modules": "# loop\nkvm nested=1\n",
  }, (root) => {
    assertEquals(availableModules(`${root}/m`), ["ext4", "x_y"]);
    const file = `${root}/etc/modules`;
    assertEquals(persistentModules(file), ["kvm"]);
    persistModule("loop", file);
    persistModule("zfs", file);
    assertEquals(Deno.readTextFileSync(file), "loop\nkvm nested=1\nzfs\n");
    forgetModule("kvm", file, true);
    forgetModule("zfs", file, false);
    assertEquals(Deno.readTextFileSync(file), "loop\n#kvm nested=1\n");
  });
});

Deno.test("kmod.load returns the new modules, or the error of modprobe", async () => {
  using programs = new RecordedPrograms();
  programs.answer("lsmod", [{ args: "", stdout: "Module Size Used\nloop 1 0\n" }]);
  programs.answer("modprobe", [{ args: "bad", stderr: "modprobe: FATAL: no bad\n", code: 1 }]);
  assertEquals((await run("kmod.load", ["loop"])).return, []);
  assertEquals((await run("kmod.load", ["bad"])).return, "Error loading module bad: modprobe: FATAL: no bad");
  assertEquals((await run("kmod.is_loaded", ["loop"])).return, true);
  assertEquals(/Invalid kernel module/.test(String((await run("kmod.load", ["-r loop"])).return)), true);
});

const TIMEDATECTL =
  "               Local time: Sun\n                Time zone: Europe/Berlin (CEST, +0200)\n          RTC in local TZ: no\n";

Deno.test("the time zone is read from timedatectl", async () => {
  assertEquals([parseZone(TIMEDATECTL), parseLocalClock(TIMEDATECTL)], ["Europe/Berlin", false]);
  using programs = new RecordedPrograms();
  programs.answer("timedatectl", [{ args: "", stdout: TIMEDATECTL }]);
  const context = testContext();
  assertEquals([await getZone("Debian", context), await getClock("Debian", context)], ["Europe/Berlin", "UTC"]);
  assertEquals(await setClock("localtime", "Debian", context), true);
  assertEquals(programs.calls().at(-1), "timedatectl set-local-rtc true");
});

Deno.test("a time zone is set in a root directory, and never outside of it", async () => {
  await withFiles({ "/usr/share/zoneinfo/Etc/UTC": "x", "/etc/timezone": "old\n" }, async (root) => {
    const context = testContext();
    assertEquals(await setZone("Etc/UTC", "Debian", context, root), true);
    assertEquals(Deno.readLinkSync(`${root}/etc/localtime`), "/usr/share/zoneinfo/Etc/UTC");
    assertEquals(Deno.readTextFileSync(`${root}/etc/timezone`), "Etc/UTC\n");
    assertEquals(await setZone("No/Zone", "Debian", context, root), "Zone does not exist: /usr/share/zoneinfo/No/Zone");
    for (const bad of ["../../etc/passwd", "-x", "a\nb", "/etc"]) {
      await assertRejects(() => setZone(bad, "Debian", context, root), Error, "Invalid time zone");
    }
  });
});
