/**
 * A root directory for apt and dpkg, with a local repository of small packages. While the object exists, apt and dpkg
 * that this process starts work in that directory.
 * @module
 */

import { hashHex } from "#lib/crypto/hash.ts";

/** A package of the repository. */
export interface TestPackage {
  readonly name: string;
  readonly version: string;
  readonly depends?: string;
  /** Further files: text by path from the root directory. A file that begins with `#!` is executable. */
  readonly files?: Readonly<Record<string, string>>;
}

/** The directory; disposing of the object removes it. */
export class AptRoot implements Disposable {
  readonly path = Deno.makeTempDirSync({ prefix: "apt_root_" });
  readonly #before = new Map(["APT_CONFIG", "DPKG_ADMINDIR"].map((name) => [name, Deno.env.get(name)]));

  /** Builds the packages, and an empty list of installed packages. */
  constructor(packages: readonly TestPackage[]) {
    const directories = "etc/apt/apt.conf.d etc/apt/preferences.d etc/apt/sources.list.d var/lib/apt/lists/partial " +
      "var/lib/dpkg/updates var/lib/dpkg/info var/cache/apt/archives/partial var/log/apt repository";
    for (const one of directories.split(" ")) Deno.mkdirSync(`${this.path}/${one}`, { recursive: true });
    for (const file of ["status", "available"]) Deno.writeTextFileSync(`${this.path}/var/lib/dpkg/${file}`, "");
    Deno.writeTextFileSync(
      `${this.path}/apt.conf`,
      `Dir "${this.path}/";\nDir::State::status "${this.path}/var/lib/dpkg/status";\nDir::Bin::dpkg "/usr/bin/dpkg";\n` +
        `APT::Sandbox::User "root";\nAcquire::Languages "none";\n` +
        `DPkg::Options { "--root=${this.path}"; "--admindir=${this.path}/var/lib/dpkg"; "--force-not-root"; "--log=/dev/null"; };\n` +
        `DPkg::Path "${Deno.env.get("PATH")}:/usr/sbin:/sbin";\nDPkg::Use-Pty "0";\n`,
    );
    Deno.env.set("APT_CONFIG", `${this.path}/apt.conf`);
    Deno.env.set("DPKG_ADMINDIR", `${this.path}/var/lib/dpkg`);
    this.offer(packages);
    Deno.writeTextFileSync(`${this.path}/etc/apt/sources.list`, `deb [trusted=yes] file:${this.path}/repository ./\n`);
  }

  /** Adds packages to the repository. */
  offer(packages: readonly TestPackage[]): void {
    const index = `${this.path}/repository/Packages`;
    for (const one of packages) {
      const file = this.build(one);
      const bytes = Deno.readFileSync(file);
      const control = Deno.readTextFileSync(`${this.path}/build/DEBIAN/control`);
      const name = file.slice(file.lastIndexOf("/") + 1);
      Deno.writeTextFileSync(
        index,
        `${control}Filename: ./${name}\nSize: ${bytes.length}\nSHA256: ${hashHex(bytes, "sha256")}\n\n`,
        { append: true },
      );
    }
  }

  /**
   * Builds a package file.
   * @returns Its path.
   */
  build({ name, version, depends, files = {} }: TestPackage): string {
    const tree = `${this.path}/build`;
    Deno.mkdirSync(`${tree}/DEBIAN`, { recursive: true });
    Deno.mkdirSync(`${tree}/etc/${name}`, { recursive: true });
    Deno.writeTextFileSync(
      `${tree}/DEBIAN/control`,
      `Package: ${name}\nVersion: ${version}\nArchitecture: all\nMaintainer: Test <test@example.com>\nSection: misc\n` +
        `Homepage: https://example.com/${name}\n${depends === undefined ? "" : `Depends: ${depends}\n`}` +
        `Description: the package ${name}\n of a test\n`,
    );
    Deno.writeTextFileSync(`${tree}/DEBIAN/conffiles`, `/etc/${name}/conf\n`);
    Deno.writeTextFileSync(`${tree}/etc/${name}/conf`, `${name} ${version}\n`);
    for (const [path, text] of Object.entries(files)) {
      Deno.mkdirSync(`${tree}/${path}`.replace(/\/[^/]*$/, ""), { recursive: true });
      Deno.writeTextFileSync(`${tree}/${path}`, text, { mode: text.startsWith("#!") ? 0o755 : 0o644 });
    }
    const file = `${this.path}/repository/${name}_${version}_all.deb`;
    const { success, stderr } = new Deno.Command("dpkg-deb", {
      args: ["--build", "--root-owner-group", "-Znone", tree, file],
      stdout: "null",
    }).outputSync();
    if (!success) throw new Error(new TextDecoder().decode(stderr));
    for (const { name } of [...Deno.readDirSync(tree)]) {
      if (name !== "DEBIAN") Deno.removeSync(`${tree}/${name}`, { recursive: true });
    }
    return file;
  }

  [Symbol.dispose](): void {
    for (const [name, value] of this.#before) value === undefined ? Deno.env.delete(name) : Deno.env.set(name, value);
    Deno.removeSync(this.path, { recursive: true });
  }
}
