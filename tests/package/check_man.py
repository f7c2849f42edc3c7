# SPDX-License-Identifier: Apache-2.0
"""The manual pages say what --help says: commands, options, their values and defaults, in both directions."""
import os
import re
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[1] / "arch"))
import tree  # noqa: E402

# Said once for the whole program, not for each command.
EVERYWHERE = {"-h", "--help", "--help-all", "-v", "--version"}


def option(names, value="", default="", required=False):
    return {"names": tuple(sorted(names)), "value": value, "default": default, "required": required}


def page_sections(text):
    """{heading: (plain text, [option])} of a page in man macros; headings of level 2, and of level 1 without any."""
    sections, heading, lines = {}, "", []
    for line in text.splitlines() + [".SH "]:
        line = re.sub(r"\\f[BIRP]", "", line).replace("\\-", "-").replace("\\e", "\\")
        if line.startswith(r'.\"'):
            continue
        if line.startswith((".SH ", ".SS ")):
            plain = " ".join(part for part in lines if not part.startswith("."))
            sections[heading] = (plain, page_options(lines))
            heading, lines = line[4:].strip('" '), []
        else:
            lines.append(line)
    return sections


def page_options(lines):
    found, body = [], None
    for number, line in enumerate(lines):
        if line == ".TP" and number + 1 < len(lines) and lines[number + 1].startswith("-"):
            words = lines[number + 1].replace(",", " ").split()
            names = [word for word in words if word.startswith("-")]
            rest = [word for word in words if not word.startswith("-")]
            body = []
            for text in lines[number + 2:]:
                if text.startswith("."):
                    break
                body.append(text)
            body = " ".join(body)
            default = re.search(r"Default: (.*)\.$", body)
            found.append(option(names, rest[0] if rest else "", default[1] if default else "", "Must be given." in body))
    return found


def help_parts(text):
    """(options, names of subcommands, names of positionals) of a --help of CLI11 or QCommandLineParser."""
    options, commands, positionals, part, last = [], [], [], "", None
    for line in text.splitlines():
        if re.fullmatch(r"\S.*:", line):
            part, last = line[:-1], None
            continue
        entry = re.match(r"  (\S.*?)(?:\s{2,}(.*))?$", line)
        if entry and part == "Subcommands":
            commands.append(entry[1].split()[0])
        elif entry and part in ("Positionals", "Arguments"):
            positionals.append(entry[1].split()[0])
        elif entry and entry[1].startswith("-"):
            words = entry[1].replace(",", " ").replace("<", "").replace(">", "").split()
            rest = [word for word in words if not word.startswith("-")]
            value, _, default = rest[0].partition("=") if rest else ("", "", "")
            last = option([word for word in words if word.startswith("-")], value, default, "REQUIRED" in rest)
            last["text"] = entry[2] or ""
            options.append(last)
        elif last is not None and line.strip():
            last["text"] = (last["text"] + " " + line.strip()).strip()
    for one in options:
        told = re.search(r"\[(.*)\]$", one.pop("text"))
        if told and not one["default"]:
            one["default"] = told[1]
    return options, commands, positionals


def command_faults(page, name, sections, options, positionals):
    """What the section of one command says against its help. A section may say "options of a run": those are added."""
    heading = " ".join([name, *positionals])
    if heading not in sections:
        return [f"{page}: no section \"{heading}\""]
    plain, listed = sections[heading]
    listed = list(listed)
    for title, (_, shared) in sections.items():
        # "Options of the output" is taken up by "those of the output" and the like.
        if title.startswith("Options of ") and title[len("Options "):] in plain:
            listed += shared
    return option_faults(page, heading, {o["names"]: o for o in listed}, options)


def option_faults(page, heading, told, options):
    faults = []
    asked = {o["names"]: o for o in options if not EVERYWHERE & set(o["names"])}
    faults += [f"{page}: {heading}: {' '.join(names)} is missing" for names in asked if names not in told]
    faults += [f"{page}: {heading}: {' '.join(names)} is not in the help"
               for names in told if names not in asked and not EVERYWHERE & set(names)]
    for names in asked.keys() & told.keys():
        for key in ("value", "default", "required"):
            if asked[names][key] != told[names][key]:
                faults.append(f"{page}: {heading}: {' '.join(names)}: {key} \"{told[names][key]}\", "
                              f"the help says \"{asked[names][key]}\"")
    return faults


def said_by(program, words):
    environment = os.environ | {"QT_QPA_PLATFORM": "offscreen", "LC_ALL": "C.UTF-8", "LANGUAGE": "en"}
    result = subprocess.run([str(program), *words, "--help"], capture_output=True, text=True, check=False, env=environment,
                            timeout=60)
    if result.returncode != 0:
        sys.exit(f"{program} {' '.join(words)} --help: exit status {result.returncode}: {result.stderr.strip()}")
    return result.stdout


