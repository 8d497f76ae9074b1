/**
 * Rejects texts that become patterns or URLs without being made safe: a plugin of `deno lint`, named in deno.json.
 *
 * - `texts/replacement`: the second argument of `replace` and `replaceAll` is a text in the source, or a function
 *   written there. In another text `$&` and its like are patterns.
 * - `texts/pattern`: `RegExp` is given literals, constants that are made of them, and calls of `escapeRegex`.
 * - `texts/url`: a template for `URL` or `fetch` has only constants and calls of `quoteUrlPart` or
 *   `encodeURIComponent`.
 * - `texts/slow-expression`: no expression looks at a run of characters from each of them, as `/ +$/` and
 *   `/^\d+\.?\d*$/` do. A text of a million blanks takes hours, and nothing ends a thread that matches.
 * @module
 */

type Node = Deno.lint.Node;
type Context = Deno.lint.RuleContext;

/** Files that a rule does not apply to, and why. */
const EXCEPTIONS: Readonly<Record<string, Readonly<Record<string, string>>>> = {
  replacement: {},
  pattern: {
    "lib/regex/reader.ts": "it writes the classes of characters that it has read from Python's expressions",
    "lib/states/control/read_only_commands.ts": "its words are texts of the file",
    "lib/host/x509/pem_entry.ts": "the type is the operator's expression, as in Salt",
    "lib/text/strptime.ts": "it escapes the format while it translates it",
    "lib/jinja/syntax/lexer.ts": "it joins a list of marks, each of them escaped",
  },
  "slow-expression": {
    "lib/config/load.ts": "it reads an option",
    "modules/wheel/config.ts": "it reads an option",
    "lib/keys/shared_key.ts": "it reads 512 characters",
    "modules/grains/hardware.ts": "the kernel wrote it",
    "modules/beacons/_login_records.ts": "it reads 256 characters",
    "lib/jinja/syntax/parser.ts": "it begins at the start of a text",
  },
  url: {
    "lib/plugins/loader.ts": "it quotes each step of the path",
    "lib/procfs/tcp_table.ts": "it writes numbers",
    "lib/text/ip_address.ts": "it writes hexadecimal digits",
  },
};

const ESCAPING: ReadonlySet<string> = new Set(["escapeRegex"]);
const QUOTING: ReadonlySet<string> = new Set(["quoteUrlPart", "encodeURIComponent"]);
const CONSTANT = /^[A-Z][A-Z\d_]*$/;

/** The rules `texts/replacement`, `texts/pattern`, `texts/slow-expression` and `texts/url`. */
const plugin: Deno.lint.Plugin = {
  name: "texts",
  rules: {
    replacement: { create: (context) => applies(context, "replacement") ? replacement(context) : {} },
    pattern: { create: (context) => applies(context, "pattern") ? pattern(context) : {} },
    "slow-expression": { create: (context) => applies(context, "slow-expression") ? slowExpression(context) : {} },
    url: { create: (context) => applies(context, "url") ? url(context) : {} },
  },
};
export default plugin;

function applies({ filename }: Context, rule: string): boolean {
  if (/(?:^|\/)(?:tests|scripts)\//.test(filename)) return false;
  if (!/(?:^|\/)(?:(?:lib|modules)\/.*|(?:master|minion|salt)\.ts)$/.test(filename)) return false;
  return !Object.keys(EXCEPTIONS[rule]).some((file) => filename.endsWith(`/${file}`));
}

function replacement(context: Context): Deno.lint.LintVisitor {
  return {
    CallExpression({ callee: called, arguments: given, optional, range }) {
      // deno lint calls all of a chain optional: a method that may be missing (`.replace?.()`) is in no chain, and no
      // text's.
      if (given.length === 0 || (optional && called.type !== "ChainExpression")) return;
      const callee = called.type === "ChainExpression" ? called.expression : called;
      if (callee.type !== "MemberExpression") return;
      const { property } = callee;
      const name = property.type === "Identifier" && !callee.computed
        ? property.name
        : property.type === "Literal" && callee.computed
        ? property.value
        : undefined;
      if (name !== "replace" && name !== "replaceAll") return;
      if (given.length === 1 && given[0].type !== "SpreadElement") return;
      const text = given.at(1);
      if (text?.type === "ArrowFunctionExpression" || text?.type === "FunctionExpression") return;
      if (text !== undefined && isLiteral(text)) return;
      context.report({ range, message: `${name} reads "$&" in a text: write () => text` });
    },
  };
}

function isLiteral(node: Node): boolean {
  return node.type === "Literal" || (node.type === "TemplateLiteral" && node.expressions.length === 0);
}

function pattern(context: Context): Deno.lint.LintVisitor {
  const message = "A pattern is made of literals, constants and calls of escapeRegex (lib/regex/escape.ts)";
  const checked: { readonly source: Node; readonly range: Deno.lint.Range }[] = [];
  const names = new Names();
  const check = ({ callee, arguments: [source], range }: Deno.lint.NewExpression | Deno.lint.CallExpression) => {
    if (callee.type === "Identifier" && callee.name === "RegExp" && source !== undefined) {
      checked.push({ source, range });
    }
  };
  return {
    ...names.visitor,
    NewExpression: check,
    CallExpression: check,
    "Program:exit"() {
      for (const { source, range } of checked) if (!names.isSafe(source, ESCAPING)) context.report({ range, message });
    },
  };
}

/** One character, escaped or not, or a class of them, many times before the end: a whole alternative. */
const RUN_AT_END = /^(?:\\?[^\\()|^]|\\[^bB]|\[(?:[^\]\\]|\\.)*\])[+*]\$$/;
/** Two runs of digits with nothing between them that must be there. */
const TWO_RUNS = /(\\d|\[0-9\])\+\\\.\?\1\*/;

