/**
 * The time zone of hosts without timedatectl, read from files.
 * @module
 */
import { clockInFiles, writeClock, writeZone, zoneInFiles } from "#lib/host/kernel/time_zone_files.ts";
import { isZone } from "#lib/host/kernel/time_zone.ts";
import { assertEquals, assertRejects, assertThrows } from "#tests/support/assert.ts";
import { testContext } from "#tests/support/calls/job_context.ts";
import { RecordedPrograms } from "#tests/support/calls/recorded_program.ts";

/** Runs `test` with a root directory that holds these files. */
function withFiles(files: Record<string, string>, test: (root: string) => void): void {
  const root = Deno.makeTempDirSync({ prefix: "time_zone_" });
  try {
    for (const [path, text] of Object.entries(files)) {
      Deno.mkdirSync(`${root}${path}`.replace(/\/[^/]*$/, ""), { recursive: true });
      Deno.writeTextFileSync(`${root}${path}`, text);
    }
    test(root);
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
}

for (
  const [family, files, zone] of [
    ["RedHat", { "/etc/sysconfig/clock": '# ZONE=no\nZONE="Europe/Berlin"\n' }, "Europe/Berlin"],
    ["Suse", { "/etc/sysconfig/clock": 'TIMEZONE="Asia/Tokyo"\n' }, "Asia/Tokyo"],
    ["RedHat", { "/etc/sysconfig/clock": 'ZONE=""\n' }, "UTC"],
    ["Debian", { "/etc/timezone": "Etc/UTC\n" }, "Etc/UTC"],
    ["Gentoo", { "/etc/timezone": " America/Denver \n" }, "America/Denver"],
  ] as const
) {
  Deno.test(`the zone of ${family} is ${zone} by ${JSON.stringify(files)}`, () => {
    withFiles(files, (root) => assertEquals(zoneInFiles(family, root), zone));
  });
}

Deno.test("the zone of other hosts is the target of /etc/localtime", () => {
  withFiles({ "/etc/x": "" }, (root) => {
    const zone = () => zoneInFiles("Slackware", root);
    assertThrows(zone, Error, `${root}/etc/localtime does not exist`);
    Deno.symlinkSync("../usr/share/zoneinfo/Europe/Oslo", `${root}/etc/localtime`);
    assertEquals(zone(), "Europe/Oslo");
    Deno.removeSync(`${root}/etc/localtime`);
    Deno.writeTextFileSync(`${root}/etc/localtime`, "TZif");
    assertThrows(zone, Error, "Unable to determine timezone");
  });
});

Deno.test("an unknown zone is an error, and zones are compared by content", async () => {
  using programs = new RecordedPrograms();
  programs.answer("timedatectl", [{ args: "*", stderr: "no bus", code: 1 }]);
  const root = Deno.makeTempDirSync({ prefix: "time_zone_" });
  try {
    assertThrows(() => zoneInFiles("Debian", root), Error, "Problem reading timezone file");
    assertThrows(() => zoneInFiles("RedHat", root), Error, "Unable to get timezone from");
    Deno.mkdirSync(`${root}/etc`);
    Deno.mkdirSync(`${root}/usr/share/zoneinfo/Etc`, { recursive: true });
    for (const zone of ["UTC", "GMT"]) Deno.writeTextFileSync(`${root}/usr/share/zoneinfo/Etc/${zone}`, `TZif ${zone}`);
    const is = (zone: string) => isZone(zone, "Debian", testContext(), root);
    await assertRejects(() => is("Etc/UTC"), Error, "to determine current timezone: No such file or directory");
    Deno.writeTextFileSync(`${root}/etc/localtime`, "TZif UTC");
    assertEquals([await is("Etc/UTC"), await is("Etc/GMT")], [true, false]);
    await assertRejects(() => is("No/Zone"), Error, `Can't find a local timezone "No/Zone"`);
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
});

Deno.test("a zone is written to the file of the OS family", () => {
  const clock = "/etc/sysconfig/clock";
  for (
    const [family, before, after] of [["RedHat", 'ZONE="x"', 'ZONE="Etc/UTC"'], [
      "Suse",
      "TIMEZONE=x",
      'TIMEZONE="Etc/UTC"',
    ]]
  ) {
    withFiles({ [clock]: `A=1\n${before}\n`, "/usr/share/zoneinfo/Etc/UTC": "" }, (root) => {
      writeZone("Etc/UTC", family, root);
      assertEquals(Deno.readTextFileSync(root + clock), `A=1\n${after}\n`);
      assertEquals(zoneInFiles(family, root), "Etc/UTC");
    });
  }
});

for (
  const [family, files, clock] of [
    ["Debian", { "/etc/default/rcS": "# UTC=no\nUTC=yes\n" }, "UTC"],
    ["Debian", { "/etc/default/rcS": "UTC=no\n" }, "localtime"],
    ["Debian", { "/etc/adjtime": "0.0 0 0.0\n0\nLOCAL\n" }, "LOCAL"],
    ["RedHat", { "/etc/adjtime": "0.0 0 0.0\n0\nUTC\n" }, "UTC"],
    ["Gentoo", { "/etc/conf.d/hwclock": 'clock="UTC"\n' }, "UTC"],
    ["Gentoo", { "/etc/conf.d/hwclock": 'clock="local"\n' }, "LOCAL"],
  ] as const
) {
  Deno.test(`the clock of ${family} keeps ${clock} by ${JSON.stringify(files)}`, () => {
    withFiles(files, (root) => assertEquals(clockInFiles(family, root), clock));
  });
}

Deno.test("the setting of the hardware clock is written to the file of the OS family", () => {
  const files = {
    "/etc/default/rcS": "UTC=yes\n",
    "/etc/conf.d/hwclock": "clock=x\n",
    "/etc/timezone": "Etc/UTC\n",
    "/etc/sysconfig/clock": 'ZONE="Etc/UTC"\n',
    "/usr/share/zoneinfo/Etc/UTC": "",
  };
  withFiles(files, (root) => {
    assertThrows(() => clockInFiles("Gentoo", root), Error, "Correct offset value not found");
    for (const clock of ["localtime", "UTC"]) {
      writeClock(clock, "Debian", root);
      writeClock(clock, "Gentoo", root);
      assertEquals(clockInFiles("Debian", root), clock);
      assertEquals(clockInFiles("Gentoo", root), clock === "UTC" ? "UTC" : "LOCAL");
    }
    writeClock("UTC", "RedHat", root);
    assertThrows(() => writeClock("GMT", "Debian", root), Error, "Only 'UTC' and 'localtime' are allowed");
    Deno.removeSync(`${root}/usr/share/zoneinfo/Etc/UTC`);
    assertThrows(() => writeClock("UTC", "Debian", root), Error, "Zone '/usr/share/zoneinfo/Etc/UTC' does not exist");
  });
});
