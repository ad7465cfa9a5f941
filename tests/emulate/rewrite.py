#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""CUDA source text as C++ for the emulator: what cannot be done with macros. Lines stay where they are.

    kernel<<<g, b>>>(x)            kernel ->* emulate::config(g, b)(x)
    __shared__ T x[8];             a reference to the block's own x
    extern __shared__ T x[];       the block's dynamic memory
    asm("text" : outs : ins);      emulate::ptx_text(outs, ins)
    (const void *)kernel           emulate::address(kernel), which knows the parameters

Used by build; `rewrite.py FILE` prints one file's text.
"""
import re
import sys


def masked(text):
    """The text with comments and the insides of literals blanked, so that places are the same."""
    def blank(match):
        s = match.group(0)
        if s[0] in "\"'":
            return s[0] + "x" * (len(s) - 2) + s[-1]
        return re.sub(r"[^\n]", " ", s)
    return re.sub(r'//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|(?<![0-9a-fA-F])\'(?:\\.|[^\'\\\n])+\'', blank, text, flags=re.S)


def closing(mask, at):
    """The place of the bracket that closes the one at `at`."""
    pairs = {"(": ")", "[": "]", "{": "}"}
    depth = []
    for i in range(at, len(mask)):
        if mask[i] in pairs:
            depth.append(pairs[mask[i]])
        elif depth and mask[i] == depth[-1]:
            depth.pop()
            if not depth:
                return i
    raise SyntaxError("a bracket is not closed")


def parts(mask, begin, end, separator, angles):
    """[begin, end) cut at separators outside brackets, as pairs of places."""
    out, depth, start = [], 0, begin
    for i in range(begin, end):
        c = mask[i]
        if c in "([{" or (angles and c == "<"):
            depth += 1
        elif c in ")]}" or (angles and c == ">"):
            depth -= 1
        elif c == separator and depth == 0:
            out.append((start, i))
            start = i + 1
    return out + [(start, end)]


def same_lines(new, old):
    return new + "\n" * (old.count("\n") - new.count("\n"))


def launches(text, mask):
    at = mask.find("<<<")
    while at >= 0:
        end = mask.find(">>>", at)
        if end < 0:
            raise SyntaxError("<<< without >>>")
        yield at, at + 3, " ->* emulate::config("
        yield end, end + 3, ")"
        at = mask.find("<<<", end)


def ptx_name(words):
    literal = "".join(re.findall(r'"((?:\\.|[^"\\])*)"', words))
    literal = re.sub(r"\\[nt]", " ", literal)
    return "ptx_" + re.sub(r"[^A-Za-z0-9]+", "_", literal).strip("_")


def assembly(text, mask):
    for match in re.finditer(r"\b(?:asm|__asm__)\b\s*(?:volatile|__volatile__)?\s*\(", mask):
        end = closing(mask, match.end() - 1)
        sections = parts(mask, match.end(), end, ":", False)
        arguments = []
        for begin, stop in sections[1:3]:
            for a, b in parts(mask, begin, stop, ",", False):
                opening = mask.find("(", a, b)
                if opening >= 0:
                    arguments.append(text[opening + 1:closing(mask, opening)])
        name = ptx_name(text[sections[0][0]:sections[0][1]])
        yield match.start(), end + 1, same_lines("emulate::%s(%s)" % (name, ", ".join(arguments)),
                                                 text[match.start():end + 1])


def shared(text, mask):
    for match in re.finditer(r"(?:\b(?:static|extern|volatile)\s+)*\b__shared__\b", mask):
        end = mask.index(";", match.end())
        words = match.group(0).split()
        inside = text.count("\n", 0, match.start())
        depth = mask.count("{", 0, match.start()) - mask.count("}", 0, match.start())
        pieces = [text[a:b] for a, b in parts(mask, match.end(), end, ",", True)]
        align = re.search(r"\b(?:__align__|alignas)\s*\(([^()]*)\)", pieces[0])
        first = re.sub(r"\b(?:__align__|alignas)\s*\([^()]*\)", "", pieces[0])
        form = re.compile(r"\s*(.*?)([A-Za-z_]\w*)\s*((?:\[[^\]]*\]\s*)*)$", re.S)
        base = form.match(first).group(1).strip()
        if "volatile" in words:
            base = "volatile " + base
        out = []
        for number, piece in enumerate([first] + pieces[1:]):
            prefix, name, dims = form.match(piece).groups()
            stars = prefix.strip() if number else ""
            if "extern" in words:
                if depth:
                    out.append("%s *const %s = (%s *)emulate::dynamic_shared();" % (base, name, base))
                else:
                    yield match.start(), end + 1, same_lines("#define %s ((%s *)emulate::dynamic_shared())" % (name, base),
                                                             text[match.start():end + 1])
                continue
            own = "%s_%d" % (name, inside)
            out.append("struct tag_%s; typedef %s %s type_%s%s; type_%s &%s = emulate::shared<type_%s, tag_%s>(\"%s\"%s);"
                       % (own, base, stars, own, dims, own, name, own, own, name,
                          ", " + align.group(1) if align else ""))
        if out:
            old = text[match.start():end + 1]
            yield match.start(), end + 1, same_lines(re.sub(r"\s*\n\s*", " ", " ".join(out)), old)


def attributes(mask):
    """__noinline__ cannot be a macro: the C++ library has it in attributes."""
    for match in re.finditer(r"\b__noinline__\b", mask):
        yield match.start(), match.end(), "__attribute__((noinline))"


def addresses(text, mask, kernels):
    """Kernels' addresses, and those of any name: it may be a pointer to a kernel. Names that a macro makes go by their end."""
    for match in re.finditer(r"\((const\s+)?void\s*\*\s*\)\s*&?\s*([A-Za-z_]\w*)", mask):
        end = match.end()
        known = match.group(2) in kernels or match.group(2).endswith("_kernel")
        if known and mask[end:end + 1] == "<":
            depth = 0
            for i in range(end, len(mask)):
                depth += {"<": 1, ">": -1}.get(mask[i], 0)
                if depth == 0:
                    end = i + 1
                    break
        elif not known and (not match.group(1) or "&" in match.group(0) or re.match(r"\s*(?:\.|->|\[|\(|::|<)", mask[end:])):
            continue
        kernel = text[match.start(2):end]
        yield match.start(), end, 'emulate::address(%s, "%s")' % (kernel, " ".join(kernel.split()))


def kernel_names(text):
    """Names of __global__ functions."""
    mask = masked(text)
    found = set()
    for match in re.finditer(r"__global__", mask):
        for name in re.finditer(r"\b([A-Za-z_]\w*)\s*\(", mask[match.end():match.end() + 400]):
            if not name.group(1).startswith("__"):
                found.add(name.group(1))
                break
    return found


def rewrite(text, kernels):
    mask = masked(text)
    edits = list(launches(text, mask)) + list(assembly(text, mask)) + list(shared(text, mask))
    edits += list(attributes(mask)) + list(addresses(text, mask, kernels))
    for begin, end, new in sorted(edits, reverse=True):
        text = text[:begin] + new + text[end:]
    return text


if __name__ == "__main__":
    with open(sys.argv[1], encoding="utf-8") as file:
        source = file.read()
    print(rewrite(source, kernel_names(source)), end="")
