"""Templates that functions show: by the name that is written, or by that of a controller's method."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from lci_py import app
from tests.conftest import Ran

FILES = {
    # Django: the nearest folder of templates; any text with the name of one
    "shop/views.py": (
        "from django.shortcuts import render\ndef item(request):\n    return render(request, 'shop/item.html')\n"
        "class Listing:\n    template_name = 'shop/list.html'\n"
    ),
    "shop/templates/shop/item.html": "<p>\n",
    "other/templates/shop/item.html": "<p>\n",
    "templates/shop/list.html": "<p>\n",
    "docs/shop/list.html": "<p>\n",
    "tests/test_views.py": "from shop.views import item\ndef test_item():\n    item(None)\n",
    # Rails: the method's name, another one, a partial, one for each format; the folder of the namespace
    "rb/app/controllers/admin/order_items_controller.rb": (
        "class Admin::OrderItemsController\n  def show; end\n  def update\n    render :edit\n  end\n"
        '  def part\n    render partial: "shared/row"\n  end\nend\n'
    ),
    "rb/app/views/admin/order_items/show.html.erb": "",
    "rb/app/views/admin/order_items/show.json.jbuilder": "",
    "rb/app/views/admin/order_items/edit.html.erb": "",
    "rb/app/views/api/admin/order_items/show.html.erb": "",
    "rb/app/views/shared/_row.html.erb": "",
    # Laravel, Express, ASP.NET, Phoenix, Go, Angular
    "php/Books.php": "<?php\nclass Books { function index() { return view('books.all', ['a' => 1]); } }\n",
    "php/resources/views/books/all.blade.php": "",
    "js/app.js": "function home(req, res) { res.render('home/index'); }\n",
    "js/views/home/index.pug": "",
    "cs/HomeController.cs": (
        'class HomeController { object Index() { return View(); } object About() { return View("Us"); } }\n'
    ),
    "cs/Views/Home/Index.cshtml": "",
    "cs/Views/Home/Us.cshtml": "",
    "ex/user_controller.ex": (
        "defmodule ShopWeb.UserController do\n  def show(conn, _) do\n    render(conn, :card)\n  end\nend\n"
    ),
    "ex/user_html/card.html.heex": "",
    "go/main.go": (
        'package main\n\nconst tplBoard = "board"\n\nfunc board(c Context) {\n\tc.HTML(200, tplBoard)\n}\n\n'
        'func list(w Writer) {\n\ttmpl.ExecuteTemplate(w, "list.html", nil)\n}\n'
    ),
    "go/templates/board.tmpl": "",
    "go/templates/list.html": "",
    "ng/card.component.ts": "@Component({ templateUrl: './card.component.html' })\nexport class Card {}\n",
    "ng/card.component.html": "",
    # What templates include
    "inc/templates/all.html": '{% extends "wide.html" %}\n{%- include "parts/price.html" with x=1 %}\n',
    "inc/templates/wide.html": '{% extends "wide.html" %}\n',
    "inc/templates/parts/price.html": "",
    "inc/main.hbs": "{{> nav}}\n",
    "inc/partials/nav.hbs": "",
    "inc/ejs/pages/x.ejs": "<%- include('../head') %>\n",
    "inc/ejs/head.ejs": "",
    "inc/pug/y.pug": "extends ./lay\nblock a\n  include part.pug\n",
    "inc/pug/lay.pug": "",
    "inc/pug/part.pug": "",
    "inc/blade/views/z.blade.php": "@extends('layouts.app')\n@includeWhen($x, 'bit', ['a' => 1])\n<p>{{ $x }}</p>\n",
    "inc/blade/views/layouts/app.blade.php": "",
    "inc/blade/views/bit.blade.php": "",
    "inc/go/templates/page.html": '{{- template "foot" . -}}\n',
    "inc/go/templates/foot.tmpl": "",
    "inc/rb/views/items/new.html.haml": "= render 'form'\n",
    "inc/rb/views/items/edit.html.erb": '<%= render "form" %>\n',
    "inc/rb/views/items/_form.html.erb": "",
    "inc/view.py": "def whole(r): return render(r, 'all.html')\n",
    "inc/test_view.py": "from inc.view import whole\ndef test_whole(): whole(None)\n",
}


@pytest.fixture(scope="module")
def root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("shown")
    for path, text in FILES.items():
        (folder / path).parent.mkdir(parents=True, exist_ok=True)
        (folder / path).write_text(text)
    app.build_index(str(folder), jobs=1)
    return folder


@pytest.mark.parametrize(
    ("template", "functions"),
    [
        ("shop/templates/shop/item.html", ["item"]),
        ("other/templates/shop/item.html", []),
        ("templates/shop/list.html", ["Listing"]),
        ("docs/shop/list.html", []),
        ("rb/app/views/admin/order_items/show.html.erb", ["show"]),
        ("show.json.jbuilder", ["show"]),
        ("rb/app/views/api/admin/order_items/show.html.erb", []),
        ("order_items/edit.html.erb", ["update"]),
        ("_row.html.erb", ["part"]),
        ("books/all.blade.php", ["index"]),
        ("home/index.pug", ["home"]),
        ("Home/Index.cshtml", ["Index"]),
        ("Us.cshtml", ["About"]),
        ("card.html.heex", ["show"]),
        ("board.tmpl", ["board"]),
        ("go/templates/list.html", ["list"]),
        ("card.component.html", ["Card"]),
    ],
)
def test_who_shows_a_template_is_a_caller_of_its_file(
    lci: Callable[..., Ran], root: Path, template: str, functions: list[str]
) -> None:
    results = json.loads(lci("callers", template, "--json", cwd=root).out)["results"]
    assert [(one.get("symbol"), one["step"]) for one in results] == [(name, "template") for name in functions]


@pytest.mark.parametrize(
    ("template", "including"),
    [
        ("templates/wide.html", ["all.html"]),
        ("parts/price.html", ["all.html"]),
        ("nav.hbs", ["main.hbs"]),
        ("ejs/head.ejs", ["x.ejs"]),
        ("pug/lay.pug", ["y.pug"]),
        ("pug/part.pug", ["y.pug"]),
        ("layouts/app.blade.php", ["z.blade.php"]),
        ("bit.blade.php", ["z.blade.php"]),
        ("foot.tmpl", ["page.html"]),
        ("_form.html.erb", ["edit.html.erb", "new.html.haml"]),
    ],
)
def test_what_includes_a_template_is_a_caller_of_its_file(
    lci: Callable[..., Ran], root: Path, template: str, including: list[str]
) -> None:
    results = json.loads(lci("callers", template, "--json", cwd=root).out)["results"]
    assert [(Path(one["file"]).name, one["step"]) for one in results] == [(name, "template") for name in including]


def test_a_change_of_what_is_included_affects_the_tests_of_what_shows_it(lci: Callable[..., Ran], root: Path) -> None:
    answer = json.loads(lci("affected", "--files", "inc/templates/parts/price.html", "--json", cwd=root).out)
    assert [one["symbol"] for one in answer["results"]] == ["test_whole"]


def test_a_function_calls_the_files_that_it_shows(lci: Callable[..., Ran], root: Path) -> None:
    results = json.loads(lci("callees", "OrderItemsController.show", "--json", cwd=root).out)["results"]
    assert [Path(one["file"]).name for one in results] == ["show.html.erb", "show.json.jbuilder"]


def test_a_change_of_a_template_affects_the_tests_of_what_shows_it(lci: Callable[..., Ran], root: Path) -> None:
    answer = json.loads(lci("affected", "--files", "shop/templates/shop/item.html", "--json", cwd=root).out)
    assert [(one["symbol"], one["reason"]) for one in answer["results"]] == [("test_item", "calls")]
