"""What can be changed in a C++ file, one thing at a time.

    for site in sites(text): text[:site.begin] + site.after + text[site.end:]

A tokeniser finds the places. No site lies in a comment, a string, a preprocessor line, an attribute, a template's parameters, a static_assert or an
ONNXC_CHECK. It relies on the layout that tests/style checks: binary operators have blanks on both sides, and brackets of template arguments,
pointers, references and signs have not.
"""
import re
from dataclasses import dataclass

TOKEN = re.compile(
    r"""(?P<comment>//[^\n]*|/\*.*?\*/)
      |(?P<directive>^[ \t]*\#(?:[^\n\\]|\\\n|\\.)*)
      |(?P<string>(?:u8|[uUL])?(?:R"(?P<mark>[^()\s]*)\(.*?\)(?P=mark)"|"(?:[^"\\\n]|\\.)*"|'(?:[^'\\\n]|\\.)+'))
      |(?P<number>\.?\d(?:[eEpP][+-]|[\w.']|)*)
      |(?P<word>[A-Za-z_]\w*)
      |(?P<sign><=>|<<=|>>=|\.\.\.|->\*|->|::|\+\+|--|<<|>>|<=|>=|==|!=|&&|\|\||[-+*/%&|^]=|[^\s\w])""",
    re.VERBOSE | re.MULTILINE | re.DOTALL)

COMPARED = {"<": ["<=", ">="], "<=": ["<", ">"], ">": [">=", "<="], ">=": [">", "<"], "==": ["!="], "!=": ["=="]}
COMPUTED = {"+": ["-"], "-": ["+"], "*": ["/"], "/": ["*"], "%": ["*"], "&": ["|"], "|": ["&"], "<<": [">>"], ">>": ["<<"]}
ASSIGNED = {"+=": ["-=", "="], "-=": ["+=", "="], "*=": ["="], "|=": ["&=", "="], "&=": ["|=", "="]}
JOINED = {"&&": ["||"], "||": ["&&"]}
SWAPPED = {"min": "max", "max": "min", "min_of": "max_of", "max_of": "min_of", "vmin": "vmax", "vmax": "vmin", "true": "false", "false": "true"}
ROUNDED = {"floor": "ceil", "ceil": "floor", "nearbyint": "round", "rint": "round", "round": "trunc", "trunc": "floor", "floor_div": "ceil_div",
           "ceil_div": "floor_div", "round_up": "round_down", "vround": "vfloor", "vfloor": "vceil", "vceil": "vfloor"}
# What begins a statement that is not an expression.
DECLARING = {"auto", "const", "constexpr", "static", "using", "namespace", "template", "return", "struct", "class", "enum", "union", "if", "else", "for", "while", "do", "switch",
             "case", "default", "goto", "try", "catch", "typedef", "friend", "public", "private", "protected", "extern", "inline", "static_assert", "operator", "asm", "typename"}
UNTOUCHED = {"static_assert", "ONNXC_CHECK", "alignas", "decltype", "sizeof", "noexcept", "asm", "__asm__", "requires"}  # with what they have in parentheses


@dataclass(frozen=True)
class Site:
    kind: str
    begin: int  # offsets in the text, half open
    end: int
    after: str


@dataclass
class Token:
    kind: str
    text: str
    begin: int
    end: int


def tokens(text):
    """Without comments and preprocessor lines."""
    found = []
    for match in TOKEN.finditer(text):
        if match.lastgroup == "mark" or match["string"]:
            found.append(Token("string", match["string"], match.start(), match.end()))
        elif match.lastgroup not in ("comment", "directive"):
            found.append(Token(match.lastgroup, match[0], match.start(), match.end()))
    return found


def closing(all, at):
    """The index of the bracket that closes the one at `at`; the last token where none does."""
    depth = 0
    for i in range(at, len(all)):
        if all[i].kind == "sign" and all[i].text in "([{":
            depth += 1
        elif all[i].kind == "sign" and all[i].text in ")]}":
            depth -= 1
            if depth == 0:
                return i
    return len(all) - 1


def closing_angle(all, at):
    """The same for the angle bracket of `template <`. Comparisons in defaults stand in parentheses."""
    depth, i = 0, at
    while i < len(all):
        text = all[i].text
        if text in ("(", "[", "{"):
            i = closing(all, i)
        elif text == "<":
            depth += 1
        elif text in (">", ">>"):
            depth -= len(text)
            if depth <= 0:
                return i
        i += 1
    return len(all) - 1


def live(text):
    """Tokens, and for each whether it may be changed."""
    all = tokens(text)
    free = [True] * len(all)
    for i, token in enumerate(all[:-1]):
        last = None
        if token.text in UNTOUCHED and all[i + 1].text == "(":
            last = closing(all, i + 1)
        elif token.text == "template" and all[i + 1].text == "<":
            last = closing_angle(all, i + 1)
        elif token.text == "[" and all[i + 1].text == "[":
            last = closing(all, i)
        elif token.text in ("using", "concept", "requires", "friend"):
            last = next((k for k in range(i, len(all)) if all[k].text in (";", "{")), i)
        if last is not None:
            free[i:last + 1] = [False] * (last + 1 - i)
    return all, free


