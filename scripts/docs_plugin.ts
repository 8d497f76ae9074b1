/**
 * Checks which docstrings there must be, and which there must not be: a plugin of `deno lint`, named in deno.json.
 *
 * The rule: a file opens with a docstring (`@module`); an exported class has one, and so has an exported function or
 * public method that takes parameters; no docstring only repeats the words of the name below it.
 *
 * Properties, constants, types and functions without parameters have a docstring only if there is something to say: a
 * unit, a bound, an error, a reason. Tests are not checked for this.
 *
 * In all files: a tag of a docstring stands at the start of its line, because `deno doc` and editors read it only
 * there, and has its word on the same line; and no comment goes beyond the column at which the formatter breaks code.
 * @module
 */

type Node = Deno.lint.Node;
type Context = Deno.lint.RuleContext;

/** Words that add nothing to a name. */
const FILLERS = new Set(wordsOf("a an the its it of this that is are class own"));

const MISSING = "needs a docstring: what it does, its units and errors";
const REPEATS = "The docstring only repeats the name: say more, or remove it";

const plugin: Deno.lint.Plugin = {
  name: "docs",
  rules: {
    required: { create: (context) => isTest(context) ? {} : demandDocs(context) },
    "no-repetition": { create: (context) => isTest(context) ? {} : noRepetition(context) },
    "tag-lines": { create: tagLines },
    "line-width": { create: lineWidth },
  },
};
export default plugin;

function isTest({ filename }: Context): boolean {
  return /(?:^|\/)tests\//.test(filename);
}

function demandDocs(context: Context): Deno.lint.LintVisitor {
  const demand = (node: Node, name: string) => {
    if (docAbove(context, node) === undefined) context.report({ range: node.range, message: `${name} ${MISSING}` });
  };
  return {
    Program: (program) => {
      const first = context.sourceCode.getAllComments().at(0);
      if (first?.value.includes("@module") && first.range[0] <= (program.body.at(0)?.range[0] ?? Infinity)) return;
      context.report({ range: [0, 1], message: "The file must open with a docstring that has @module" });
    },
    ExportNamedDeclaration: (node) => {
      const { declaration } = node;
      if (declaration?.type === "ClassDeclaration") {
        demand(node, declaration.id?.name ?? "The class");
        for (const member of declaration.body.body) {
          if (member.type !== "MethodDefinition" || member.kind !== "method" || member.override) continue;
          if (member.key.type !== "Identifier" || member.accessibility === "private") continue;
          if (member.value.params.length > 0) demand(member, member.key.name);
        }
      }
      if (declaration?.type === "FunctionDeclaration" && declaration.params.length > 0) {
        demand(node, declaration.id?.name ?? "The function");
      }
      if (declaration?.type === "VariableDeclaration") {
        for (const { id, init } of declaration.declarations) {
          if (init?.type === "ArrowFunctionExpression" && init.params.length > 0 && id.type === "Identifier") {
            demand(node, id.name);
          }
        }
      }
    },
  };
}

function noRepetition(context: Context): Deno.lint.LintVisitor {
  /** @param owner The class or interface around a member: the words of its name say nothing new either. */
  const check = (node: Node, key: Node | null | undefined, owner: string = "") => {
    const doc = docAbove(context, node);
    if (doc === undefined || doc.includes("@") || key?.type !== "Identifier") return;
    const known = new Set([...wordsOf(key.name), ...wordsOf(owner)]);
    if (wordsOf(doc).every((word) => FILLERS.has(word) || known.has(word))) {
      context.report({ range: node.range, message: REPEATS });
    }
  };
  const withExport = (node: Node & { readonly parent?: Node }) =>
    node.parent?.type === "ExportNamedDeclaration" ? node.parent : node;
  const ownerOf = (node: { readonly parent: { readonly parent: Node } }) => {
    const owner = node.parent.parent;
    return "id" in owner && owner.id?.type === "Identifier" ? owner.id.name : "";
  };
  return {
    FunctionDeclaration: (node) => check(withExport(node), node.id),
    ClassDeclaration: (node) => check(withExport(node), node.id),
    TSInterfaceDeclaration: (node) => check(withExport(node), node.id),
    TSTypeAliasDeclaration: (node) => check(withExport(node), node.id),
    VariableDeclaration: (node) => check(withExport(node), node.declarations.at(0)?.id),
    TSPropertySignature: (node) => check(node, node.key, ownerOf(node)),
    TSMethodSignature: (node) => check(node, node.key, ownerOf(node)),
    PropertyDefinition: (node) => check(node, node.key, ownerOf(node)),
    MethodDefinition: (node) => check(node, node.key, ownerOf(node)),
  };
}

