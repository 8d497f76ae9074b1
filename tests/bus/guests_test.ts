import { admitGuests, findGuests, openToGuests } from "../../lib/bus/guests.ts";
import { accessKeyPath } from "../../lib/config/master_paths.ts";
import { assertEquals } from "../support/assert.ts";

const LINUX = { ignore: Deno.build.os !== "linux" };

function mode(path: string): string {
  return ((Deno.statSync(path).mode ?? 0) & 0o7777).toString(8);
}

Deno.test("what is opened to guests keeps what its group may, and is closed again", LINUX, () => {
  const directory = Deno.makeTempDirSync({ prefix: "guests_" });
  try {
    const cases = [["700", "710"], ["750", "750"], ["740", "750"]] as const;
    for (const [before, meanwhile] of cases) {
      Deno.chmodSync(directory, parseInt(before, 8));
      for (const uids of [[4711], [4712, 4711], [4712]]) {
        for (let twice = 0; twice < 2; twice++) openToGuests(directory, "pass", uids);
        assertEquals(mode(directory), meanwhile); // the group's bits are the most that any of them may
      }
      openToGuests(directory, "pass", []);
      assertEquals(mode(directory), before);
      openToGuests(directory, "pass", []);
      assertEquals(mode(directory), before);
    }
  } finally {
    Deno.removeSync(directory, { recursive: true });
  }
});

Deno.test("guests are users of the host that are neither root nor the master itself", () => {
  assertEquals(findGuests(["no such user", "root", "../evil"]), []);
  const self = findGuests([String(Deno.uid())]);
  assertEquals(self, []);
});

Deno.test("each guest is let in to the own key, and to two directories", LINUX, () => {
  const root = Deno.makeTempDirSync({ prefix: "guests_" });
  try {
    const places = { cachedir: `${root}/cache`, sock_dir: `${root}/sock` };
    for (const path of Object.values(places)) Deno.mkdirSync(path, { mode: 0o700 });
    for (const name of ["alice", "bob"]) {
      Deno.writeTextFileSync(accessKeyPath(places.cachedir, name), "", { mode: 0o400 });
      Deno.chmodSync(accessKeyPath(places.cachedir, name), 0o400);
    }
    admitGuests(places, [{ name: "alice", uid: 4711 }]);
    assertEquals(Object.values(places).map(mode), ["710", "710"]);
    assertEquals(["alice", "bob"].map((name) => mode(accessKeyPath(places.cachedir, name))), ["440", "400"]);
  } finally {
    Deno.removeSync(root, { recursive: true });
  }
});
