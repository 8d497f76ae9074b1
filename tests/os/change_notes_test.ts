import { ChangeNotes } from "#lib/os/change_notes.ts";
import { assertEquals } from "#tests/support/assert.ts";

Deno.test("changes are noted once, stay until they were dealt with, and a change meanwhile is another note", () => {
  const root = Deno.makeTempDirSync({ prefix: "change_notes_" });
  try {
    const notes = new ChangeNotes(`${root}/cluster/changes`), others = new ChangeNotes(`${root}/cluster/changes`);
    const names = (taken: readonly { kind: string; name: string }[]) =>
      taken.map(({ kind, name }) => `${kind}/${name}`);
    assertEquals(notes.take(), []);
    for (const name of ["web2", "web1", "web2"]) others.add("grains", name);
    others.add("mine", "web1");
    const taken = notes.take();
    assertEquals(names(taken), ["grains/web1", "grains/web2", "mine/web1"]);
    others.add("grains", "web1");
    // Not dealt with yet, as after an end: they are taken again first.
    assertEquals(names(others.take()), names(taken));
    assertEquals([notes.has("mine", "web1"), notes.has("pillar", "web1")], [true, false]);
    notes.done(taken.slice(0, 1));
    assertEquals(names(notes.take()), ["grains/web2", "mine/web1"]);
    notes.done(taken.slice(1));
    assertEquals([notes.has("mine", "web1"), notes.has("grains", "web1")], [false, true]);
    assertEquals(names(notes.take()), ["grains/web1"]);
    // Directories of a call that was cut off are no notes.
    notes.done(notes.take());
    Deno.mkdirSync(`${root}/cluster/changes/taken/grains`, { recursive: true });
    others.add("grains", "web3");
    assertEquals(names(notes.take()), ["grains/web3"]);
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
});