def declares(statement):
    """Whether it says a type and then a name."""
    for type_, name in zip(statement, statement[1:]):
        if type_.text in ("=", "(", "[", "{", "."):
            return False
        if name.kind == "word" and (type_.kind == "word" or type_.text == ">"):
            return True
    return False


def statements(all, free):
    """Simple statements that can be left out: calls, assignments, jumps. Pairs of indices, the last one that of the semicolon."""
    inside = []  # the brackets around
    for i, token in enumerate(all):
        if token.kind == "sign" and token.text in "([{":
            inside.append(token.text)
        elif token.kind == "sign" and token.text in ")]}" and inside:
            inside.pop()
        if inside[-1:] in (["("], ["["]):
            continue  # of the head of a loop
        begins = i > 0 and all[i - 1].text in (";", "{", "}", ")", "else", ":") and token.kind == "word" and free[i]
        if not begins or (token.text in DECLARING and not (token.text == "return" and all[i + 1].text == ";")):
            continue
        k = i
        while k < len(all) and all[k].text not in (";", "{", "}", ")"):
            k = closing(all, k) + 1 if all[k].text in ("(", "[") else k + 1
        if k >= len(all) or all[k].text != ";":
            continue
        words = [t.text for t in all[i:k]]
        if declares(all[i:k]):
            continue
        follows = all[i + 1].text
        jumps = words in (["continue"], ["break"], ["return"])
        acts = follows in ("(", "=", "+=", "-=", "*=", "|=", "&=", "[", ".", "->", "::", "<") and ("=" in words or words[-1] == ")" or any(w in ASSIGNED for w in words))
        if jumps or acts:
            yield i, k


def chooses_either(all, at):
    """Whether the comparison at `at` is that of `a < b ? a : b`: of equal ones it does not matter which is taken."""
    depth, marks = 0, []
    for i in range(at + 1, min(at + 60, len(all))):
        text = all[i].text
        depth += (text in ("(", "[", "{")) - (text in (")", "]", "}"))
        if depth < 0 or (depth == 0 and text in (";", ",", "&&", "||")):
            marks.append(i)
            break
        if depth == 0 and text in ("?", ":"):
            marks.append(i)
    if len(marks) != 3 or [all[m].text for m in marks[:2]] != ["?", ":"]:
        return False
    words = lambda first, last: [token.text for token in all[first:last]]
    right, then, other = words(at + 1, marks[0]), words(marks[0] + 1, marks[1]), words(marks[1] + 1, marks[2])
    before = lambda side: words(at - len(side), at) == side
    return (right == other and before(then)) or (right == then and before(other))


def sites(text):
    all, free = live(text)
    found = []

    def add(kind, first, last, after):
        found.append(Site(kind, all[first].begin, all[last].end, after))

    for i, token in enumerate(all):
        if not free[i] or i == 0 or i + 1 == len(all):
            continue
        before, next_ = all[i - 1], all[i + 1]
        apart = text[token.begin - 1] in " \n" and text[token.end] in " \n"
        operand = before.kind in ("number", "string") or before.text in (")", "]") or (before.kind == "word" and before.text not in ("return", "case", "operator", "template"))
        if token.kind == "sign" and apart and operand:
            for kind, table in (("comparison", COMPARED), ("arithmetic", COMPUTED), ("assignment", ASSIGNED), ("logic", JOINED)):
                for after in table.get(token.text, []):
                    if not (kind == "comparison" and chooses_either(all, i) and after.rstrip("=") == token.text.rstrip("=")):
                        add(kind, i, i, after)
        elif token.text == "!" and text[token.end] not in " =" and not operand:
            add("negation", i, i, "")
        elif token.text == "if" and next_.text == "(":
            last = closing(all, i + 1)
            inner = all[i + 2:last]
            if inner and not any(t.text == ";" for t in inner) and inner[0].text not in ("const", "auto"):
                found.append(Site("negation", all[i + 1].end, all[last].begin, f"!({text[all[i + 1].end:all[last].begin]})"))
        elif token.text in ("0", "1") and before.text not in ("[", "case"):  # larger ones are mostly sizes of tiles
            add("constant", i, i, "1" if token.text == "0" else "0")
        elif token.kind == "word" and before.text not in (".", "->"):
            if token.text in SWAPPED and (token.text in ("true", "false") or next_.text in ("(", "<")):
                add("min and max" if token.text not in ("true", "false") else "constant", i, i, SWAPPED[token.text])
            elif token.text in ROUNDED and next_.text in ("(", "<"):
                add("rounding", i, i, ROUNDED[token.text])
    for first, last in statements(all, free):
        found.append(Site("statement", all[first].begin, all[last].begin, ""))
    return found
