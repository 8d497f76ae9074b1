/**
 * Parses the XML that programs print: elements, attributes, texts. It does not support document types, so there are no
 * entities of a document and no external files. Source: www.w3.org/TR/xml, without section 3.
 * @module
 */

/** One element. */
export interface XmlElement {
  readonly name: string;
  readonly attributes: ReadonlyMap<string, string>;
  readonly children: readonly XmlElement[];
  /** The text of the element itself, without that of its children. */
  readonly text: string;
}

/** How deep elements may be nested. */
const MAX_DEPTH = 100;

const TOKEN =
  /<\?[^]*?\?>|<!--[^]*?-->|<!\[CDATA\[([^]*?)\]\]>|<(\/?)([\w:.-]+)((?:\s+[\w:.-]+\s*=\s*(?:"[^"<]*"|'[^'<]*'))*)\s*(\/?)>|[^<]+|</g;

/**
 * The root element of a document.
 * @throws {SyntaxError} If it is none.
 */
export function parseXml(text: string): XmlElement {
  const root = new Building("", new Map());
  const open: Building[] = [root];
  for (const [token, literal, end, name, attributes, empty] of text.matchAll(TOKEN)) {
    const last = open[open.length - 1];
    if (literal !== undefined) last.text += literal;
    else if (token.startsWith("<?") || token.startsWith("<!--")) continue;
    else if (name === undefined) {
      if (token === "<") throw new SyntaxError("A tag that is none");
      last.text += decodeEntities(token);
    } else if (end === "/") {
      if (last.name !== name || open.length === 1) throw new SyntaxError(`An end of ${name} without its beginning`);
      open.pop();
    } else {
      const element = new Building(name, parseAttributes(attributes));
      last.children.push(element);
      if (empty !== "/") open.push(element);
      // The first is the document.
      if (open.length > MAX_DEPTH + 1) throw new SyntaxError("Nested too deep");
    }
  }
  if (open.length > 1) throw new SyntaxError(`No end of ${open[open.length - 1].name}`);
  const [document, ...more] = root.children;
  if (document === undefined || more.length > 0 || root.text.trim() !== "") throw new SyntaxError("Not one document");
  return document;
}

/** An element that is being read. */
class Building implements XmlElement {
  readonly children: Building[] = [];
  text = "";

  constructor(readonly name: string, readonly attributes: ReadonlyMap<string, string>) {}
}

function parseAttributes(text: string): Map<string, string> {
  return new Map(
    [...text.matchAll(/(?<![\w:.-])([\w:.-]+)\s*=\s*(?:"([^"]*)"|'([^']*)')/g)].map(([, name, one, other]) => [
      name,
      decodeEntities(one ?? other),
    ]),
  );
}

const ENTITIES: Readonly<Record<string, string>> = { lt: "<", gt: ">", amp: "&", quot: '"', apos: "'" };

function decodeEntities(text: string): string {
  return text.replace(/&(?:#(\d{1,7})|#x([\da-fA-F]{1,6})|(\w+));/g, (whole, decimal, hex, name) => {
    if (name !== undefined) return Object.hasOwn(ENTITIES, name) ? ENTITIES[name] : whole;
    const code = decimal === undefined ? parseInt(hex, 16) : Number(decimal);
    return code <= 0x10ffff ? String.fromCodePoint(code) : whole;
  });
}

/** All elements of that name below `element`, in their order. */
export function* elementsNamed(element: XmlElement, name: string): Generator<XmlElement, void> {
  for (const child of element.children) {
    if (child.name === name) yield child;
    yield* elementsNamed(child, name);
  }
}
