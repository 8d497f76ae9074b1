import { scanBank } from "#lib/fleet/bank_pack.ts";
import { writeFileAtomic } from "#lib/os/atomic_file.ts";
import { assert, assertEquals, assertThrows } from "#tests/support/assert.ts";

/** A bank, and the results of its scans. */
class Bank implements Disposable {
  readonly root = Deno.makeTempDirSync({ prefix: "bank_pack_" });
  readonly directory = `${this.root}/grains`;
  readonly path = `${this.root}/grains.pack`;
  readonly logged: string[] = [];
  readonly #text = new TextDecoder();

  constructor(files: Readonly<Record<string, string>> = {}) {
    Deno.mkdirSync(this.directory);
    for (const [name, content] of Object.entries(files)) this.write(name, content);
  }

  write(name: string, content: string): void {
    writeFileAtomic(`${this.directory}/${name}.p`, content);
  }

  /** Sets old times, so that the files count as settled. */
  age(): void {
    for (const { name } of Deno.readDirSync(this.directory)) Deno.utimeSync(`${this.directory}/${name}`, 1e9, 1e9);
    Deno.utimeSync(this.directory, 1e9, 1e9 + this.#ages++);
  }
  #ages = 0;

  scan(): Record<string, string> {
    let scanned = new Map<string, string>();
    const place = { directory: this.directory, path: this.path, log: (text: string) => void this.logged.push(text) };
    scanBank(place, () => {
      scanned = new Map();
      return (name, bytes) => {
        if (bytes === undefined) scanned.delete(name);
        else scanned.set(name, this.#text.decode(bytes));
      };
    });
    return Object.fromEntries([...scanned].sort());
  }

  [Symbol.dispose](): void {
    Deno.removeSync(this.root, { recursive: true });
  }
}

Deno.test("a bank is read from its files, then from the pack", () => {
  using bank = new Bank({ web1: "a", web2: "b" });
  bank.age();
  assertEquals(bank.scan(), { web1: "a", web2: "b" });
  assertEquals(bank.scan(), { web1: "a", web2: "b" });
  // The pack is used while the directory is unchanged.
  Deno.writeTextFileSync(`${bank.directory}/web1.p`, "unseen");
  assertEquals(bank.scan(), { web1: "a", web2: "b" });
  assertEquals(Deno.statSync(bank.path).mode! & 0o777, 0o600);
});

Deno.test("written, changed and removed files are detected in spite of the pack", () => {
  using bank = new Bank({ web1: "a", web2: "b", web3: "c" });
  bank.age();
  bank.scan();
  bank.write("web2", "B");
  bank.write("web4", "d");
  Deno.removeSync(`${bank.directory}/web3.p`);
  for (let i = 0; i < 3; i++) assertEquals(bank.scan(), { web1: "a", web2: "B", web4: "d" });
  bank.age();
  for (let i = 0; i < 3; i++) assertEquals(bank.scan(), { web1: "a", web2: "B", web4: "d" });
  bank.write("web3", "again");
  assertEquals(bank.scan(), { web1: "a", web2: "B", web3: "again", web4: "d" });
});

Deno.test("a file that is written twice within one tick of the clock is read again", () => {
  using bank = new Bank({ web1: "a" });
  for (const content of ["b", "c", "d"]) {
    bank.write("web1", content);
    assertEquals(bank.scan(), { web1: content });
  }
});

Deno.test("a pack that is truncated, damaged, missing or from before the last boot is rebuilt", () => {
  using bank = new Bank({ web1: "a", web2: "b".repeat(3_000_000) });
  bank.age();
  const expected = bank.scan();
  const whole = Deno.readFileSync(bank.path);
  const damage: readonly ((bytes: Uint8Array) => Uint8Array)[] = [
    (bytes) => bytes.subarray(0, bytes.length - 1),
    (bytes) => bytes.subarray(0, 70),
    (bytes) => bytes.subarray(0, 10),
    (bytes) => bytes.with(20, bytes[20] ^ 1),
    (bytes) => bytes.fill(0xff, 64, 68),
    (bytes) => bytes.fill(0, 64, 200),
    // The length of a name that ends behind its record.
    (bytes) => bytes.fill(0xff, 64 + 21, 64 + 23),
    () => new Uint8Array(0),
  ];
  for (const act of damage) {
    Deno.writeFileSync(bank.path, act(whole.slice()));
    assertEquals(bank.scan(), expected, act.toString());
    assertEquals(bank.scan(), expected, act.toString());
  }
  Deno.removeSync(bank.path);
  assertEquals(bank.scan(), expected);
});

Deno.test("what is no file of a bank is left out, and an empty bank has a pack, too", () => {
  using bank = new Bank();
  for (let i = 0; i < 2; i++) assertEquals(bank.scan(), {});
  Deno.mkdirSync(`${bank.directory}/web1.p`);
  Deno.symlinkSync("/etc/passwd", `${bank.directory}/web2.p`);
  bank.write("web3", "c");
  for (let i = 0; i < 2; i++) assertEquals(bank.scan(), { web3: "c" });
  Deno.removeSync(bank.path);
  assertEquals(bank.scan(), { web3: "c" });
});

Deno.test("a pack does not grow without limit", () => {
  using bank = new Bank({ web1: "", web2: "b" });
  let largest = 0;
  for (let i = 0; i < 40; i++) {
    bank.write("web1", `${i}`.repeat(100_000));
    bank.age();
    assertEquals(bank.scan().web1, `${i}`.repeat(100_000));
    largest = Math.max(largest, Deno.statSync(bank.path).size);
  }
  assert(largest < 2_000_000, `${largest} bytes`);
  assertEquals([...Deno.readDirSync(bank.root)].map(({ name }) => name).sort(), ["grains", "grains.pack"]);
});

Deno.test("a bank whose pack cannot be written is still read", () => {
  using bank = new Bank({ web1: "a" });
  Deno.mkdirSync(bank.path);
  bank.age();
  for (let i = 0; i < 2; i++) assertEquals(bank.scan(), { web1: "a" });
  assert(bank.logged.length > 0);
  assertEquals([...Deno.readDirSync(bank.root)].map(({ name }) => name).sort(), ["grains", "grains.pack"]);
});

Deno.test("a missing bank is empty", () => {
  using bank = new Bank();
  Deno.removeSync(bank.directory);
  assertEquals(bank.scan(), {});
});

Deno.test("a visit that fails leaves no file, and the next scan finds all", () => {
  using bank = new Bank({ web1: "a", web2: "b".repeat(2_000_000), web3: "c" });
  const place = { directory: bank.directory, path: bank.path, log: (text: string) => void bank.logged.push(text) };
  let seen = 0;
  assertThrows(
    () =>
      scanBank(place, () => () => {
        if (++seen === 3) throw new RangeError("enough");
      }),
    RangeError,
  );
  assertEquals([...Deno.readDirSync(bank.root)].map(({ name }) => name), ["grains"]);
  assertEquals(Object.keys(bank.scan()), ["web1", "web2", "web3"]);
  assertEquals(bank.logged, []);
});
