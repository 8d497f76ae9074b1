"""Templates, by the minion."""

TEMPLATE_DIRNAME = "/var/cache/salt/templates"


def _rendered(kind):
    def render(tmplstr, context=None, tmplpath=None):
        import salt_bridge

        text = tmplstr.read() if hasattr(tmplstr, "read") else tmplstr
        return salt_bridge.JOB.dunder("__salt__")["file.apply_template_on_contents"](
            text, kind, dict((context or {}).get("context") or {}), {}, (context or {}).get("saltenv", "base")
        )

    return render


render_jinja_tmpl = _rendered("jinja")


def wrap_tmpl_func(render_str):
    return render_str


JINJA = render_jinja_tmpl
TEMPLATE_REGISTRY = {name: _rendered(name) for name in ("jinja", "mako", "wempy", "genshi", "cheetah", "py")}