def runner_faults(page, text, helped):
    """helped(words) gives the help of `dsa WORDS`."""
    sections, faults, named = page_sections(text), [], set()

    def walk(words):
        options, commands, positionals = help_parts(helped(words))
        for command in commands:
            walk([*words, command])
        if not commands:
            name = " ".join(["dsa", *words])
            named.add(" ".join([name, *positionals]))
            faults.extend(command_faults(page, name, sections, options, positionals))

    walk([])
    faults += [f"{page}: \"{heading}\" is no command" for heading in sections
               if heading.startswith("dsa ") and heading not in named]
    return faults


def files_taken(synopsis):
    """"[FILE]", "[FILE...]" or nothing: what stands behind the options, of a page or of a help's first line."""
    return re.sub(r"^.*?\[options?\.*\]", "", re.sub(r"\.[A-Z]+ |\s", "", synopsis))


def window_faults(page, text, helped):
    options, _, _ = help_parts(helped)
    sections = page_sections(text)
    # A page may tell of two flags in one item. A window's help names values as it likes: only whether there is one counts.
    told = {(name,): one for one in sections.get("OPTIONS", ("", []))[1] for name in one["names"]}
    asked = [option([name], one["value"]) for one in options for name in one["names"]]
    for one in [*asked, *told.values()]:
        one["value"], one["default"] = "yes" if one["value"] else "", ""
    faults = option_faults(page, "OPTIONS", told, asked)
    files = files_taken(text.partition(".SH SYNOPSIS")[2].partition(".SH")[0])
    usage = files_taken(helped.partition("\n")[0])
    if files != usage:
        faults.append(f"{page}: SYNOPSIS takes \"{files}\", the program \"{usage}\"")
    return faults


def check(arguments):
    folder = arguments.root / "installers" / "man"
    faults = runner_faults("dsa.1", (folder / "dsa.1.in").read_text(encoding="utf-8"),
                           lambda words: said_by(arguments.runner, words))
    if arguments.window:
        faults += window_faults("dsa-lab.1", (folder / "dsa-lab.1.in").read_text(encoding="utf-8"),
                                said_by(arguments.window, []))
    return faults


def self_test(_):
    helps = {(): "Usage\nOptions:\n  -h,--help   x\nSubcommands:\n  go      Goes\n",
             ("go",): "Usage\nPositionals:\n  RUN TEXT REQUIRED   Run\nOptions:\n  -h,--help   x\n  --far,--wide COUNT     how far\n"
                      "                  [9]\n  --out TEXT REQUIRED     where\n  --n UINT=4   n\n"}
    good = (".SS dsa go RUN\nGoes. Takes the options of a trip.\n.TP\n\\fB\\-\\-far\\fR, \\fB\\-\\-wide\\fR \\fICOUNT\\fR\nHow far. "
            "Default: 9.\n.TP\n\\fB\\-\\-out\\fR \\fITEXT\\fR\nWhere. Must be given.\n.SS Options of a trip\n.TP\n"
            "\\fB\\-\\-n\\fR \\fIUINT\\fR\nN. Default: 4.\n")

    def run(what, page, *needles):
        tree.expect(what, runner_faults("p", page, lambda words: helps[tuple(words)]), *needles)

    run("a true page", good)
    run("an option less", good.replace("\\fB\\-\\-far\\fR, ", ""), "--far --wide is missing", "--wide is not in the help")
    run("another default", good.replace("Default: 9", "Default: 8"), 'default "8"')
    run("another shared default", good.replace("Default: 4", "Default: 5"), 'default "5"')
    run("another value", good.replace("ICOUNT", "ISIZE"), 'value "SIZE"')
    run("not said to be required", good.replace("Must be given.", ""), "required")
    run("an argument less", good.replace("go RUN", "go"), "no section", "is no command")
    run("a command too many", good + ".SS dsa stay\n", "is no command")
    window = (".SH SYNOPSIS\n.B w\n.RI [ option ...]\n.RI [ FILE ]\n.SH OPTIONS\n.TP\n\\fB\\-\\-db\\fR \\fIFILE\\fR\nDatabase.\n"
              ".TP\n\\fB\\-\\-dark\\fR, \\fB\\-\\-light\\fR\nColours.\n")
    said = "Usage: ./w [options] [FILE]\nX\n\nOptions:\n  -h, --help   Help.\n  --db <FILE>  Database\n  --dark       Dark\n  --light      Light\n"
    tree.expect("a true page of the window", window_faults("w", window, said))
    tree.expect("files not taken", window_faults("w", window, said.replace(" [FILE]", "")), "takes \"[FILE]\"")
    tree.expect("many files taken", window_faults("w", window, said.replace("[FILE]", "[FILE...]")), "the program \"[FILE...]\"")
    tree.expect("a flag with a value", window_faults("w", window, said.replace("--dark ", "--dark <C> ")), "value")
    tree.expect("a flag less", window_faults("w", window, said.replace("  --light      Light\n", "")), "--light is not in the help")


if __name__ == "__main__":
    sys.exit(tree.main(check, self_test, ("--runner", "the dsa program"), ("--window", "the dsa-lab program, if it is built")))
