/** @module */
import { readBusState } from "../../lib/bus/state_file.ts";
import { masterBus } from "../../lib/bus/paths.ts";
import { portsPath, readPorts } from "../../lib/config/master_paths.ts";
import { assertEquals } from "../support/assert.ts";

Deno.test("files of a master that a power failure has left empty say nothing, as if they were not there", () => {
  const sockDir = Deno.makeTempDirSync({ prefix: "ports_" });
  try {
    const bus = masterBus(sockDir);
    assertEquals([readPorts(sockDir), readBusState(bus)], [undefined, []]);
    Deno.writeTextFileSync(portsPath(sockDir), "");
    Deno.writeTextFileSync(bus.pub.replace("_pub.ipc", "_subscribers.json"), "");
    assertEquals([readPorts(sockDir), readBusState(bus)], [undefined, []]);
    Deno.writeTextFileSync(portsPath(sockDir), '{"publish_port": 1, "ret_port": 2}');
    assertEquals(readPorts(sockDir), { publishPort: 1, requestPort: 2 });
  } finally {
    Deno.removeSync(sockDir, { recursive: true });
  }
});
