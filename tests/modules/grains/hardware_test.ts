import { hardwareGrains } from "#modules/grains/hardware.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { grainsOf } from "#tests/support/calls/grains_of.ts";

Deno.test("processors of IBM S/390, kernel parameters with an open quote, graphics cards that are in no list", () => {
  const cpuinfo = "vendor_id       : IBM/S390\n# processors    : 4\nprocessor 0: version = FF\n";
  const card = "/sys/bus/pci/devices/0000:01:00.0";
  const { num_cpus, cpu_model, kernelparams, gpus } = grainsOf((files) => hardwareGrains(files, { gpus: true }), {
    "/proc/cpuinfo": cpuinfo,
    "/proc/cmdline": 'root=/dev/sda1 name="two words\n',
    [`${card}/class`]: "0x030000\n",
    [`${card}/vendor`]: "0x10de\n",
    [`${card}/device`]: "0x2504\n",
    "/usr/share/misc/pci.ids": "# list\n1002  AMD\n",
  });
  assertEquals([num_cpus, cpu_model], [4, "IBM/S390"]);
  assertEquals(kernelparams, [["root", "/dev/sda1"], ["name", "two"], ["words", null]]);
  assertEquals(gpus, [{ vendor: "nvidia", model: "2504" }]);
  assertEquals("kernelparams" in grainsOf((files) => hardwareGrains(files, { gpus: false }), {}), false);
});
