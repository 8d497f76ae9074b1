/**
 * Invalid settings: times, contexts, lists and values in another form than the expected one.
 * @module
 */

import { clockText, dateDigits } from "#lib/host/kernel/clock.ts";
import {
  configuredMode,
  fileTypeWords,
  findFileContext,
  findPort,
  parseRelabelling,
  withMode,
} from "#lib/host/kernel/selinux_output.ts";
import { replaceLines } from "#lib/host/kernel/settings_file.ts";
import { readSysfs } from "#lib/host/kernel/sysfs.ts";
import { persistParameter, setParameter } from "#lib/host/kernel/sysctl.ts";
import { clockInFiles, writeClock } from "#lib/host/kernel/time_zone_files.ts";
import { getClock, getZone } from "#lib/host/kernel/time_zone.ts";
import { CommandError, InvocationError } from "#lib/errors.ts";
import { assertEquals, assertRejects, assertThrows } from "#tests/support/assert.ts";
import { testContext } from "#tests/support/calls/job_context.ts";
import { RecordedPrograms } from "#tests/support/calls/recorded_program.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

const NEW_YEAR = { years: 2024, months: 12, days: 31, hours: 23, minutes: 59, seconds: 5 };

Deno.test("a time is shown by its own clock, and written in UTC; a time that does not exist is rejected", () => {
  assertEquals(clockText(NEW_YEAR, "%Y-%m-%d %H:%M:%S %p"), "2024-12-31 23:59:05 PM");
  assertEquals(dateDigits(NEW_YEAR, -60), { withSeconds: "010100592025.05", withoutSeconds: "010100592025" });
  for (const change of [{ months: 13 }, { months: 2, days: 30 }, { hours: 24 }, { minutes: -1 }, { seconds: 1.5 }]) {
    assertThrows(() => dateDigits({ ...NEW_YEAR, ...change }), InvocationError, "There is no such time: 2024-");
  }
});

Deno.test("SELinux: the mode in the configuration, and lists that have another form", () => {
  const config = "# comment\nSELINUX=enforcing\nSELINUXTYPE=targeted\n";
  assertEquals([configuredMode(config), configuredMode("SELINUXTYPE=targeted\n")], ["Enforcing", undefined]);
  assertEquals(withMode(config, "permissive"), config.replace("enforcing", "permissive"));
  assertThrows(() => fileTypeWords("x"), InvocationError, "Invalid file type code 'x'");
  const file = { name: "/srv", filetype: "" };
  const twice = "/srv   all files    system_u:object_r:x_t:s0\n".repeat(2);
  assertThrows(() => findFileContext(twice, file), CommandError, "did not match the expected format");
  assertThrows(
    () => parseRelabelling("Would relabel /srv from system_u:object_r to system_u:object_r:x_t:s0"),
    InvocationError,
    "Invalid SELinux context string: system_u:object_r. Expected",
  );
  assertThrows(
    () => findPort("http-port_t   tcp   80", { protocol: "tcp", port: "80", sel_type: "http-port_t" }),
    CommandError,
    "did not match expected format",
  );
});

Deno.test("a missing file is not created for a line that must be absent", () => {
  assertEquals(replaceLines("/nonexistent/f", { isMeant: () => true, line: "x", add: false }), false);
});

Deno.test("a kernel parameter has one line", async () => {
  const config = Deno.makeTempFileSync({ prefix: "sysctl_" });
  try {
    const host = testContext();
    const persist = () => persistParameter("kernel.hostname", "a\nkernel.panic = 1", config, host);
    const error = await assertRejects(persist, InvocationError);
    assertEquals(error.message, 'Invalid value: "a\\nkernel.panic = 1"');
    await assertRejects(() => setParameter("kernel.hostname", "a\0", host), InvocationError, "Invalid value");
    assertEquals(Deno.readTextFileSync(config), "");
  } finally {
    Deno.removeSync(config);
  }
});

Deno.test("an attribute that is a named pipe has no value", () =>
  withTemporaryDirectory(async (root) => {
    await new Deno.Command("mkfifo", { args: [`${root}/pipe`] }).output();
    assertEquals(readSysfs(`${root}/pipe`), false);
  }));

Deno.test("the output of timedatectl must have the zone and the setting of the clock", async () => {
  using programs = new RecordedPrograms();
  programs.answer("timedatectl", [{ args: "", stdout: "Local time: Sun\n" }]);
  const expected = "Failed to parse timedatectl output: Local time: Sun";
  await assertRejects(() => getZone("Debian", testContext()), CommandError, expected);
  await assertRejects(() => getClock("Debian", testContext()), CommandError, expected);
});

Deno.test("without /etc/adjtime the hardware clock is unknown; with a clock this is an error", () =>
  withTemporaryDirectory((root) => {
    assertEquals(clockInFiles("RedHat", root), null);
    Deno.mkdirSync(`${root}/dev`);
    Deno.writeTextFileSync(`${root}/dev/rtc`, "");
    assertThrows(() => clockInFiles("RedHat", root), CommandError, "Unable to get hwclock timezone from /etc/adjtime");

    Deno.mkdirSync(`${root}/etc`);
    Deno.mkdirSync(`${root}/usr/share/zoneinfo`, { recursive: true });
    Deno.writeTextFileSync(`${root}/usr/share/zoneinfo/UTC`, "TZif");
    Deno.symlinkSync("/usr/share/zoneinfo/UTC", `${root}/etc/localtime`);
    Deno.writeTextFileSync(`${root}/etc/hardwareclock`, "# the clock\nUTC\n");
    for (const clock of ["localtime", "UTC"]) {
      writeClock(clock, "Slackware", root);
      assertEquals(
        [Deno.readTextFileSync(`${root}/etc/hardwareclock`), clockInFiles("Slackware", root)],
        [`# the clock\n${clock}\n`, clock],
      );
    }
  }));
