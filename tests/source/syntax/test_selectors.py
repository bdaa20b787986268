"""Objective-C: selectors as names, detection of its files, and text that is blanked before parsing."""

from __future__ import annotations

import pytest

from lci_py.source.extract.extract import extract
from lci_py.source.extract.occurrences import finder, occurrences
from lci_py.source.syntax.languages import TEXT, detect, load_languages


def names(source: str) -> list[str]:
    return [symbol.qualified_name for symbol in extract("a.m", source.encode(), "objc").symbols]


@pytest.mark.parametrize(
    ("head", "name"),
    [
        ("- (void)stop", "stop"),
        ("- (void)setName:(NSString *)name", "setName:"),
        ("+ (instancetype)at:(int)x and:(int)y", "at:and:"),
        ("- (void)move:(int)x :(int)y", "move::"),
        ("- (void)log:(NSString *)format, ...", "log:"),
        ("- (id)each:(void (^)(id item, BOOL *stop))block", "each:"),
        ("- plain", "plain"),
        ("- (nullable NSString *)nameOf:(nonnull id<Named>)other", "nameOf:"),
    ],
)
@pytest.mark.parametrize("wrapped", ["@interface A : B\n{};\n@end\n", "@implementation A\n{} {{ }}\n@end\n"])
def test_a_method_is_named_by_its_whole_selector(head: str, name: str, wrapped: str) -> None:
    source = wrapped.replace("{}", head).replace("{{ }}", "{ }")
    assert names(source) == ["A", f"A.{name}"]


def test_a_message_asks_for_a_selector_and_a_chain_for_what_the_one_before_gives() -> None:
    source = b"@implementation A\n- (void)go { [[[Shop alloc] initWithName:n] open:YES at:[self now]]; }\n@end\n"
    calls = {(call.receiver, call.name) for call in extract("a.m", source, "objc").calls}
    assert calls == {
        ("Shop", "alloc"), ("Shop", "initWithName:"), ("Shop.initWithName:()", "open:at:"), ("self", "now"),
    }  # fmt: skip


def test_c_in_an_implementation_belongs_to_no_class() -> None:
    source = "@implementation A\nstatic int total;\nstatic void f(void) {}\n#define LIMIT 2\n- (void)g { f(); }\n@end\n"
    found = {symbol.qualified_name: symbol.kind for symbol in extract("a.m", source.encode(), "objc").symbols}
    assert found == {"A": "class", "total": "variable", "f": "function", "LIMIT": "macro", "A.g": "method"}


@pytest.mark.parametrize(
    ("path", "head", "language"),
    [
        ("a.m", "#import <Foundation/Foundation.h>\n", "objc"),
        ("a.m", "// no evidence at all\nint x;\n", "objc"),
        ("a.m", 'int main(void) {\n  return 100\n  % function;\n}\n#import "a.h"\n', "objc"),
        ("a.m", "% Area of a circle.\nfunction a = area(r)\na = pi * r^2;\n", TEXT),
        ("a.m", "function varargout = plotAll(varargin)\n", TEXT),
        ("a.m", "clear all\nx = 1;\n", TEXT),
        ("a.m", "(* ::Package:: *)\nf[x_] := x^2\n", TEXT),
        ("a.m", ":- module area.\n", TEXT),
        ("a.mm", "#include <vector>\n", "objc"),
        ("a.h", "#import <UIKit/UIKit.h>\n", "objc"),
        ("a.h", "@class Reader;\n", "objc"),
        ("a.h", "#include <vector>\n@interface A : NSObject\n- (std::vector<int>)all;\n@end\n", "objc"),
        ("a.h", "typedef NS_ENUM(NSInteger, Order) { One };\n", "objc"),
        ("a.h", "/* @interface of a device */\nint open(void);\n", "c"),
        ("a.h", "#import <msxml3.dll>\nnamespace a {}\n", "cpp"),
    ],
)
def test_the_content_decides_where_suffixes_are_shared(path: str, head: str, language: str) -> None:
    assert detect(path, head.encode()) == language


def test_what_is_overwritten_keeps_all_offsets() -> None:
    source = (
        b"#if X\ntypedef NS_ENUM(NSInteger, Order) {\n#else\n@end\n#endif\n- (nullable id)a API_AVAILABLE(ios(3));\n"
        b"for (auto &x : xs) { std::move(x); }\nMY_EXPORT int b;\n"
    )
    blanked = load_languages()["objc"].blanked(source)
    assert len(blanked) == len(source)
    assert blanked.count(b"\n") == source.count(b"\n")
    assert blanked.split() == (b"enum Order { @end - ( id)a ; for (it in xs) { std__move(x); } extern int b;".split())
    assert blanked.index(b"Order") == source.index(b"Order")


def test_references_to_a_selector_are_messages_with_all_of_it() -> None:
    source = (
        b"@implementation A\n- (void)set:(int)a of:(int)b { }\n- (void)set:(int)a { [self set:1 of:2]; }\n"
        b"// set:of:\n- (void)go { [self set:1]; call(@selector(set:of:), @selector(set:)); set: of(); }\n@end\n"
    )
    found = occurrences(source, "objc", finder("set:of:"), name="set:of:")
    assert [(item.line, item.role) for item in found] == [(2, "definition"), (3, "call"), (5, "reference")]


def test_traits_of_classes_and_methods() -> None:
    source = (
        b"@interface A : B\n+ (id)make;\n@end\n@interface A ()\n@end\n@interface A (C)\n@end\n"
        b"@implementation A\n+ (id)make { return 0; }\n@end\n@implementation A (C)\n@end\n"
        b"@interface W : B\n@property (weak) id view;\n@end\n__attribute__((weak)) void hook(void) {}\n"
    )
    symbols = extract("a.m", source, "objc").symbols
    assert [(symbol.line, symbol.traits) for symbol in symbols] == [
        (1, "impl:interface"), (2, "declaration static"), (4, "partial"), (6, "partial"), (8, "impl:class"),
        (9, "static"), (11, "partial"), (13, "impl:interface"), (14, ""), (16, "weak"),
    ]  # fmt: skip