/** Not the last line in `/[^\n]*\n|[^\n]+$/g`: where a line ends, the first half has taken it. */
function isRunAtEnd(part: string, pattern: string): boolean {
  return RUN_AT_END.test(part) && !pattern.startsWith(`${part.slice(0, -"+$".length)}*`);
}

function slowExpression(context: Context): Deno.lint.LintVisitor {
  return {
    Literal(node) {
      if (!("regex" in node) || !node.regex) return;
      const { pattern, flags } = node.regex;
      const isSlow = TWO_RUNS.test(pattern) ||
        (!flags.includes("y") && pattern.split("|").some((part) => isRunAtEnd(part, pattern)));
      if (!isSlow) return;
      const message = "It looks at each run from each of its characters: use rstripChars (lib/values/python_text.ts)";
      context.report({ range: node.range, message });
    },
  };
}

function url(context: Context): Deno.lint.LintVisitor {
  const message = "A URL is made of constants and calls of quoteUrlPart, or by fillUrl (lib/text/url_parts.ts)";
  const checked: { readonly source: Node; readonly range: Deno.lint.Range }[] = [];
  const names = new Names();
  const check = ({ callee, arguments: [source], range }: Deno.lint.NewExpression | Deno.lint.CallExpression) => {
    if (callee.type !== "Identifier" || (callee.name !== "URL" && callee.name !== "fetch")) return;
    // A URL as a whole is its sender's; here it is put together.
    if (source?.type === "TemplateLiteral" || source?.type === "BinaryExpression") checked.push({ source, range });
  };
  return {
    ...names.visitor,
    NewExpression: check,
    CallExpression: check,
    "Program:exit"() {
      for (const { source, range } of checked) if (!names.isSafe(source, QUOTING)) context.report({ range, message });
    },
  };
}

/** The names of a file, by what they are declared to be. Names of several scopes are taken together. */
class Names {
  /** `undefined` for what is no constant with a value of its own. */
  readonly #values = new Map<string, (Node | undefined)[]>();

  readonly visitor: Deno.lint.LintVisitor = {
    VariableDeclaration: ({ kind, declarations }) => {
      for (const { id, init } of declarations) {
        if (id.type === "Identifier") this.#add(id.name, kind === "const" ? init ?? undefined : undefined);
        else this.#addAll(id);
      }
    },
    FunctionDeclaration: ({ params }) => params.forEach((param) => this.#addAll(param)),
    FunctionExpression: ({ params }) => params.forEach((param) => this.#addAll(param)),
    ArrowFunctionExpression: ({ params }) => params.forEach((param) => this.#addAll(param)),
  };

  /** Whether a text has only literals, constants made of them, and calls of `makers`. */
  isSafe(node: Node, makers: ReadonlySet<string>, seen: readonly string[] = []): boolean {
    const safe = (part: Node) => this.isSafe(part, makers, seen);
    switch (node.type) {
      case "Literal":
        return true;
      case "TemplateLiteral":
        return node.expressions.every(safe);
      case "TaggedTemplateExpression":
        return node.quasi.expressions.every(safe);
      case "BinaryExpression":
        return node.operator === "+" && safe(node.left) && safe(node.right);
      case "ConditionalExpression":
        return safe(node.consequent) && safe(node.alternate);
      case "CallExpression":
        return node.callee.type === "Identifier" && makers.has(node.callee.name);
      case "Identifier": {
        const values = this.#values.get(node.name);
        if (values === undefined) return CONSTANT.test(node.name); // imported
        if (seen.includes(node.name)) return false;
        return values.every((value) => value !== undefined && this.isSafe(value, makers, [...seen, node.name]));
      }
      default:
        return false;
    }
  }

  #addAll(node: Node | Deno.lint.Parameter): void {
    switch (node.type) {
      case "Identifier":
        return this.#add(node.name, undefined);
      case "AssignmentPattern":
        return this.#addAll(node.left);
      case "RestElement":
        return this.#addAll(node.argument);
      case "TSParameterProperty":
        return this.#addAll(node.parameter);
      case "ArrayPattern":
        return node.elements.forEach((element) => element !== null && this.#addAll(element));
      case "ObjectPattern":
        return node.properties.forEach((property) =>
          this.#addAll(property.type === "Property" ? property.value : property)
        );
    }
  }

  #add(name: string, value: Node | undefined): void {
    this.#values.set(name, [...this.#values.get(name) ?? [], value]);
  }
}