/** Tags that the tree uses. Others are words: `@daily` of a crontab. */
const TAG = /@(?:throws|returns|param|module|default|see|example|deprecated|internal)\b(?!-)/g;

const TAG_BEHIND_TEXT = "A tag is read only at the start of a line: put it there";
const TAG_WITHOUT_WORD = "The tag and its word are on different lines: join them";

function tagLines(context: Context): Deno.lint.LintVisitor {
  const check = (comment: Deno.lint.LineComment | Deno.lint.BlockComment) => {
    if (comment.type !== "Block" || !comment.value.startsWith("*")) return;
    // Code is blanked, so that all places stay the same.
    const text = comment.value.replace(/`[^`]*`/g, (code) => code.replace(/[^\n]/g, "-"));
    for (const { 0: tag, index } of text.matchAll(TAG)) {
      const before = text.slice(text.lastIndexOf("\n", index) + 1, index);
      const after = text.slice(index + tag.length).split("\n")[0];
      // Behind the opening of the comment: two characters that are not part of its value.
      const start = comment.range[0] + 2 + index;
      const range: [number, number] = [start, start + tag.length];
      if (/[^\s*]/.test(before)) context.report({ range, message: TAG_BEHIND_TEXT });
      else if (/^@(?:throws|returns|param|default|see)$/.test(tag) && after.trim() === "") {
        context.report({ range, message: TAG_WITHOUT_WORD });
      }
    }
  };
  return { Program: () => context.sourceCode.getAllComments().forEach(check) };
}

/** As `lineWidth` in deno.json. The formatter breaks only code. */
const MAX_COLUMNS = 120;

const TOO_LONG = `The comment goes beyond column ${MAX_COLUMNS}: break its line`;

function lineWidth(context: Context): Deno.lint.LintVisitor {
  const { text } = context.sourceCode;
  return {
    Program: () => {
      for (const { range: [first, last] } of context.sourceCode.getAllComments()) {
        let start = text.lastIndexOf("\n", first) + 1;
        for (const line of text.slice(start, last).split("\n")) {
          const comment = line.slice(Math.max(first - start, 0));
          // A single word, such as an address, and what directs a tool cannot be broken.
          const unbreakable = /^\s*(?:\/?\*+|\/\/)?\s*\S+\s*(?:\*\/)?$|^\/\/ (?:deno|dprint)-/.test(comment);
          if ([...line].length > MAX_COLUMNS && !unbreakable) {
            context.report({ range: [Math.max(start, first), start + line.length], message: TOO_LONG });
          }
          start += line.length + 1;
        }
      }
    },
  };
}

/**
 * The text of the docstring directly above `node`, which is not the docstring of the file. Line comments may be
 * between.
 */
function docAbove({ sourceCode }: Context, node: Node): string | undefined {
  let [start] = node.range;
  for (const comment of sourceCode.getAllComments().toReversed()) {
    if (comment.range[1] > start) continue;
    if (sourceCode.text.slice(comment.range[1], start).trim() !== "") return undefined;
    if (comment.type === "Block") {
      return comment.value.startsWith("*") && !comment.value.includes("@module") ? comment.value : undefined;
    }
    [start] = comment.range;
  }
  return undefined;
}

/** The words of a text or name, in lower case and without a plural's "s": `readBytes` has `read` and `byte`. */
function wordsOf(text: string): string[] {
  const words = text.replace(/'s\b/g, "").replace(/([a-z0-9])([A-Z])/g, "$1 $2").toLowerCase().match(/[a-z0-9]+/g) ??
    [];
  return words.map((word) => word.length > 3 ? word.replace(/s$/, "") : word);
}
