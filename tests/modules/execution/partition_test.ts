import { which } from "#lib/programs/which.ts";
import { mapOrEmpty } from "#lib/values/shape.ts";
import { map, type Value } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { resultOrError, testContext } from "#tests/support/calls/job_context.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

testRecordedCases("execution", "partition");

const MISSING = ["parted", "partprobe", "lsblk", "sfdisk", "losetup"].filter((program) => which(program) === undefined);

/** Why a file cannot be a block device here; `undefined` if it can. */
function whyNoLoop(): string | undefined {
  if (Deno.uid() !== 0) return "needs root";
  if (MISSING.length > 0) return `needs ${MISSING.join(", ")}`;
  const { success, stderr } = new Deno.Command("losetup", { args: ["-f"] }).outputSync();
  return success ? undefined : new TextDecoder().decode(stderr).trim();
}

const ignored = whyNoLoop();

/** Runs `test` with a block device of 64 MiB. */
async function withDevice(test: (device: string) => Promise<void>): Promise<void> {
  await withTemporaryDirectory(async (root) => {
    const image = `${root}/image`;
    await Deno.writeTextFile(image, "");
    await Deno.truncate(image, 64 * 1024 * 1024);
    const { stdout, success } = await new Deno.Command("losetup", { args: ["-f", "--show", image] }).output();
    assert(success);
    const device = new TextDecoder().decode(stdout).trim();
    try {
      await test(device);
    } finally {
      await new Deno.Command("losetup", { args: ["-d", device] }).output();
    }
  });
}

Deno.test({
  name: `parted and sfdisk make, show and change partitions${ignored === undefined ? "" : ` (skipped: ${ignored})`}`,
  ignore: ignored !== undefined,
  fn: () =>
    withDevice(async (device) => {
      const call = async (fun: string, args: Value[], kwargs: Record<string, unknown> = {}): Promise<Value> => {
        const answer = await resultOrError(testContext(), `partition.${fun}`, args, kwargs);
        // What parted's shell says on a host without udev.
        return Array.isArray(answer) ? answer.filter((line) => !/udevadm: not found$/.test(String(line))) : answer;
      };
      assertEquals(await call("exists", [device]), true);
      assertEquals(await call("mklabel", [device, "msdos"]), []);
      assertEquals(await call("mkpart", [device, "primary"], { fs_type: "ext2", start: "1MiB", end: "20MiB" }), []);
      assertEquals(await call("set", [device, 1, "boot", true]), []);
      const { info, partitions } = Object.fromEntries(mapOrEmpty(await call("list", [device], { unit: "MiB" })));
      assertEquals(mapOrEmpty(info).get("partition table"), "msdos");
      assertEquals(
        partitions,
        map({
          1: {
            number: "1",
            start: "1.00MiB",
            end: "20.0MiB",
            size: "19.0MiB",
            "file system": "",
            name: "",
            flags: "boot",
          },
        }),
      );
      assertEquals(await call("get_id", [device, 1]), ["83"]);
      await call("set_id", [device, 1, "82"]);
      assertEquals(await call("get_id", [device, 1]), ["82"]);
      assertEquals(await call("align_check", [device, "minimal", 1]), ["1 aligned"]);
      assertEquals(await call("rm", [device, 1]), []);
      assertEquals(mapOrEmpty(await call("list", [device])).get("partitions"), new Map());
      assertEquals(await call("list", [`${device}x`]), "Invalid device passed to partition module.");
    }),
});
