/** @module */
import { readBusState } from "#lib/bus/state_file.ts";
import { masterBus } from "#lib/bus/paths.ts";
import { portsPath, readPorts } from "#lib/config/master_paths.ts";
import { assertEquals } from "#tests/support/assert.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

Deno.test("empty files of a master, left by a power failure, count as missing", () =>
  withTemporaryDirectory((sockDir) => {
    const bus = masterBus(sockDir);
    assertEquals([readPorts(sockDir), readBusState(bus)], [undefined, []]);
    Deno.writeTextFileSync(portsPath(sockDir), "");
    Deno.writeTextFileSync(bus.pub.replace("_pub.ipc", "_subscribers.json"), "");
    assertEquals([readPorts(sockDir), readBusState(bus)], [undefined, []]);
    Deno.writeTextFileSync(portsPath(sockDir), '{"publish_port": 1, "ret_port": 2}');
    assertEquals(readPorts(sockDir), { publishPort: 1, requestPort: 2 });
  }));
