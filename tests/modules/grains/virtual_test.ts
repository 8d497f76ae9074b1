import { virtualGrains } from "#modules/grains/virtual.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { grainsOf } from "#tests/support/calls/grains_of.ts";

const DMI = "/sys/class/dmi/id";

Deno.test("virtual names Xen's guests with the version and the features of the hypervisor, and other containers", () => {
  const version = { major: "4", minor: "17", extra: ".3" };
  assertEquals(
    grainsOf(virtualGrains, {
      "/sys/bus/xen/x": "",
      [`${DMI}/product_name`]: "HVM domU\n",
      ...Object.fromEntries(Object.entries(version).map(([name, text]) => [`/sys/hypervisor/version/${name}`, text])),
      "/sys/hypervisor/properties/features": "00002705\n",
    }),
    {
      virtual: "xen",
      virtual_subtype: "Xen HVM DomU",
      virtual_hv_version: "4.17.3",
      virtual_hv_version_info: ["4", "17", ".3"],
      virtual_hv_features: "00002705",
      virtual_hv_features_list: [
        "writable_page_tables",
        "auto_translated_physmap",
        "hvm_callback_vector",
        "hvm_safe_pvclock",
        "hvm_pirqs",
        "memory_op_vnode_supported",
      ],
    },
  );
  assertEquals(
    grainsOf(virtualGrains, { "/proc/xen/capabilities": "control_d\n", "/sys/hypervisor/version/major": "4" }),
    {
      virtual: "xen",
      virtual_subtype: "Xen Dom0",
    },
  );
  assertEquals(grainsOf(virtualGrains, { "/proc/1/cgroup": "1:cpu:/lxc/web1\n" }), {
    virtual: "container",
    virtual_subtype: "LXC",
  });
});
