import { withReplaced } from "#tests/support/replaced.ts";
import { assertEquals, assertStringIncludes } from "#tests/support/assert.ts";
import { resultOrError, testContext } from "#tests/support/calls/job_context.ts";
import { testRecordedCases } from "#tests/support/calls/module_cases.ts";
import { withTemporaryDirectory } from "#tests/support/temporary_directory.ts";

testRecordedCases("execution", "xml");

Deno.test("a file keeps its declared encoding, its mode, comments and namespaces", () =>
  withTemporaryDirectory(async (root) => {
    const file = `${root}/f.xml`;
    const bytes = (text: string) => Uint8Array.from(text, (one) => one.charCodeAt(0));
    const text =
      `<?xml version='1.0' encoding='iso-8859-1'?>\r\n<!-- \xe9 -->\r\n<a xmlns:x="urn:x"><b>\xe4</b></a>\r\n`;
    await Deno.writeFile(file, bytes(text));
    await Deno.chmod(file, 0o640);
    const context = testContext();
    assertEquals(await resultOrError(context, "xml.get_value", [file, "b"]), "ä");
    assertEquals(await resultOrError(context, "xml.set_value", [file, "b", "ü€"]), true);
    assertEquals(await resultOrError(context, "xml.set_attribute", [file, "b", "{urn:x}k", "1"]), true);
    assertEquals(await Deno.readFile(file), bytes(text.replace("<b>\xe4", '<b x:k="1">\xfc&#8364;')));
    assertEquals((await Deno.stat(file)).mode! & 0o777, 0o640);
    for (
      const [key, error] of [["a b", '"a b" is not the name of an attribute'], [
        "y:z",
        '"y:z" is not the name of an attribute',
      ]]
    ) {
      assertEquals(await resultOrError(context, "xml.set_attribute", [file, "b", key, "1"]), error);
    }
    assertEquals(
      await resultOrError(context, "xml.set_attribute", [file, "b", "{urn:y}k", "1"]),
      '"{urn:y}k" is of a namespace that has no prefix there',
    );
    assertEquals(
      await resultOrError(context, "xml.set_value", [file, "b", "\0"]),
      "The character U+0000 cannot be in XML",
    );
  }));

Deno.test("elements as deep as a file can have them are read, entities of a document are not", () =>
  withTemporaryDirectory(async (root) => {
    const file = `${root}/f.xml`;
    const context = testContext();
    const call = async (text: string, path: string) => {
      await Deno.writeTextFile(file, text);
      return await resultOrError(context, "xml.get_value", [file, path]);
    };
    assertEquals(await call(`${"<a>".repeat(50_000)}<b>x</b>${"</a>".repeat(50_000)}`, ".//b"), "x");
    assertEquals(await call(`${"<a>".repeat(50_000)}x${"</a>".repeat(50_000)}`, ".[.='x']"), null);
    assertEquals(await call("<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>", "."), "undefined entity: line 1, column 33");
    assertEquals(await call("<!DOCTYPE a SYSTEM 'file:///etc/passwd'><a>x</a>", "."), "x");
    await Deno.writeFile(file, Uint8Array.of(0x3c, 0x61, 0x3e, 0xff));
    assertEquals(await resultOrError(context, "xml.get_value", [file, "."]), `${file} is not UTF-8`);
    await Deno.writeTextFile(file, "<?xml version='1.0' encoding='none-such'?><a/>");
    assertEquals(await resultOrError(context, "xml.get_value", [file, "."]), "unknown encoding: none-such");
  }));

Deno.test("a file in UTF-16 is read and written with its mark, and one that cannot be written is named", () =>
  withTemporaryDirectory(async (root) => {
    const file = `${root}/f.xml`, context = testContext();
    const text = "<?xml version='1.0' encoding='utf-16'?>\n<a><b>ä€</b></a>";
    const inOrder = (isLittle: boolean, one: string) => {
      const view = new DataView(new ArrayBuffer(2 + 2 * one.length));
      [0xfeff, ...Array.from(one, (letter) => letter.charCodeAt(0))].forEach((unit, i) =>
        view.setUint16(2 * i, unit, isLittle)
      );
      return new Uint8Array(view.buffer);
    };
    for (const isLittle of [true, false]) {
      Deno.writeFileSync(file, inOrder(isLittle, text));
      assertEquals(await resultOrError(context, "xml.get_value", [file, "b"]), "ä€");
      assertEquals(await resultOrError(context, "xml.set_value", [file, "b", "ü"]), true);
      assertEquals(await resultOrError(context, "xml.get_value", [file, "b"]), "ü");
      assertEquals(new TextDecoder("utf-16").decode(Deno.readFileSync(file)), text.replace("ä€", "ü"));
    }
    Deno.mkdirSync(`${root}/d`);
    assertStringIncludes(String(await resultOrError(context, "xml.set_value", [`${root}/d`, "b", "x"])), `${root}/d`);
  }));

Deno.test("paths that ElementTree refuses are refused with a reason", () =>
  withTemporaryDirectory(async (root) => {
    const file = `${root}/f.xml`;
    await Deno.writeTextFile(file, "\ufeff<a><b>1</b><b>2</b></a>");
    const get = (path: string) => resultOrError(testContext(), "xml.get_value", [file, path]);
    for (
      const [path, answer] of [
        ["b[last()-1]", "1"],
        ["b[2]", "2"],
        [".[1]", false],
        ["b/@x", "@ cannot be there in a path"],
        [".//@x", "invalid descendant"],
        ["x:b/c", "prefix 'x' not found in prefix map"],
        ["b[last()-x]", "unsupported expression"],
        ["b[last()+1]", "XPath offset from last() must be negative"],
        ["b[first()]", "unsupported function"],
        ["b[0]", "XPath position >= 1 expected"],
        ["b[", "invalid path"],
      ] as const
    ) assertEquals(await get(path), answer, path);
    // As expat does: of two prefixes of one namespace the place of the element, of one name that of the second.
    await Deno.writeTextFile(file, '<r><a xmlns:x="u" xmlns:y="u" x:k="1" y:k="2"/></r>');
    assertEquals(await get("."), "duplicate attribute: line 1, column 3");
    await Deno.writeTextFile(file, '<a k="1" k="2"/>');
    assertEquals(await get("."), "duplicate attribute: line 1, column 9");
  }));

Deno.test("a document that cannot be written is an error with the file's name, and stays as it was", () =>
  withTemporaryDirectory(async (root) => {
    const file = `${root}/f.xml`;
    await Deno.writeTextFile(file, "<a><b>1</b></a>");
    const full = () => {
      throw new Error("No space left on device (os error 28)");
    };
    await withReplaced(Deno.FsFile.prototype, { name: "syncSync", by: full }, async () => {
      const answer = await resultOrError(testContext(), "xml.set_value", [file, "b", "2"]);
      assertEquals(answer, `[Errno 28] No space left on device: '${file}'`);
    });
    assertEquals(await Deno.readTextFile(file), "<a><b>1</b></a>");
  }));
