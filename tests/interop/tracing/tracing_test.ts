/**
 * One trace over both implementations: Salt 3008 has W3C's context in the same places of the wire; 3006 and
 * 3007 know nothing of it and work as before.
 * @module
 */

import { assertEquals } from "#tests/support/assert.ts";
import { eventually } from "#tests/support/eventually.ts";
import { Collector } from "#tests/support/fleet/collector.ts";
import { PYTHON_SALTS } from "#tests/interop/python_salt.ts";
import { OURS, type Salt, testWithPython } from "#tests/interop/salts.ts";
import { Site } from "#tests/interop/site.ts";

/** Whether this version makes spans. */
function traces({ version }: Salt): boolean {
  return version?.startsWith("3008") ?? true;
}

async function prove(master: Salt, minions: Readonly<Record<string, Salt>>): Promise<void> {
  await using collector = new Collector();
  const option = `tracing: {enabled: true, endpoint: '${collector.endpoint}'}\n`;
  await using site = new Site(option);
  const ids = Object.keys(minions);
  await site.explain(async () => {
    await site.startMaster(master);
    for (const id of ids) site.startMinion(minions[id], id, [], option);
    for (const id of ids) await site.keyComes(id, "minions_pre");
    await site.acceptAll();
    await Promise.all(ids.map((id) => site.answers(id)));
    const before = collector.spans.length;
    const answers = await site.salt(["*", "test.echo", "traced"]);
    assertEquals(answers, Object.fromEntries(ids.map((id) => [id, "traced"])));
    // The trace's id, from whichever of ours has a part in it.
    const { traceId } = await eventually(
      () =>
        collector.spans.slice(before).find(({ name }) =>
          name === (master === OURS ? "salt.cli.test.echo" : "salt.minion.exec.test.echo")
        ),
      { what: "a span of ours" },
    );
    const ours = (name: string) => collector.spans.some((span) => span.traceId === traceId && span.name === name);
    for (const salt of Object.values(minions).filter(traces)) {
      // The process in which Python runs a job ends before it exports its span.
      const name = salt === OURS ? "salt.minion.exec.test.echo" : "salt.minion.recv.test.echo";
      await eventually(() => salt === OURS ? ours(name) : collector.hasPacked(name, traceId), {
        what: `the span of a minion (${salt.name})`,
        withinMs: 30_000,
      });
    }
    if (!traces(master)) return;
    for (const name of ["salt.req.recv.publish", "salt.req.recv._return"]) {
      await eventually(() => master === OURS ? ours(name) : collector.hasPacked(name, traceId), {
        what: `${name} of the master (${master.name})`,
        withinMs: 30_000,
      });
    }
  });
}

for (const version of PYTHON_SALTS) {
  await testWithPython(version, "a job of our master is one trace on our minion and one of {}", async (python) => {
    await prove(OURS, { web1: OURS, web2: python });
  });
  await testWithPython(version, "a job of a master of {} is one trace on its minion and ours", async (python) => {
    await prove(python, { web1: OURS, web2: python });
  });
}
