"""Renders files, as the minion does."""


def compile_template(template, renderers=None, default=None, *args, **kwargs):
    import salt_bridge

    given = {} if template == ":string:" else {"path": template}
    if template == ":string:":
        given["string"] = kwargs.get("input_data", "")
    return salt_bridge.JOB.dunder("__salt__")["slsutil.renderer"](default_renderer=default or "jinja|yaml", **given)
