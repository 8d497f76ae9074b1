"""Prints the syntax trees of templates in Python's Jinja, with Salt's environment: a line of JSON for each text of a JSON list."""

import json
import sys

import jinja2.ext
import jinja2.nodes as nodes
import jinja2.sandbox
import salt.utils.jinja

ENV = jinja2.sandbox.SandboxedEnvironment(
    extensions=["jinja2.ext.do", "jinja2.ext.loopcontrols", salt.utils.jinja.SerializerExtension]
)


def place(scope):
    """Sets the line of the nodes that Jinja makes around an `autoescape` block, which have none, to that of the block."""
    (modifier,) = scope.body
    scope.lineno = modifier.lineno
    for option in modifier.options:
        option.lineno = modifier.lineno


def dump(node):
    if isinstance(node, list):
        return [dump(each) for each in node]
    if isinstance(node, tuple):
        return [repr(each) for each in node]
    if not isinstance(node, nodes.Node):
        return repr(node)
    # A call of the extension's own function.
    if isinstance(node, nodes.Call) and isinstance(node.node, nodes.ExtensionAttribute):
        return ["HostCall"]
    return [type(node).__name__, node.lineno or "None", *[dump(getattr(node, field)) for field in node.fields]]


for text in json.load(sys.stdin):
    try:
        template = ENV.parse(text)
        for scope in template.find_all(nodes.Scope):
            if isinstance(scope.body[0], nodes.ScopedEvalContextModifier):
                place(scope)
        tree = dump(template)
    except jinja2.TemplateSyntaxError as exc:
        tree = ["error", exc.lineno, exc.message]
    except RecursionError:
        tree = ["error", 0, "too deep"]
    print(json.dumps(tree))
