"""Programs that answer as recorded, for the scripts that record Salt's calls."""


def record(directory, programs):
    """Programs that answer for arguments that match a pattern of the shell: as tests/support/calls/recorded_program.ts."""
    directory.mkdir(parents=True, exist_ok=True)
    for name, answers in programs.items():
        arms = ""
        for i, answer in enumerate(answers):
            for what in ("stdout", "stderr"):
                (directory / f"{name}.{i}.{what}").write_text(answer.get(what, ""))
            pattern = "".join(c if c.isalnum() or c in "_.*?@=:,/-" else "\\" + c for c in answer["args"]) or "''"
            arms += f"{pattern}) cat '{directory}/{name}.{i}.stdout'; cat '{directory}/{name}.{i}.stderr' >&2; exit {answer.get('code', 0)};;\n"
        program = directory / name
        program.write_text(f"#!/bin/sh\ncase \"$*\" in\n{arms}esac\n")
        program.chmod(0o755)
