"""Every code block of the guide and of README.md is part of a file that the tests compile and run.

check_snippets.py <top folder of the tree>

A block is some consecutive lines of one file below test/docs, but for indentation. C++, CMake and
MLIR are checked; what is meant to be read only is fenced as `text` or `sh`.
"""

import pathlib
import sys

SUFFIXES = {"cpp": (".cpp", ".h"), "cmake": ("CMakeLists.txt",), "mlir": (".mlir",)}


def stripped(text):
    return [line.strip() for line in text.strip("\n").split("\n")]


def blocks(page):
    """(line number, language, lines) of each fenced block."""
    language, start, lines = None, 0, []
    for number, line in enumerate(page.read_text().split("\n"), 1):
        if not line.lstrip().startswith("```"):
            lines.append(line)
        elif language is None:
            language, start, lines = line.strip("` ") or "text", number, []
        else:
            yield start, language, stripped("\n".join(lines))
            language = None
    if language is not None:
        sys.exit(f"{page}:{start}: expected the block to end, got the end of the page")


def contains(lines, block):
    return any(
        lines[at : at + len(block)] == block for at in range(len(lines) - len(block) + 1)
    )


def main(top):
    files = [path for path in (top / "test/docs").rglob("*") if path.is_file()]
    sources = {
        language: [stripped(path.read_text()) for path in files if path.name.endswith(suffix)]
        for language, suffix in SUFFIXES.items()
    }
    pages = [top / "README.md", *sorted((top / "docs/guide").glob("*.md"))]
    checked, missing = 0, []
    for page in pages:
        for line, language, block in blocks(page):
            if language not in SUFFIXES:
                continue
            checked += 1
            if not any(contains(source, block) for source in sources[language]):
                missing.append(
                    f"{page.relative_to(top)}:{line}: this {language} block is in no file of "
                    "test/docs"
                )
    if len(pages) < 2 or not checked:
        missing.append("expected pages with code blocks, got none")
    print("\n".join(missing) if missing else f"{checked} blocks are in tested files")
    return bool(missing)


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
