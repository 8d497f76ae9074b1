/**
 * Outputs of disk programs that are truncated or have unusual lines; mount tables that cannot be read or written.
 * @module
 */

import { CommandError, InvocationError } from "#lib/errors.ts";
import { parseHdparm, parseSmart } from "#lib/host/storage/block_devices.ts";
import { parseInodeUsage } from "#lib/host/storage/disk_usage.ts";
import { extOptionWords, parseDumpe2fs, TUNE_OPTIONS } from "#lib/host/storage/ext_file_system.ts";
import { FSTAB, setEntry } from "#lib/host/storage/fstab.ts";
import { assertEquals, assertThrows } from "#tests/support/assert.ts";

Deno.test("lines of hdparm without a value are left out", () => {
  const text = "\n/dev/sda:\n readahead     = 256 (on)\n HDIO_DRIVE_CMD failed\n";
  assertEquals([...parseHdparm(text, "/dev/sda").keys()], ["readahead"]);
});

Deno.test("the table of smartctl ends at the first line that is not a row, and a row may be truncated", () => {
  const head = "SMART Attributes\nID# ATTRIBUTE_NAME FLAG VALUE\n";
  const rows = "  1 Raw_Read_Error_Rate 0x000f 100\n  9 Power_On_Hours\n\n  5 Later 0x0 1\n";
  const table = parseSmart(head + rows, { attributes: undefined, values: undefined });
  assertEquals([...table.keys()], [1, 9]);
  assertEquals(table.get(1)?.get("value"), 100);
  assertEquals(table.get(9)?.get("attribute_name"), "Power_On_Hours");
  assertEquals(parseSmart("nothing of it", { attributes: undefined, values: undefined }).size, 0);
});

Deno.test("a truncated row of df is not a usage of inodes", () => {
  const row = "/dev/sda1 100 40 60 40% /";
  assertEquals([...parseInodeUsage(`Filesystem Inodes\n${row}\n`)?.keys() ?? []], ["/"]);
  assertEquals(parseInodeUsage(`${row}\n/dev/sdb1 100 40\n`), undefined);
});

Deno.test("options of tune2fs have one-line values, and its output has names", () => {
  const words = (value: string) => extOptionWords(new Map([["label", value], ["nonsense", "x"]]), TUNE_OPTIONS);
  assertEquals(words("data"), ["-L", "data"]);
  for (const value of ["", "a\nb", "a\0"]) assertThrows(() => words(value), InvocationError, "Invalid label");
  const { attributes } = parseDumpe2fs("dumpe2fs 1.47\nFilesystem UUID:\t\t aa-bb\n\nno pair\n");
  assertEquals(attributes.get("Filesystem UUID"), "aa-bb");
  assertEquals([...attributes.keys()], ["Filesystem UUID"]);
});

Deno.test({
  name: "a mount table that is denied, cannot be read or cannot be written is reported",
  ignore: Deno.build.os !== "linux",
  fn() {
    const entry = { device: "/dev/sda1", name: "/mnt", fstype: "ext4", opts: "ro", dump: "0", pass_num: "0" };
    const set = { form: FSTAB, entry, matchOn: "auto", notChange: false, test: false } as const;
    assertThrows(
      () => setEntry("/etc/fstab", { ...set, entry: { ...entry, opts: "ro\n/ x" } }),
      InvocationError,
      "one line",
    );
    assertThrows(
      () => setEntry("/etc/fstab", { ...set, matchOn: ["name", "odd", "other"] }),
      CommandError,
      'match_on: "odd, other"',
    );
    assertThrows(() => setEntry("/none/at/all", set), CommandError, 'Bad config file "/none/at/all"');
    // Files of the kernel: the first cannot be read at its beginning, and beside the second nothing can be created.
    assertThrows(() => setEntry("/proc/self/mem", set), CommandError, "Couldn't read from /proc/self/mem: ");
    assertThrows(() => setEntry("/proc/self/cmdline", set), CommandError, "Couldn't write to /proc/self/cmdline: ");
  },
});
