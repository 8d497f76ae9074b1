import { flowMemory } from "#lib/flow/open_flow.ts";
import { readFlowStatus } from "#lib/flow/flow_counts.ts";
import { FlowReport } from "#lib/master/daemon/flow_report.ts";
import { toValue } from "#lib/values/value.ts";
import { assert, assertEquals } from "#tests/support/assert.ts";
import { memoryLog } from "#tests/support/fleet/scripted_master.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

Deno.test("a report of the rules of flow that cannot be written is named in the log", () =>
  withTemporaryDirectory((dir) => {
    const flow = toValue([{ user: "ci", jobs: "10/s" }]), memory = flowMemory(flow);
    assert(memory !== undefined);
    const { log, lines } = memoryLog();
    new FlowReport({ flow, sock_dir: dir }, memory, log).close();
    assert(Array.isArray(readFlowStatus(dir)));
    assertEquals(lines, []);
    Deno.writeTextFileSync(`${dir}/file`, "in the place of the directory");
    new FlowReport({ flow, sock_dir: `${dir}/file` }, memory, log).close();
    assertEquals(lines.filter((line) => line.includes("held back cannot be written: ")).length, 1);
  }));
